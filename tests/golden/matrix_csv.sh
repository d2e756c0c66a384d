#!/usr/bin/env bash
# matrix_csv.sh NUMATLAS: the file that --csv writes.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$1" latency --engine null --machine "numa:2 l3:1(size=16777216) core:2 pu:1" --threads 3 \
  --size 48KiB,1,64 --csv "$folder/file.csv" -q >/dev/null || exit 1
cat "$folder/file.csv"
