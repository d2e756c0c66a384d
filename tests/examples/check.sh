#!/usr/bin/env bash
# check.sh EXAMPLE BIN_FOLDER SOURCE_FOLDER: runs the example and looks for the lines that do not
# depend on the machine.
set -u
example=$1 bin=$2 source=$3
out=$(NUMATLAS_BIN=$bin ASAN_OPTIONS=detect_leaks=0 "$source/examples/$example/run.sh" 2>&1 </dev/null)
status=$?
fail() {
  printf 'FAILED: %s\n--- output (exit code %s) ---\n%s\n' "$1" "$status" "$out"
  exit 1
}
says() { grep -qE -- "$1" <<<"$out" || fail "does not say: $1"; }
[ $status -eq 0 ] || fail 'exit code is not 0'

case $example in
  01_one_domain)
    says '^\|  000  \| [0-9,]+ +\| +[0-9]+ +\| 0x[0-9a-f]+ \| +[0-9]+ +(\| [0-9]+\.[0-9]{2} +){6}\|$'
    says '===================== NUMA Statistics ====================='
    says '^size \(MB\),0'
    says '^32,[0-9]+\.[0-9]{2}'
    says '^rank,cpu_id,cpu_numa,memory_numa$' ;;
  02_two_domains)
    says '^No measurement: it needs two NUMA nodes|^rank,cpu_id,cpu_numa,memory_numa$'
    says '^14 workers:$'
    says 'worker 6 .* CPUs 7 \(node 0\)  memory bind:0$'
    says 'worker 7 .* CPUs 17 \(node 1\)  memory bind:1$'
    says '^12 cases:$' ;;
  03_serial_and_parallel)
    says '--serial$'
    [ "$(grep -cE '^64,[0-9]' <<<"$out")" -eq 2 ] || fail 'not both results for 64 MB' ;;
  04_one_size)
    says '^=== Debug Information ===$'
    says '\| kB=[0-9]+'
    says '^Total +[0-9]+\.[0-9]{2}' ;;
  *) fail "no checks for $example" ;;
esac
