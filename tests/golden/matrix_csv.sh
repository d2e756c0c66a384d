#!/usr/bin/env bash
# matrix_csv.sh NUMATLAS: the files that --csv writes.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$1" latency --engine null --machine "numa:2 l3:1(size=16777216) core:2 pu:1" --threads 3 \
  --size 48KiB,1,64 --csv "$folder/file.csv" -q >/dev/null || exit 1
cat "$folder/file.csv"
# One kernel is a row a size; several, as by default, are what --format csv prints.
machine="numa:2(memory=34359738368) l3:1(size=16777216) core:2 pu:1"
bandwidth() { "$1" bandwidth --engine null --machine "$machine" --threads 2 --size 1MiB -q "${@:2}"; }
bandwidth "$1" --kernels triad --csv "$folder/one.csv" >/dev/null || exit 1
cat "$folder/one.csv"
bandwidth "$1" --csv "$folder/all.csv" --format csv >"$folder/printed" || exit 1
cmp "$folder/all.csv" "$folder/printed" || exit 1
cut -d, -f1-8,13 "$folder/all.csv" | sort -u
