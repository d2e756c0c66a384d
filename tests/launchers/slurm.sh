#!/usr/bin/env bash
# A Slurm of its own on this machine: munge, slurmctld and N virtual nodes, for tests. All that it
# writes is in one folder; it needs no cgroups, no systemd, no network but 127.0.0.1, and no other
# file of this project, so that it also runs inside an emulated guest.
set -u

usage() {
  cat <<'USAGE'
Usage: slurm.sh check                   says why Slurm cannot be started here (exit code 77), if so
       slurm.sh start FOLDER [OPTIONS]  starts it and waits until every node is idle
       slurm.sh stop FOLDER             ends all of it, jobs included; FOLDER stays, for its logs
Options of start:
  --nodes N         virtual nodes n0, n1, ... (default: 1)
  --name NAME       a single node's name instead of n0
  --hardware TEXT   a node's hardware as slurm.conf describes it, such as 'CPUs=128 Boards=1
                    SocketsPerBoard=1 CoresPerSocket=64 ThreadsPerCore=2' (default: this machine's)
  --mpi TYPE        what srun takes without --mpi, such as pmi2 (default: none)
  --more TEXT       further lines of slurm.conf, such as Epilog=/a/program
  --wait SECONDS    how long the nodes may take to be idle (default: 30)
FOLDER must be short (sockets lie in it) and for root alone. Then, with SLURM_CONF=FOLDER/slurm.conf
in the environment, srun, sbatch and the others use this Slurm.
USAGE
}
say() { printf 'slurm.sh: %s\n' "$*" >&2; }

PATH=$PATH:/usr/sbin:/sbin

check() {
  local program missing=''
  [ "$(id -u)" -eq 0 ] || { say 'Slurm starts tasks as other users would, which takes root'; return 77; }
  for program in munged slurmctld slurmd srun sinfo scancel setsid; do
    command -v "$program" >/dev/null || missing+=" $program"
  done
  [ -z "$missing" ] || { say "not installed:$missing"; return 77; }
}

# port_block COUNT: the first of COUNT ports in a row on which nobody listens now. Below 32768, where
# the kernel starts to give out ports of its own accord. Should another take one before we do, the
# daemon ends and start_once is called again.
port_block() {
  local count=$1 first port taken
  taken=$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | sed -n 's/^ *[0-9]*: [0-9A-F]*:\([0-9A-F]*\) .*/\1/p')
  while :; do
    first=$((10000 + RANDOM % 20000))
    for ((port = first; port < first + count; port++)); do
      grep -qx "$(printf '%04X' "$port")" <<<"$taken" && continue 2
    done
    printf '%s' "$first"
    return
  done
}

# The cgroup plug-in is named so that none is looked for: the plug-ins below do not use it, but the
# one for version 2 wants a system with systemd. config_overrides: nodes may claim what is not there.
# TmpFS: the PMIx servers of two nodes must not meet in /tmp. PMIxCollFence, PMIxFenceBarrier: with the
# defaults a rank of Open MPI 4.1.4 was seen to be still in MPI_Init's first fence when a message of a rank
# past the second arrived, and crashed (on busy CPUs 2 of 60 starts; with the first alone 10 of 400; with
# both 1 of 300).
write_configuration() {
  local host port node_host
  host=$(uname -n)
  host=${host%%.*}
  port=$(port_block $((nodes + 1)))
  local node_names="n[0-$((nodes - 1))]" node_ports="[$((port + 1))-$((port + nodes))]"
  [ "$nodes" -gt 1 ] || { node_names=${name:-n0}; node_ports=$((port + 1)); }
  node_host=$host
  [ "$own_host_names" = no ] || node_host=$node_names
  printf 'IgnoreSystemd=yes\nCgroupPlugin=cgroup/v1\n' >"$folder/cgroup.conf"
  printf 'PMIxCollFence=tree\nPMIxFenceBarrier=true\n' >"$folder/mpi.conf"
  cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmdLogFile=$folder/slurmd.%n.log
TmpFS=$folder/tmp.%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SwitchType=switch/none
MpiDefault=$mpi
MailProg=/bin/true
ReturnToService=2
KillWait=10
NodeName=$node_names NodeHostname=$node_host NodeAddr=127.0.0.1 Port=$node_ports $hardware State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE MaxTime=INFINITE State=UP
$more
CONF
}

# daemon NAME COMMAND...: in the background, away from this terminal's signals.
daemon() {
  local log=$folder/$1.log
  shift
  setsid "$@" >"$log" 2>&1 </dev/null &
  started+=("$!")
  disown # the shell need not tell of its end
}
all_alive() {
  local pid
  for pid in "${started[@]}"; do [ -e "/proc/$pid" ] && kill -0 "$pid" 2>/dev/null || return 1; done
}
# until_true TENTHS COMMAND...: false when that does not come, or a daemon has ended.
until_true() {
  local turn
  for ((turn = 0; turn < $1; turn++)); do
    "${@:2}" && return 0
    all_alive || return 1
    sleep 0.1
  done
  return 1
}
# The pattern looks for nodes that are idle and answer (an asterisk: not yet).
all_idle() {
  [ "$(timeout 5 sinfo --noheader --Node --format '%T' 2>/dev/null | grep -cx idle)" -eq "$nodes" ]
}

