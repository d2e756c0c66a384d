#!/usr/bin/env bash
# compare.sh NAME GOLDEN_FILE -- COMMAND...: runs the command and compares its standard output with
# the golden file, byte by byte; nothing is normalised. A command that has more to show (files,
# standard error, an exit code) writes it to its standard output. Exit 77 of the command: skipped.
# NUMATLAS_UPDATE_GOLDEN=1 writes the golden file instead.
set -u
if [ $# -lt 4 ] || [ "$3" != -- ]; then
  echo "usage: compare.sh NAME GOLDEN_FILE -- COMMAND..." >&2
  exit 2
fi
name=$1 golden=$2
export LC_ALL=C.UTF-8 # a case that shows ASCII sets its own
shift 3

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$@" >"$folder/out" 2>"$folder/err" </dev/null
status=$?
if [ "$status" -ne 0 ]; then
  cat "$folder/out" "$folder/err"
  [ "$status" -eq 77 ] || echo "FAILED: $name: exit code $status of: $*"
  exit "$status"
fi

if [ -n "${NUMATLAS_UPDATE_GOLDEN:-}" ]; then
  mkdir -p "$(dirname "$golden")" && cp "$folder/out" "$golden" || exit 1
  echo "$name: wrote $golden"
  exit 0
fi
if [ ! -e "$golden" ]; then
  echo "FAILED: $name: no $golden (NUMATLAS_UPDATE_GOLDEN=1 writes it)"
  exit 1
fi
if ! diff -u --label "$golden" --label "$name now" "$golden" "$folder/out"; then
  cat "$folder/err"
  echo "FAILED: $name: the output differs (NUMATLAS_UPDATE_GOLDEN=1 accepts it)"
  exit 1
fi
