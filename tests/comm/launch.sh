#!/usr/bin/env bash
# launch.sh MPI RANKS CASE PROBE: runs the probe under that MPI's launcher and checks what it says
# and how it ends. Exit 77: this launcher or plug-in is not here.
set -u
mpi=$1 ranks=$2 case=$3 probe=$4 # a fifth word: not again

fail() {
  printf 'FAILED: %s\n--- output (exit %s) ---\n%s\n' "$1" "$status" "$output"
  exit 1
}
says() { grep -qE -- "$1" <<<"$output" || fail "does not say: $1"; }
says_times() {
  local count
  count=$(grep -cE -- "$2" <<<"$output")
  [ "$count" -eq "$1" ] || fail "says $count times, not $1: $2"
}
says_not() { ! grep -qE -- "$1" <<<"$output" || fail "says: $1"; }
ends_with() { [ "$status" -eq "$1" ] || fail "exit code is not $1"; }
ends_badly() { [ "$status" -ne 0 ] || fail "exit code is 0"; }

programs=$(dirname "$probe")/../../bin

# shellcheck source=tests/mpi_launcher.sh
. "$(dirname "${BASH_SOURCE[0]}")/../mpi_launcher.sh"
case $mpi in
  openmpi) library='Open MPI' other=mpich ;;
  mpich) library='MPICH' other=openmpi ;;
esac
if [ "$mpi" = slurm ]; then hide_outside
else find_launcher "$mpi" "$programs/numatlas"; fi

launch() { # MODE [CHOICE]; the limit is far above what any case takes
  local run=("$probe" "$@")
  # On a busy machine Hydra is ended by SIGPIPE now and then where its only process ends at once, /bin/true as well.
  # shellcheck disable=SC2016  # for the inner shell
  [[ $mpi-$ranks != mpich-1 ]] || run=(sh -c '"$@"; code=$?; sleep 0.1; exit "$code"' sh "${run[@]}")
  output=$(timeout -k 5 60 "${launcher[@]}" -n "$ranks" "${run[@]}" 2>&1 </dev/null)
  status=$?
}
ok() {
  launch "$1"
  ends_with 0
  # A launcher's task of one needs no MPI.
  if [ "$ranks" -eq 1 ]; then says "^probe: $1 ok, 1 ranks, none"
  else says "^probe: $1 ok, $ranks ranks, $library [0-9.]+ \(plug-in $mpi\)"; fi
}

# Hydra loses codes and output now and then where ranks end one after the other on a busy machine.
if [[ $mpi-$case == mpich-@(die|work|abort|signal|signal-one) && $# -eq 4 ]]; then
  for _ in 1 2 3; do "$0" "$@" once && exit; done
  exit 1
fi

case $case in
  words | shared | layout | barrier | sleep) ok "$case" ;;
  hosts) NUMATLAS_TEST_HOSTS=2 && export NUMATLAS_TEST_HOSTS && ok layout ;;
  hosts-shared) NUMATLAS_TEST_HOSTS=2 && export NUMATLAS_TEST_HOSTS && ok shared ;;
  die | work)
    # Both launchers end the others when a rank dies. Open MPI's asks them first, and then they can
    # say why; Hydra does not, and its own words must do.
    start=$SECONDS
    launch "$case"
    ends_badly
    [ $((SECONDS - start)) -lt 20 ] || fail 'took 20 seconds or more'
    if [ "$mpi" = openmpi ]; then
      says_times 1 "^probe: error \(peer\): rank 3 \(pid [0-9]+\) on .* died"
    else
      says 'EXIT CODE: 9|signal 9|rank 3 .* died'
    fi ;;
  abort)
    launch abort
    ends_with 7
    says_times 1 '^probe: the last rank gives up'
    says '^saw: rank 3 on .* stopped the run'
    says_not '^probe: error' ;;
  signal)
    log=$(mktemp)
    # No `timeout` here: it would pass the signal on to the launcher twice. The ranks write to the file
    # themselves, as Open MPI 5's launcher shows nothing more of them once it has a signal.
    # shellcheck disable=SC2016,SC2094
    "${launcher[@]}" -n "$ranks" sh -c 'exec "$0" signal >>"$1" 2>&1' "$probe" "$log" \
      >>"$log" 2>&1 </dev/null &
    pid=$!
    for _ in $(seq 300); do grep -q ready "$log" && break; sleep 0.1; done
    kill -TERM "$pid"
    wait "$pid"
    status=$?
    output=$(cat "$log")
    rm -f "$log"
    ends_badly
    says '^ready'
    says_times 1 '^probe: interrupted, signal 15'
    # Open MPI 5's launcher kills the ranks a moment after it has passed the signal on, and has no setting for it.
    [[ $("${launcher[0]}" --version) == *'(Open MPI) '[5-9]* ]] ||
      says '^rank 0 has written what it has' ;;
  signal-one)
    launch signal-one
    ends_badly
    says_times 1 '^probe: interrupted, signal 15'
    says '^rank 0 has written what it has' ;;
  other-mpi) # the plug-in of the other MPI sees itself alone, or says that it is not there
    launch hello "$other"
    ends_with 3
    if [ -e "$programs/../lib/numatlas/mpi/numatlas_mpi_$other.so" ]; then
      says_times 1 "^probe: 4 tasks were launched by $library, but each runs as a single MPI process"
    else
      says_times 1 "^probe: --mpi $other: this build has no such plug-in"
    fi
    # shellcheck disable=SC2016  # backquotes of the message
    says '^hint: .*--mpi none runs each task alone|^hint: .*`none` runs each task alone' ;;
  none)
    launch hello none
    ends_with 0
    says_times 4 '^probe: hello ok, 1 ranks, none' ;;
  singletons) # as plain srun without PMI sets it; no Slurm is needed
    for rank in 0 1; do
      output=$(SLURM_STEP_ID=0 SLURM_PROCID=$rank SLURM_STEP_NUM_TASKS=4 "$probe" hello 2>&1)
      status=$?
      ends_with 3
      if [ "$rank" -eq 0 ]; then
        says '^probe: 4 tasks were launched by Slurm, but each runs as a single MPI process'
        says '^hint: use srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH'
      else
        [ -z "$output" ] || fail 'a rank other than 0 speaks'
      fi
    done ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
printf '%s\n' "$output"
