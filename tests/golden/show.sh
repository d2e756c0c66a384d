#!/usr/bin/env bash
# show.sh COMMAND...: runs the command and writes all that a user sees of it to standard output:
# what it wrote to standard output, to standard error, and its exit code. Machines are named as
# files in tests/topologies. The version is the one thing that is replaced: it is not what is tested.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../topologies" || exit 1
# Neither a launcher around the tests nor the user's own settings must show.
for name in $(compgen -e |
  grep -E '^(SLURM_|PMI_|PMIX_|PALS_|FLUX_|JSM_|MV2_|OMPI_COMM|HYDI_|MPI_LOCAL|NUMATLAS_(MPI|ENGINE)|OMP_)'); do
  unset "$name"
done
errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT
"$@" 2>"$errors" </dev/null | sed -E 's/^( "version": )"[^"]*"/\1"VERSION"/'
status=${PIPESTATUS[0]}
if [ -s "$errors" ]; then
  echo '--- standard error ---'
  cat "$errors"
fi
echo "--- exit code $status ---"