# A node with a host name of its own, where the kernel lets us: MPI libraries name shared memory by
# it, and would mix up the ranks of two nodes (Open MPI's crash). Its name is the first argument.
# shellcheck disable=SC2016  # the inner shell's words
host_namespace=(unshare --uts bash -c 'echo "$1" >/proc/sys/kernel/hostname && shift && exec "$@"' bash)
find_host_names() {
  own_host_names=no
  if "${host_namespace[@]}" n0 true 2>/dev/null; then own_host_names=yes; fi
}

start_once() {
  local node as_host
  started=()
  rm -rf -- "$folder/state" "$folder"/spool.* "$folder"/tmp.*
  mkdir -- "$folder/state"
  write_configuration
  daemon munged munged --foreground --force --socket="$folder/munge.socket" \
    --key-file="$folder/munge.key" --log-file="$folder/munged.log" \
    --pid-file="$folder/munged.pid" --seed-file="$folder/munge.seed"
  until_true 100 test -S "$folder/munge.socket" || return 1
  daemon slurmctld slurmctld -D -c
  for ((node = 0; node < nodes; node++)); do
    if [ "$nodes" -gt 1 ] || [ -z "$name" ]; then set -- "n$node"; else set -- "$name"; fi
    as_host=()
    [ "$own_host_names" = no ] || as_host=("${host_namespace[@]}" "$1")
    mkdir -- "$folder/spool.$1" "$folder/tmp.$1"
    daemon "slurmd.$1" "${as_host[@]}" slurmd -D -N "$1"
  done
  until_true $((10 * patience)) all_idle
}

start() {
  local attempt
  nodes=1 name='' hardware='' mpi=none more='' patience=30
  while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || { usage >&2; exit 2; }
    case $1 in
      --nodes) nodes=$2 ;;
      --name) name=$2 ;;
      --hardware) hardware=$2 ;;
      --mpi) mpi=$2 ;;
      --more) more=$2 ;;
      --wait) patience=$2 ;;
      *) usage >&2; exit 2 ;;
    esac
    shift 2
  done
  check || exit
  (umask 077 && mkdir -p -- "$folder") || exit 1
  # "NodeName=host CPUs=..  RealMemory=..": without the name, and without the memory, which no test asks for.
  [ -n "$hardware" ] || hardware=$(slurmd -C | sed -n 's/^NodeName=[^ ]* \(.*\) RealMemory=.*/\1/p')
  find_host_names
  [ -e "$folder/munge.key" ] ||
    { head -c 1024 /dev/urandom >"$folder/munge.key" && chmod 400 "$folder/munge.key"; } || exit 1
  trap 'stop; exit 1' HUP INT TERM
  for attempt in 1 2 3; do # another may have taken the ports
    start_once && return 0
    tail -n 5 -- "$folder"/*.log >&2
    stop
    grep -q 'Address already in use' "$folder"/*.log || break
    say "attempt $attempt: a port was taken, choosing others"
  done
  say "Slurm did not start; its logs are in $folder"
  return 1
}

# members: the processes that belong to FOLDER, by its configuration in their environment: daemons,
# who waits for a job, and the tasks of jobs (they have a node's name).
members() {
  local file process comm
  while read -r file; do
    process=${file%/environ}
    comm=$(cat "$process/comm" 2>/dev/null) || continue
    case $comm in
      munged | slurmctld | slurmscriptd | slurmd | slurmstepd | srun | salloc) ;;
      *) grep -qz '^SLURMD_NODENAME=' "$file" 2>/dev/null || continue ;;
    esac
    printf '%s\n' "${process#/proc/}"
  done < <(grep -lzxF -- "SLURM_CONF=$folder/slurm.conf" /proc/[0-9]*/environ 2>/dev/null)
}

# Nothing of it is wanted any more, so nobody is asked. Again until none is left: one may just have
# been started.
stop() {
  local pids turn
  for ((turn = 0; turn < 100; turn++)); do
    mapfile -t pids < <(members)
    [ "${#pids[@]}" -gt 0 ] || return 0
    kill -KILL "${pids[@]}" 2>/dev/null
    sleep 0.05
  done
  say "still running: ${pids[*]}"
  return 1
}

command=${1-}
[ $# -eq 0 ] || shift
case $command in
  check) check ;;
  start | stop)
    [ -n "${1-}" ] || { usage >&2; exit 2; }
    folder=$(readlink -m -- "$1")
    shift
    export SLURM_CONF=$folder/slurm.conf
    "$command" "$@" ;;
  --help | -h) usage ;;
  *) usage >&2; exit 2 ;;
esac
