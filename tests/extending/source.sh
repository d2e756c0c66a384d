#!/usr/bin/env bash
# source.sh PROGRAM: the memory source of docs/extending.md is in everything that a source is in, and is measured.
set -u
program=$1
# shellcheck source=tests/outside.sh
. "$(dirname "${BASH_SOURCE[0]}")/../outside.sh"
hide_outside
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0
# shellcheck source=tests/extending/has.sh
. "$(dirname "${BASH_SOURCE[0]}")/has.sh"
# shellcheck disable=SC2317 # `has` calls it
refused() { ! "$program" "$@" 2>&1 && return 0; }

has 'the help of --memory' 'memfd:NAME' "$program" latency --help-all
has 'its completion' 'memfd:' "$program" completion bash
has 'the features' 'memfd +.*shared memory of the kernel' "$program" features
has 'the valid forms' 'memfd:NAME' refused latency --memory mefd:x --size 1
has 'its own error' "'memfd:' names no name" refused latency --memory memfd: --size 1
has 'the pages of the source' '--pages 2M: memory memfd:x has' refused latency --memory memfd:x --pages 2M --size 1
has 'a measurement' '^256 KiB ' "$program" latency -q --memory memfd:x --size 256KiB --time 100ms --json "$folder/one.json"
has 'the memory asked for' 'memfd:x' cat "$folder/one.json"
has 'the mechanism' 'memfd_create' cat "$folder/one.json"
exit $failed
