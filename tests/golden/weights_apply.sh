#!/usr/bin/env bash
# weights_apply.sh NUMATLAS: what `weights --apply` leaves of the system's weights; a folder stands
# in for the kernel's.
set -u
numatlas=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export NUMATLAS_TEST_WEIGHTS=$folder

weights() { # WORDS...
  echo 5 >"$folder/node0"
  echo 7 >"$folder/node2"
  echo true >"$folder/auto"
  printf '\n$ weights %s\n' "$*"
  "$here/show.sh" "$numatlas" weights --engine null --machine cxl-tiers.json --nodes 0,2 \
    --cpus node:0 --threads 1 --size 512 -q "$@" |
    grep -E '^(Best|Set system-wide|.*against the search|numatlas: |--- exit)' |
    sed "s:$folder:FOLDER:g"
  grep -H . "$folder"/* | sed "s:$folder/::"
}
weights --apply
weights --apply --keep
# As a run leaves it that was killed together with its guard.
printf 'node0 6 5\nnode2 8 7\nauto true\nend\n' >"$folder/state"
weights
# A value that cannot be written: root may write to any file, but not to a folder.
rm "$folder/node2"
mkdir "$folder/node2"
printf '\nnode2 is no file\n'
"$here/show.sh" "$numatlas" weights --engine null --machine cxl-tiers.json --nodes 0,2 \
  --cpus node:0 --threads 1 --size 512 -q --apply | sed "s:$folder:FOLDER:g" | tail -n 4
rm -r "$folder"
printf '\nno such folder\n'
"$here/show.sh" "$numatlas" weights --apply | sed "s:$folder:FOLDER:g"
