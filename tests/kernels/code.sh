#!/usr/bin/env bash
# code.sh LIBRARY: looks at the machine code of the loops that are measured: vectors as wide as the
# instruction set promises, non-temporal stores where they were asked for and nowhere else, and no
# call of memcpy in their place. Exit 77: nothing to look at here.
set -u
library=$1
command -v objdump >/dev/null || { echo 'skipped: objdump (binutils) is not installed'; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "skipped: written for x86-64's instructions"; exit 77; }
code=$(objdump -dC --no-show-raw-insn "$library") || exit 1
failed=0

# check SET SYMBOL MUST MUST_NOT: patterns of instructions in one function.
check() {
  local body
  body=$(awk -v name="$1::$2" '/^[0-9a-f]+ </ { inside = index($0, name) > 0 } inside' <<<"$code")
  if [ -z "$body" ]; then
    echo "FAILED: there is no $1::$2" && failed=1
    return
  fi
  if ! grep -qE -- "$3" <<<"$body"; then echo "FAILED: $1::$2 has no $3" && failed=1; fi
  if [ -n "$4" ] && grep -E -- "$4" <<<"$body"; then echo "FAILED: $1::$2 has $4" && failed=1; fi
}

# The numbers of Operation and Stores in src/kernels/stream_loops.h.
# The width is in doubles.
for set in 'N_AVX3 8 %zmm v' 'N_AVX3 4 %ymm v' 'N_AVX3 2 %xmm v' 'N_AVX2 4 %ymm v' 'N_AVX2 2 %xmm v' \
  'N_SSE4 2 %xmm '; do
  read -r namespace width register prefix <<<"$set"
  # A load as wide as the register, by itself or as an operand.
  load="[0-9]?\(%r[^)]*\),([^()]*,)?${register}[0-9]+"
  check "$namespace" "read_lines<${width}ul, true>(" "${prefix}paddq .*$register" memcpy
  check "$namespace" "read_lines<${width}ul, true>(" "$load" ''
  check "$namespace" "read_lines<${width}ul, false>(" "$load" "memcpy|mov[a-z0-9]* +${register}[0-9]+,.*\(%rsp"
  for operation in 1 2 3 4 5 6; do
    loop="store_lines<(numatlas::Operation)$operation, (numatlas::Stores)"
    check "$namespace" "${loop}0, ${width}ul>" "${prefix}mov[au]p[ds] +${register}[0-9]+,.*\(" 'movnt|memcpy|memset'
    check "$namespace" "${loop}1, ${width}ul>" "${prefix}movntp[ds] +${register}[0-9]+,.*\(" 'memcpy|memset'
    check "$namespace" "${loop}1, ${width}ul>" 'sfence' ''
    [ "$operation" -eq 1 ] && continue # it only writes
    check "$namespace" "${loop}0, ${width}ul>" "$load" ''
    check "$namespace" "${loop}1, ${width}ul>" "$load" ''
  done
done
[ "$failed" -eq 0 ] && echo 'the loops are what they promise'
exit "$failed"
