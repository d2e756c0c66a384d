#!/usr/bin/env bash
# compare_files.sh NUMATLAS COMMAND WORDS...: `numatlas COMMAND WORDS` in a folder with the files that
# compare/make.py writes; shows its output and exit code. Several commands are parted by `+`; words after
# a `|` are a filter, as in show.sh.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$here/compare/make.py" "$folder" "$1" || exit 1
cd "$folder" || exit 1
# shellcheck source=tests/outside.sh
. "$here/../outside.sh"
# shellcheck source=tests/golden/parted.sh
. "$here/parted.sh"
hide_outside
numatlas=$1 command=$2
shift 2
show() {
  local program filter
  parted "$@"
  printf '$ numatlas %s %s\n' "$command" "${program[*]}$( ((${#program[@]} == $#)) || echo ' | ...')"
  "$numatlas" "$command" "${program[@]}" 2>&1 </dev/null |
    sed -E 's/^( "version": )"[^"]*"/\1"VERSION"/' | "${filter[@]}"
  printf -- '--- exit code %s ---\n' "${PIPESTATUS[0]}"
}
words=()
for word in "$@" +; do
  if [[ $word != + ]]; then
    words+=("$word")
  else
    show "${words[@]}"
    words=()
  fi
done
