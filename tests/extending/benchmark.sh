#!/usr/bin/env bash
# benchmark.sh PROGRAM REPORT: the benchmark of docs/extending.md is in everything that a benchmark is in.
set -u
program=$1 report=$2
# shellcheck source=tests/outside.sh
. "$(dirname "${BASH_SOURCE[0]}")/../outside.sh"
hide_outside
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0
null=(--engine null --machine 'numa:1(memory=34359738368) l3:1(size=16777216) core:2 pu:1')

# shellcheck source=tests/extending/has.sh
. "$(dirname "${BASH_SOURCE[0]}")/has.sh"
has 'the list of commands' '^ +strides +idle latency' "$program" --help
has 'its help' '--size' "$program" strides --help
has 'its completion' 'strides' "$program" completion bash
has 'its plan' 'stride 4096' "$program" strides --size 64 --dry-run "${null[@]}"
has "the survey's plan" 'strides' "$program" survey --dry-run -o "$folder/survey" "${null[@]}"
has 'its table' '^Pointer-chase latency by stride \(ns, 64 MiB, .* pages\)$' "$program" strides --size 64 -q "${null[@]}" \
  --json "$folder/one.json"
has 'its CSV' ',latency,s,' "$program" strides --size 64 -q --format csv "${null[@]}"
has 'its metrics' '^numatlas_latency_seconds\{command="strides"' "$program" strides --size 64 -q --format openmetrics \
  "${null[@]}"
has 'a comparison' 'strides' "$program" compare --no-fail "$folder/one.json" "$folder/one.json"
has "the survey's summary" '^Strides +[a-z0-9. ]+ ns' "$program" survey -q --no-report --only strides \
  -o "$folder/survey" "${null[@]}"
if [ -x "$report" ]; then
  has 'its page' '' env NUMATLAS="$program" "$report" -o "$folder/page.html" "$folder/one.json"
  has 'a table of the page' 'Pointer-chase latency by stride' cat "$folder/page.html"
else
  echo 'the Python part is not set up: no page was made'
fi
exit $failed
