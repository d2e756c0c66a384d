#!/usr/bin/env bash
# round_trip.sh NUMATLAS MACHINE WORD...: the plan of a command is the plan of the file that
# --print-scenario makes of it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
numatlas=$1 machine=$2
shift 2
cd "$here/../topologies"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$numatlas" "$@" --machine "$machine" --dry-run --format json >"$folder/plan"
"$numatlas" "$@" --machine "$machine" --print-scenario >"$folder/file"
"$numatlas" run - --machine "$machine" --dry-run --format json <"$folder/file" >"$folder/again"
[ -s "$folder/plan" ]
diff -u "$folder/plan" "$folder/again"
