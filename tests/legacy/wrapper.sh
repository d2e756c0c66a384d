#!/usr/bin/env bash
# wrapper.sh CASE BIN_FOLDER SOURCE_FOLDER: wrapper_numa.sh and `numatlas exec` without MPI; the
# launchers' variables are set by hand.
# shellcheck disable=SC2016,SC1001 # words with $ and backslashes are what is tested
set -u
case=$1 bin=$2 source=$3
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"
wrapper=$source/scripts/orchestrator/wrapper_numa.sh
export NUMATLAS=$bin/numatlas
cd "$folder" || exit 1

on_machine() { export NUMATLAS_ENGINE=null NUMATLAS_TEST_MACHINE=$1; }
four_nodes() { on_machine "$source/tests/topologies/epyc-7a53.json"; }
open_mpi() { # RANK LOCAL_RANK SIZE LOCAL_SIZE
  export OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_LOCAL_RANK=$2
  export OMPI_COMM_WORLD_SIZE=$3 OMPI_COMM_WORLD_LOCAL_SIZE=$4
}
slurm() { # RANK LOCAL_RANK SIZE TASKS_PER_NODE NODE
  export SLURM_STEP_ID=0 SLURM_PROCID=$1 SLURM_LOCALID=$2 SLURM_STEP_NUM_TASKS=$3
  export SLURM_STEP_TASKS_PER_NODE=$4 SLURM_NODEID=$5
}
# Where the wrapper would put a program's memory on the recorded machine.
memory_with() {
  run "$wrapper" --quiet --executable bash "$@" -- -c 'printf %s "$NUMATLAS_TEST_MEMORY"'
}

