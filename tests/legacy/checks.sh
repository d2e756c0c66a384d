# shellcheck shell=bash
# What the scripts here share: `run COMMAND...` keeps output and exit code, the others judge them.
# A check that fails says what there was and ends the script.

# shellcheck source=tests/outside.sh
. "$(dirname "${BASH_SOURCE[0]}")/../outside.sh"
hide_outside
export ASAN_OPTIONS=detect_leaks=0

run() {
  out=$("$@" 2>"$folder/err" </dev/null)
  status=$?
  err=$(<"$folder/err")
}
fail() {
  printf 'FAILED: %s\n--- exit code %s, standard output ---\n%s\n--- standard error ---\n%s\n' \
    "$1" "$status" "$out" "$err"
  exit 1
}
ends_with() { [ "$status" -eq "$1" ] || fail "exit code is not $1"; }
prints() { [ "$out" = "$1" ] || fail "standard output is not: $1"; }
says() { grep -qE -- "$1" <<<"$out" || fail "standard output has no: $1"; }
warns() { grep -qE -- "$1" <<<"$err" || fail "standard error has no: $1"; }
warns_once() { [ "$(grep -cE -- "$1" <<<"$err")" -eq 1 ] || fail "standard error has not once: $1"; }
silent() { [ -z "$err" ] || fail 'standard error is not empty'; }

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
