# Sourced. has WHAT PATTERN COMMAND...: the command ends well and says it.
has() {
  local what=$1 pattern=$2 output code
  shift 2
  output=$("$@" 2>&1)
  code=$?
  if [ "$code" -ne 0 ] || ! grep -qE -- "$pattern" <<<"$output"; then
    printf 'FAILED: %s (exit code %d)\n%s\n' "$what" "$code" "$output"
    failed=1
  fi
}
