#!/usr/bin/env bash
# matrix_csv.sh NUMATLAS: the files that --csv writes: the first table, of a matrix a square.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
csv() {
  "$numatlas" "$@" --engine null --machine "numa:2(memory=34359738368) l3:1(size=16777216) core:2 pu:1" --pages base \
    --csv "$folder/file.csv" -q >/dev/null || exit 1
  printf '%s:\n' "$1"
  cat "$folder/file.csv"
}
numatlas=$1
csv latency --threads 3 --size 48KiB,1,64
csv bandwidth --threads 2 --size 1MiB
csv matrix --kernels read
csv cores --method cas
csv cores --method cas --directions both
csv touch
