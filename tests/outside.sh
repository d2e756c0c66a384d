# shellcheck shell=bash
# To be sourced: hide_outside unsets what a launcher around the tests, or the user's own settings,
# would tell the programs that are tested, and sets the locale of their outputs; `kept=PREFIX hide_outside` leaves variables of that prefix.
# Other tests run beside: programs are told to count no others' CPU time, but by tests of that.
hide_outside() {
  local name
  export LC_ALL=C.UTF-8 # the sign of intervals
  for name in $(compgen -e |
    grep -E '^(SLURM_|PMI_|PMIX_|PALS_|FLUX_|JSM_|MV2_|OMPI_COMM|HYDI_|MPI_LOCAL|NUMATLAS|OMP_)'); do
    [[ -n ${kept:-} && $name == "$kept"* ]] || unset "$name"
  done
  export NUMATLAS_TEST_QUIET=1
}
