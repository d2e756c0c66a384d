#!/usr/bin/env bash
# snapshot.sh NUMATLAS MACHINE: what `topology --format json` writes of a machine, after proof that
# it shows the same machine when it is read again. MACHINE may be such a file itself: then it also
# must be written again as it was.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../topologies" || exit 1
numatlas=$1 machine=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# Where it was read from is the one thing that may differ.
same() { diff <(grep -v '^ "source":' "$1") <(grep -v '^ "source":' "$2") >&2; }
same_table() { diff <(grep -v '^recorded' "$1") <(grep -v '^recorded' "$2") >&2; }

"$numatlas" topology --machine "$machine" --format json >"$folder/one.json" || exit 1
"$numatlas" topology --machine "$folder/one.json" --format json >"$folder/two.json" || exit 1
same "$folder/one.json" "$folder/two.json" || exit 1
[[ $machine != *.json ]] || same "$machine" "$folder/one.json" || exit 1
"$numatlas" topology --machine "$machine" --per-cpu >"$folder/one" || exit 1
"$numatlas" topology --machine "$folder/one.json" --per-cpu >"$folder/two" || exit 1
same_table "$folder/one" "$folder/two" || exit 1
cat "$folder/one.json"
