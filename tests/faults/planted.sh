#!/usr/bin/env bash
# planted.sh CASE NUMATLAS: somebody else put code where a copy of the program would look for its own.
# Exit 77: it cannot be done here.
set -u
case=$1 numatlas=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/outside.sh
. "$here/../outside.sh"
hide_outside
umask 022
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mark=$folder/marks/loaded # where a set-uid copy may leave it as well
mkdir -m 1777 "$folder/marks" && mkdir "$folder/bin" && cp "$numatlas" "$folder/bin/numatlas" || exit 1
output=

fail() {
  printf 'FAILED: %s\n--- output ---\n%s\n' "$1" "$output"
  exit 1
}
skip() {
  echo "skipped: $1"
  exit 77
}
says() { grep -qE -- "$1" <<<"$output" || fail "does not say: $1"; }
says_not() { ! grep -qE -- "$1" <<<"$output" || fail "says: $1"; }
plant_plugin() { # NAME: one that leaves a mark as soon as it is loaded
  command -v cc >/dev/null || skip 'no C compiler'
  mkdir -p "$folder/lib/numatlas/mpi"
  printf '#include <fcntl.h>\n__attribute__((constructor)) static void mark(void) { open("%s", O_CREAT, 0600); }\n' \
    "$mark" >"$folder/plugin.c"
  cc -shared -fPIC "$folder/plugin.c" -o "$folder/lib/numatlas/mpi/numatlas_mpi_$1.so" || exit 1
}
as_rank() { # a task of two, as far as the environment tells
  OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=0 "$@"
}
plant_program() { # FOLDER
  mkdir -p "$1"
  printf '#!/bin/sh\n: >"%s"\n' "$folder/ran" >"$1/numatlas-report"
  chmod 755 "$1/numatlas-report"
}

case $case in
  plugin) # in a folder that everybody may write to
    plant_plugin openmpi
    chmod 777 "$folder"
    output=$("$folder/bin/numatlas" features)
    says "MPI: openmpi +no +$folder/lib/numatlas/mpi/numatlas_mpi_openmpi.so is not loaded: others than root and you may change $folder$"
    output=$(as_rank "$folder/bin/numatlas" latency --size 1 --time 20ms --mpi openmpi 2>&1)
    says "others than root and you may change $folder"
    [ ! -e "$mark" ] || fail 'the planted plug-in was loaded'
    # Where only its owner may write, it is the program's own: an installation that was moved.
    chmod 755 "$folder"
    output=$("$folder/bin/numatlas" features)
    says_not 'is not loaded'
    [ -e "$mark" ] || fail 'a moved installation does not load its plug-ins' ;;
  plugin-name) # before the own ones in the alphabet
    plant_plugin aaa
    output=$("$folder/bin/numatlas" features)
    says_not 'MPI: aaa'
    as_rank "$folder/bin/numatlas" latency --size 1 --time 20ms >/dev/null 2>&1
    [ ! -e "$mark" ] || fail 'the planted plug-in was loaded' ;;
  report) # where a build folder, or an installation, has the Python part
    mkdir -p "$folder/build/ci/bin" && cp "$numatlas" "$folder/build/ci/bin"
    : >"$folder/build/ci/CMakeCache.txt"
    plant_program "$folder/build/venv/bin"
    plant_program "$folder/lib/numatlas/python/bin"
    chmod 777 "$folder"
    export PATH=/usr/bin:/bin
    output=$("$folder/build/ci/bin/numatlas" report x.json 2>&1)
    [ ! -e "$folder/ran" ] || fail 'a program beside some CMakeCache.txt was run'
    output=$("$folder/bin/numatlas" report x.json 2>&1)
    says "^numatlas: error: $folder/lib/numatlas/python/bin/numatlas-report is not run: others than root and you may change $folder$"
    "$folder/bin/numatlas" survey --engine null --machine 'numa:1 core:1 pu:1' --only latency -q \
      -o "$folder/survey" >/dev/null 2>&1
    [ ! -e "$folder/ran" ] || fail 'the planted program was run'
    chmod 755 "$folder"
    "$folder/bin/numatlas" report x.json
    [ -e "$folder/ran" ] || fail 'a moved installation does not run its Python part' ;;
  own-folder) # beside the program itself
    plant_program "$folder/bin"
    chmod 1777 "$folder/bin"
    output=$("$folder/bin/numatlas" report x.json 2>&1)
    says "is not run: others than root and you may change $folder/bin"
    [ ! -e "$folder/ran" ] || fail 'the planted program was run' ;;
  set-uid) # takes nothing from the environment
    [ "$(id -u)" -eq 0 ] || skip 'only root can make such a copy'
    cp /usr/bin/id "$folder/bin/id" && chown nobody "$folder/bin/id" "$folder/bin/numatlas" &&
      chmod 4755 "$folder/bin/id" "$folder/bin/numatlas"
    [ "$("$folder/bin/id" -un)" = nobody ] || skip 'set-uid has no effect here'
    plant_plugin openmpi
    output=$(NUMATLAS_PLUGIN_DIR=$folder/lib/numatlas/mpi "$numatlas" features 2>&1)
    [ -e "$mark" ] || fail 'an ordinary program does not heed NUMATLAS_PLUGIN_DIR'
    rm "$mark"
    mkdir "$folder/other" && mv "$folder/lib" "$folder/other"
    output=$(NUMATLAS_PLUGIN_DIR=$folder/other/lib/numatlas/mpi "$folder/bin/numatlas" features 2>&1)
    [ ! -e "$mark" ] || fail 'a set-uid copy loads what the environment names'
    # CLI11 reads this one.
    output=$(NUMATLAS_MPI=nosuch "$folder/bin/numatlas" latency --dry-run --size 1 2>&1) ||
      fail 'a set-uid copy heeds NUMATLAS_MPI' ;;
  *)
    echo "unknown case $case"
    exit 1 ;;
esac
