#!/usr/bin/env bash
# show.sh COMMAND...: runs the command and writes all that a user sees of it to standard output:
# what it wrote to standard output, to standard error, and its exit code. `show.sh + COMMAND... +
# COMMAND...` shows several, each below its own words. Words after a `|` are a filter: only what it leaves
# of standard output is shown, where other cases check the rest. Machines are named as files in
# tests/topologies.
# The version is the one thing that is replaced: it is not what is tested.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../topologies" || exit 1
# shellcheck source=tests/outside.sh
. ../outside.sh
# shellcheck source=tests/golden/parted.sh
. ../golden/parted.sh
kept=NUMATLAS_TEST_ hide_outside # the scripts that call this one set them
errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT
show() {
  local program filter
  parted "$@"
  "${program[@]}" 2>"$errors" </dev/null | sed -E 's/^( "version": )"[^"]*"/\1"VERSION"/' | "${filter[@]}"
  status=${PIPESTATUS[0]}
  if [ -s "$errors" ]; then
    echo '--- standard error ---'
    cat "$errors"
  fi
  echo "--- exit code $status ---"
}
titled() { # without the folders of programs
  local word line=$
  for word; do
    [ "$word" != '|' ] || { line+=' | ...'; break; }
    [[ $word != PATH=* ]] || continue # folders of this machine
    if [[ $word == /* && -x $word ]]; then word=${word##*/}; fi
    line+=" $word"
  done
  echo "$line"
  show "$@"
}
if [ "$1" != + ]; then
  show "$@"
  exit
fi
shift
words=()
for word in "$@" +; do
  if [ "$word" != + ]; then
    words+=("$word")
    continue
  fi
  titled "${words[@]}"
  words=()
done
