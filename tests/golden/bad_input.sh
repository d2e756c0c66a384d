#!/usr/bin/env bash
# bad_input.sh NUMATLAS: every line of bad_input.txt is refused as it says there.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
numatlas=$1
cd "$here/../topologies" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
echo 'no machine, and no program' >"$folder/file"
cp guest-cxl.json "$folder/guest.json"
# An assertion of libhwloc.
sed '/type="PU"/s/ cpuset="[^"]*"/ cpuset="0x0"/' cxl-two-sockets.xml >"$folder/damaged.xml"
node=1021  # the kernel allows 1024 at most; nobody has this one

failed=0 cases=0
complain() {
  failed=$((failed + 1))
  printf 'FAILED: numatlas %s\n  %s\n' "$words" "$1"
  sed 's/^/  | /' "$folder/out" "$folder/err"
}
check() { # CODE PATTERNS
  [ "$status" -eq "$1" ] || { complain "exit code $status, not $1"; return; }
  [ ! -s "$folder/out" ] || { complain 'something on standard output'; return; }
  local first
  IFS= read -r first <"$folder/err"
  [[ $first == 'numatlas: error: '* ]] || { complain 'no "numatlas: error: " first'; return; }
  local rest=$2 pattern
  while [ -n "$rest" ]; do
    pattern=${rest%%&&*}
    if [ "$pattern" = "$rest" ]; then rest=; else rest=${rest#*&&}; fi
    grep -qE -- "$pattern" "$folder/err" || complain "does not say: $pattern"
  done
}

while IFS= read -r line; do
  [[ $line =~ ^[0-9] ]] || continue
  line=${line//FOLDER/$folder}
  line=${line//NODE/$node}
  line=${line//   /$'\t'}
  IFS=$'\t' read -r code words patterns <<<"$line"
  cases=$((cases + 1))
  # The words are written as in a shell; nothing else stands in that file.
  eval "set -- $words"
  timeout 20 "$numatlas" "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
  check "$code" "$patterns"
done <"$here/bad_input.txt"

echo "$cases lines, $failed failures"
[ "$cases" -gt 60 ] && [ "$failed" -eq 0 ]
