#!/usr/bin/env bash
# ranks.sh openmpi|mpich NUMATLAS SOURCE_FOLDER: what is advised for ranks is one line of the launcher,
# and that line gives each rank what was advised.
set -u
mpi=$1 numatlas=$2 source=$3
# shellcheck source=tests/mpi_launcher.sh
. "$source/tests/mpi_launcher.sh"
find_launcher "$mpi" "$numatlas"
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"
cd "$folder" || exit 1
PATH=$(dirname "$numatlas"):$PATH
[ "$(nproc)" -ge 2 ] || { echo 'skipped: one CPU'; exit 77; }

cat >program <<'END'
#!/bin/sh
# Fast only on half of the CPUs that there are.
[ "$(nproc)" -lt "$ALL_CPUS" ] || sleep 0.5
echo "cpus $(taskset -cp $$ | sed 's/.*: //')"
END
chmod +x program
# As it is no rank is bound, by Open MPI 4 and 5 neither.
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
ALL_CPUS=$(nproc)
export ALL_CPUS
run "$numatlas" advise --runs 5 -q --try cpus --launcher "${launcher[*]}" --ranks 2 -- ./program
ends_with 0
says '^\(?ranks '
line=$(sed -n 's/^Run *\(mpirun.*\)/\1/p' <<<"$out")
run sh -c "$line"
ends_with 0
[ "$(sort -u <<<"$out" | grep -c '^cpus ')" -eq 2 ] || fail "the ranks do not have CPUs of their own: $line"