case $case in
  words) # reach the program as they are
    run "$wrapper" --quiet --executable=printf -- '[%s]' 'a b' "it's" '"q"' '$x *' '' '--' '--numa=7' ' lead'
    prints '[a b][it'\''s]["q"][$x *][][--][--numa=7][ lead]'
    silent ;;
  blanks) # before the wrapper's own words, as some documents' backslashes make them
    run "$wrapper" \ --executable printf \ --quiet \
      \-- '%s' 'fine'
    ends_with 0
    prints fine ;;
  exit-code)
    run "$wrapper" --quiet --executable bash -- -c 'exit 42'
    ends_with 42
    run "$wrapper" --quiet --executable bash -- -c 'kill -TERM $$'
    ends_with 143 ;;
  no-process-between)
    run bash -c 'echo $$; exec "$0" --quiet --executable bash -- -c "echo \$\$"' "$wrapper"
    ends_with 0
    [ "$(sort -u <<<"$out" | wc -l)" -eq 1 ] || fail 'the program has another process number' ;;
  no-program)
    run "$wrapper" --executable ./nope
    ends_with 127
    warns '^numatlas: error: exec: ./nope: No such file or directory$'
    echo text >file
    run "$wrapper" --executable ./file
    ends_with 126
    warns 'exec: ./file: Permission denied'
    printf '#!/no/such/interpreter\n' >script
    chmod +x script
    run "$wrapper" --executable ./script
    ends_with 127
    warns 'interpreter' ;;
  default-program)
    printf '#!/bin/sh\necho "mine $*"\n' >numa_mem_bench
    chmod +x numa_mem_bench
    run "$wrapper" --quiet -- --size=1
    prints 'mine --size=1' ;;
  dry-run)
    four_nodes
    open_mpi 2 2 4 4
    run "$wrapper" --numa=0,1,2,3 --dry-run -- --size=512 'a b'
    ends_with 0
    prints "numatlas exec: rank 2 local rank 2 cpus as they are memory bind:2: ./numa_mem_bench --size=512 'a b'"
    silent ;;
  verbose)
    run "$wrapper" --executable true -- it
    ends_with 0
    warns_once '^numatlas exec: cpus as they are memory as it is: true it$'
    prints '' ;;
  forms)
    four_nodes
    open_mpi 5 1 8 4
    memory_with --numa=3 && prints bind:3
    memory_with --numa 2 && prints bind:2
    memory_with --numa=auto && prints bind:1
    memory_with && prints ''
    memory_with --numa=3,2,1,0 && prints bind:2          # four on this host: its second
    memory_with --numa=0,0,0,0,1,3,1,1 && prints bind:3  # eight in all: the sixth
    memory_with --numa=0-3 && prints bind:1 ;;
  slurm)
    four_nodes
    slurm 5 1 6 '4,2' 1
    memory_with --numa=0,3 && prints bind:3
    memory_with --numa=0,0,0,0,1,2 && prints bind:2
    memory_with --numa=0,0,0,0
    ends_with 2 ;;
  list-length)
    four_nodes
    open_mpi 0 0 8 4
    memory_with --numa=0,1,2
    ends_with 2
    warns '^numatlas: error: --memory: the list names 3 nodes, but 4 tasks are on this host, 8 in all$'
    open_mpi 1 1 8 4
    memory_with --numa=0,1,2
    ends_with 2
    silent # one says it
    unset "${!OMPI_@}"
    memory_with --numa=0,1
    ends_with 2
    warns 'there is one task, because no launcher started this process'
    memory_with --numa=1,
    ends_with 2 ;;
  sparse) # node numbers with gaps
    on_machine 'numa:3(indexes=0,8,252) core:2 pu:1'
    open_mpi 1 1 3 3
    memory_with --numa=8 && prints bind:8
    memory_with --numa=0,252,8 && prints bind:252
    memory_with --numa=auto && prints bind:8
    open_mpi 0 0 3 3
    memory_with --numa=1
    ends_with 3
    warns 'this machine has no NUMA node 1; its nodes are 0,8,252' ;;
  values)
    for bad in x 1,x -1 ,1 0:1 '0 1' Auto; do
      run "$wrapper" "--numa=$bad" -- --size=1
      ends_with 2
      warns "^wrapper_numa.sh: error: --numa: '$bad' is not a node"
    done
    run "$wrapper" --numa=
    ends_with 2
    warns '--numa: the value is empty'
    run "$wrapper" --executable --
    ends_with 2
    warns '--executable: a value must follow'
    run "$wrapper" --nuna=1
    ends_with 2
    warns "unknown option '--nuna=1'"
    OMPI_COMM_WORLD_RANK=1 run "$wrapper" --nuna=1
    ends_with 2
    silent ;;
  help)
    run "$wrapper" --help
    ends_with 0
    for option in --numa=N --numa=LIST --numa=auto --executable --quiet --dry-run --help; do
      says "^  $option"
    done
    silent ;;
  numatlas-found)
    unset NUMATLAS
    ln -s "$bin/numa_mem_bench" mine
    run "$wrapper" --executable ./mine --dry-run
    ends_with 0
    # A copy with nothing around it, and a PATH with nothing but what the wrapper calls.
    mkdir -p a/b/c path
    cp "$wrapper" a/b/c/
    for tool in bash readlink dirname sleep; do ln -s "$(command -v "$tool")" path/; done
    PATH=$folder/path run a/b/c/wrapper_numa.sh --executable ./other
    ends_with 3
    warns 'numatlas is not where NUMATLAS says'
    ln -s "$bin/numatlas" path/
    PATH=$folder/path run a/b/c/wrapper_numa.sh --executable ./other --dry-run
    ends_with 0
    NUMATLAS=/nowhere/numatlas PATH=$folder/path run a/b/c/wrapper_numa.sh --dry-run
    ends_with 3 ;;
  real-binding) # of this machine's first node with memory
    node=$("$bin/numatlas" exec --dry-run --memory auto -- true | grep -oE 'bind:[0-9]+')
    run "$wrapper" --quiet "--numa=${node#bind:}" --executable cat -- /proc/self/numa_maps
    if [ "$status" -eq 4 ]; then
      echo "skipped: $err"
      exit 77
    fi
    ends_with 0
    says " $node " ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
