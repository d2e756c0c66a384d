#!/usr/bin/env bash
# exec.sh CASE BIN_FOLDER SOURCE_FOLDER: `numatlas exec` itself.
set -u
case=$1 bin=$2 source=$3
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"
cd "$folder" || exit 1
machine=$source/tests/topologies/epyc-7a53.json
plan() { run "$bin/numatlas" exec --machine "$machine" --dry-run "$@" -- prog; }

case $case in
  cpus) # one list is dealt out by local rank, a list a rank is not
    export OMPI_COMM_WORLD_RANK=6 OMPI_COMM_WORLD_LOCAL_RANK=2
    export OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_SIZE=4
    plan --cpus 1-8 && says ' cpus 3 memory as it is: prog$'
    plan --cpus 1-8 --threads 2 && says ' cpus 5-6 '
    OMP_NUM_THREADS=2 plan --cpus 1-8 && says ' cpus 5-6 '
    plan --cpus 0-3/4-7/8-11/12-15 && says ' cpus 8-11 '
    plan --cpus node:0/node:1/node:2/node:3 && says ' cpus 32-47,96-111 '
    plan --cpus node:1 --memory local && says ' cpus 16-31,80-95 memory local: prog$' ;;
  memory)
    plan --memory weighted:0=3,2=1 && says ' memory weighted:0=3,2=1: prog$'
    plan --memory interleave:0-3 && says ' memory interleave:0,1,2,3: prog$'
    plan --memory bind:9
    ends_with 3
    warns 'no NUMA node 9; its nodes are 0-3'
    plan --memory each:0,1 && says 'bind:0' # without --exact a list is recycled
    plan --memory bind:x
    ends_with 2 ;;
  usage)
    run "$bin/numatlas" exec
    ends_with 2
    warns 'exec: no program is named'
    run "$bin/numatlas" exec --machine "$machine" -- true
    ends_with 2
    warns '--machine: a program cannot run on a recorded machine'
    run "$bin/numatlas" exec --memry local -- true
    ends_with 2
    warns 'did you mean --memory'
    for threads in 0 -1 two 1.5; do
      run "$bin/numatlas" exec --cpus allowed --threads "$threads" -- true
      ends_with 2
      warns '--threads'
    done
    run "$bin/numatlas" exec --exact --memory bind:0 -- true
    ends_with 2
    warns "--exact: 'bind:0' is not a list of nodes"
    run "$bin/numatlas" exec --exact -- true
    ends_with 2
    warns '--exact: there is no list of nodes' ;;
  empty-pool)
    pools=(/sys/devices/system/node/node*/hugepages/hugepages-2048kB/free_hugepages)
    [[ -e ${pools[0]} && $(cat "${pools[@]}" | sort -u) == 0 ]] || exit 77
    run "$bin/numatlas" exec --pages 2M -- true
    ends_with 0
    warns '--pages 2M: the program may get base pages' ;;
  program)
    run "$bin/numatlas" exec --cpus allowed -- bash -c 'exit 7'
    ends_with 7
    run "$bin/numatlas" exec printf '%s,' a -- b # a later -- is the program's own
    prints 'a,--,b,' ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
