#!/usr/bin/env bash
# external.sh NUMATLAS: commands that are programs of their own, with stand-ins for them: what they
# are given, how they end, and what is said where there are none or they are broken.
set -u
numatlas=$1
# A copy, beside which nothing lies; the Python part of the build folder is not for this.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/brought" "$folder/other" && cp "$numatlas" "$folder/bin/numatlas" || exit 1
numatlas=$folder/bin/numatlas
export NUMATLAS_EXEC_PATH=
PATH=/usr/bin:/bin

stand_in() {
  printf '%s\n' "$2" >"$folder/$1" && chmod +x "$folder/$1"
}
try() {
  echo "\$ $*"
  "$@" 2>&1 | sed "s|$folder|FOLDER|g"
  echo "--- exit code ${PIPESTATUS[0]}"
}
numatlas() { "$numatlas" "$@"; }
survey() { # what it says of report.html
  "$numatlas" survey --engine null --machine 'numa:1 core:1 pu:1' --only latency -q \
    -o "$folder/survey" 2>&1 | grep -A1 -E '^Files|html' | tr '\n' ' ' | tr -s ' '
  echo
}

try numatlas report x.json
try numatlas plot --help
try numatlas nosuch x.json
try survey
# shellcheck disable=SC2016 # for the stand-in
stand_in brought/numatlas-report '#!/bin/sh
echo "${0##*/}:"; for word in "$@"; do echo "<$word>"; done; exit 7'
stand_in other/numatlas-report '#!/bin/sh
echo not the first of the path'
stand_in other/numatlas-mine '#!/bin/sh
echo a command of my own: "$@"; kill -PIPE $$'
stand_in bin/numatlas-plot '#!/no/such/interpreter'
stand_in brought/numatlas-latency '#!/bin/sh
echo never in place of one of ours'
export NUMATLAS_EXEC_PATH=$folder/none:$folder/brought:$folder/other
try numatlas report 'a b' -- --json ''
try numatlas mine --engine
try numatlas plot x
try numatlas latency --nosuch
try survey
# shellcheck disable=SC2016
stand_in brought/numatlas-report '#!/bin/sh
for word; do case $word in *.html) : >"$word" ;; esac; done'
try survey
[ -e "$folder/survey/report.html" ] || echo 'report.html was not written'
