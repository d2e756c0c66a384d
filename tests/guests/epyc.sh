# What the steps of d16 share: the folder that the source systems' documents run in, a Slurm, and
# functions that take from an output what must be the same each time.
# shellcheck shell=bash
export SLURM_CONF=/run/slurm/slurm.conf
mkdir -p bench && cd bench || exit
ln -sf "$BUILD/bin/numa_mem_bench" "$BUILD/bin/numa_allocator" "$ROOT/scripts" .

# start_slurm [OPTIONS]: srun without --mpi as the documents have it: a site names its kind of MPI.
start_slurm() { "$ROOT/tests/launchers/slurm.sh" start /run/slurm --mpi pmi2 --wait 120 "$@"; }

# show TEXT: runs a command as a document prints it, with the command before the output; keeps both.
show() {
  printf '$ %s\n' "$1" >"$HOME/output"
  bash -c "$1" >>"$HOME/output" 2>&1
  local status=$?
  cat "$HOME/output"
  return $status
}
# quietly TEXT: the same, shown only if the step fails: what is on standard output is the step's own.
quietly() { show "$1" >&2; }

# rows [FILE]: of the table in the last output, or in FILE, each row's rank, CPUs, their node, and the
# memory's node.
rows() {
  awk -F'|' '
    { gsub(/ /, "") }
    /Cores/ { for (i = 1; i <= NF; i++) { if (tolower($i) == "ranks") rank = i; if ($i == "NUMA") memory = i } }
    rank && $rank ~ /^[0-9]+$/ { print $rank, $(rank + 1), $(rank + 2), $memory }' "${1:-$HOME/output}"
}
# shape FILE: a CSV file with each time as `ns`.
shape() { sed -E 's/,[0-9]+\.[0-9]{2}/,ns/g' "$1"; }
# holding MB: the nodes that hold so much of the last rank's memory, by the block that it prints.
holding() {
  awk -v least="$1" '
    $1 ~ /^\[[0-9]+\]$/ { $1 = ""; $0 = $0 }
    $1 == "Total" { for (i = 2; i < NF; i++) if ($i >= least) print "node " i - 2 " holds the last rank" }' "$HOME/output"
}
# A program that says what the kernel lets it do, by another tool's words.
cat >policy <<'POLICY'
#!/bin/sh
echo "rank $SLURM_PROCID of node $SLURM_NODEID: CPUs$(taskset -pc $$ | cut -d: -f2), memory$(numactl --show | sed -n 's/^membind: \([0-9 ]*[0-9]\) *$/ \1/p')"
POLICY
chmod +x policy
