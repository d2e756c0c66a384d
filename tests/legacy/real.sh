#!/usr/bin/env bash
# real.sh MPI CASE BIN_FOLDER SOURCE_FOLDER: the programs on this machine's own memory; small sizes,
# and no judgement of any figure. MPI `none`: without a launcher.
set -u
mpi=$1 case=$2 bin=$3 source=$4
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"
cd "$folder" || exit 1
ranks=3
launcher=()
if [ "$mpi" = none ]; then
  ranks=1
else
  # shellcheck source=tests/mpi_launcher.sh
  . "$source/tests/mpi_launcher.sh"
  find_launcher "$mpi" "$bin/numatlas"
  launcher+=(-n "$ranks")
fi
last=$((ranks - 1))
launch() { run timeout -k 5 120 ${launcher[@]+"${launcher[@]}"} "$@"; }

case $case in
  mem-bench)
    membind=(numactl --membind=0)
    "${membind[@]}" true 2>/dev/null || membind=() # containers may forbid it
    launch ${membind[@]+"${membind[@]}"} "$bin/numa_mem_bench" --size=1,32,64 --csv=log.csv --sizes=9 extra
    ends_with 0
    warns_once "^numa_mem_bench: warning: unknown option '--sizes', skipped; did you mean --size\?$"
    warns_once "unknown argument 'extra'"
    says '^\| Ranks \| Cores   \| NUMA \|     Address    \| NUMA  \| 1MB    \| 32MB   \| 64MB   \|$'
    [ "$(grep -cE '^\|  00[0-9]  \|' <<<"$out")" -eq $ranks ] || fail "not $ranks rows"
    says "^\[$last\] ===================== NUMA Statistics =====================$"
    says "^\[$last\] Last Process: Rank $last$"
    says "^\[$last\] Allocated Memory Size: 64 MB$"
    says "^\[$last\]==========================================================$"
    # The memory is alive while it is looked at, and is that of the last size.
    awk '/Total +[0-9.]+/ { exit !($NF >= 64) }' <<<"$out" || fail 'less than the 64 MB measured'
    [ "$(grep -c 'Last Process' <<<"$out")" -eq 1 ] || fail 'more than one block'
    [ "$(head -n 1 log.csv)" = "size (MB),$(seq -s, 0 "$last")" ] || fail 'head of the CSV file'
    [ "$(cut -d, -f1 log.csv | tail -n +2 | paste -sd,)" = 1,32,64 ] || fail 'sizes of the CSV file'
    ! tail -n +2 log.csv | grep -vE '^[0-9]+(,[0-9]+\.[0-9]{2})+$' || fail 'rows of the CSV file'
    [ "$(head -n 1 mapping_check.log)" = rank,cpu_id,cpu_numa,memory_numa ] || fail 'mapping head'
    [ "$(tail -n +2 mapping_check.log | grep -cE '^[0-9]+,[0-9]+,[0-9]+,[0-9]*$')" -eq $ranks ] ||
      fail 'rows of the mapping' ;;
  allocator)
    launch "$bin/numa_allocator" --serial 4
    ends_with 0
    says '^=== Debug Information ===$'
    says "^  Number of ranks: $ranks$"
    says '^    argv\[2\] = 4$'
    [ "$(grep -cE '^\|  00[0-9]  \|.*\| 4            \|.*\| kB=[0-9]+' <<<"$out")" -eq $ranks ] ||
      fail "not $ranks rows"
    says '^Per-node process memory usage \(in MBs\) for PID [0-9]+ \(numa_allocator\)$'
    says '^Total +[0-9.]+' ;;
  numa-bench) # its two threads share memory: of one process only
    if [ "$mpi" = none ]; then
      [ "$(nproc)" -ge 2 ] || { echo 'one CPU'; exit 77; }
      for words in '' '--serial --pattern crossed'; do # of the original's size, which takes a quarter of a minute
        # shellcheck disable=SC2086 # words are words
        launch "$bin/numa_bench" $words
        ends_with 0
        says '^NUMA node [0-9]+: [01]+ - [0-9]+ MB$'
        [ "$(grep -cE '^Core [0-9]+: [0-9]+\.[0-9]{3}s$' <<<"$out")" -eq 2 ] || fail 'not two cores'
      done
    else
      launch "$bin/numa_bench"
      [ "$status" -ne 0 ] || fail 'exit code is 0'
      warns_once "^numa_bench: error: $ranks tasks were started and would disturb each other"
    fi ;;
  one-cpu)
    cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    other=$(taskset -cp $$ | grep -oE '[0-9]+$')
    run taskset -c "$cpu" "$bin/numa_bench"
    ends_with 3
    warns_once "^numa_bench: error: two cores are required, but this process may use CPU $cpu only$"
    run "$bin/numa_bench" --core0 "$cpu" --core1 "$cpu"
    ends_with 2
    warns_once "^numa_bench: error: --core0 and --core1 are the same CPU $cpu$"
    [ "$cpu" -ne "$other" ] || { echo 'one CPU'; exit 77; }
    run taskset -c "$cpu" "$bin/numa_bench" --core0 "$cpu" --core1 "$other"
    ends_with 4
    warns_once "^numa_bench: error: --core0, --core1: CPU $other is outside the affinity"
    warns_once '^numa_bench: hint: start it with a wider CPU mask '
    ! grep -q -- '--cpus' <<<"$err" || fail 'names an option of numatlas' ;;
  numa-xfer) # one process, as the original
    node=$(cut -d- -f1 /sys/devices/system/node/has_memory | cut -d, -f1)
    if [ "$mpi" != none ]; then
      launch "$bin/numa_numa_xfer_bench" --src_nodes "$node" --dst_nodes "$node" \
        --benchmark_bytes 4194304 --iterations_per_bench 3
      [ "$status" -ne 0 ] || fail 'exit code is 0'
      warns_once "^numa_numa_xfer_bench: error: $ranks tasks were started and would disturb each other"
      [ -z "$out" ] || fail 'something was measured'
      exit 0
    fi
    run timeout -k 5 120 "$bin/numa_numa_xfer_bench" --src_nodes "$node" --dst_nodes "$node" \
      --benchmark_bytes 4194304 --iterations_per_bench 3 --num_threads 2
    ends_with 0
    says '^--- Configuration ---$'
    says "^Source Nodes: $node$"
    says '^Buffer Size: 4 MiB$'
    says '^Iterations: 3$'
    says '^OpenMP Threads: 2$'
    says '^Average Latency: [0-9]+\.[0-9]{3} ms$'
    says '^Average Bandwidth: [0-9]+\.[0-9]{3} GiB/s$'
    run "$bin/numa_numa_xfer_bench" --src_nodes 1021 --dst_nodes "$node" --benchmark_bytes 4096 \
      --iterations_per_bench 1
    ends_with 3
    warns_once '^numa_numa_xfer_bench: error: --src_nodes: this machine has no NUMA node 1021'
    run "$bin/numa_numa_xfer_bench" --src_nodes "$node" --dst_nodes "$node" \
      --benchmark_bytes 1152921504606846976 --iterations_per_bench 1
    ends_with 5
    warns_once '^numa_numa_xfer_bench: error: --benchmark_bytes: 1 worker requests [0-9.]+ [A-Z]iB'
    warns_once '^numa_numa_xfer_bench: hint: ask for less$' ;;
  no-mapping) # the kernel's own folder takes no files, not even root's
    cd /proc || exit 1
    launch "$bin/numa_mem_bench" --size=1
    ends_with 0
    warns_once '^numa_mem_bench: warning: the mapping: mapping_check.log: .*; the run goes on without it$' ;;
  refused)
    launch "$bin/numa_mem_bench" --size=300-400
    [ "$status" -ne 0 ] || fail 'exit code is 0'
    warns_once '^numa_mem_bench: error: --size: no power of two lies within '
    launch "$bin/numa_allocator" abc
    [ "$status" -ne 0 ] || fail 'exit code is 0'
    warns_once "^numa_allocator: error: SIZE_MB: 'abc' is not"
    launch "$bin/numa_allocator" 16777216
    [ "$status" -ne 0 ] || fail 'exit code is 0'
    warns_once '^numa_allocator: error: SIZE_MB: [0-9]+ workers? requests? [0-9]+ TiB'
    warns_once '^numa_allocator: hint: use less, or .numatlas latency., which has --skip-too-large$'
    launch "$bin/numa_bench" --pattern mine
    [ "$status" -ne 0 ] || fail 'exit code is 0'
    warns_once "^numa_bench: error: --pattern: 'mine' is not one of own, first, crossed$"
    [ ! -e mapping_check.log ] || fail 'a refused run left a mapping' ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
