#!/usr/bin/env bash
# in_folder.sh COMMAND...: runs the command in a folder of its own and shows the files that it wrote
# there; its standard error comes last, so that launchers do not mix it in.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
"$@" </dev/null
status=$?
for file in *; do
  [ -e "$file" ] || continue
  printf '\n%s:\n' "$file"
  cat "$file"
done
exit $status
