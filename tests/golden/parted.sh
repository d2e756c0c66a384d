# shellcheck shell=bash
# parted WORD...: a case's words, parted at a `|`: `program` are those before it, `filter` those after it, or
# `cat` without one.
# shellcheck disable=SC2034 # used by the scripts that read this file
parted() {
  program=() filter=(cat)
  while (($# > 0)); do
    [ "$1" != '|' ] || { filter=("${@:2}"); return; }
    program+=("$1")
    shift
  done
}
