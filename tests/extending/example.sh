#!/usr/bin/env bash
# example.sh NAME DOCUMENT FILE: writes the code block that follows `<!-- example: NAME -->` to the file.
set -eu
awk -v mark="<!-- example: $1 -->" '
  $0 == mark { found = 1; next }
  found && /^```cpp$/ { inside = 1; next }
  inside && /^```$/ { exit }
  inside { print }' "$2" >"$3"
[ -s "$3" ] || { echo "$2: no example $1" >&2; exit 1; }
