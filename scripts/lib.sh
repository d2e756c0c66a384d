# shellcheck shell=bash
# What scripts/run, scripts/test and scripts/build share: packages, jobs, builds. To be sourced.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

# The one table of what numatlas needs, by what needs it: Debian's names. For two other package managers that are
# common on clusters all in one, as a hint only.
declare -A packages=(
  [build]='g++ cmake ninja-build make pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev libexpected-dev
    libhwloc-dev libhwy-dev libtomlplusplus-dev libpugixml-dev libboost-dev'
  [python]='python3 python3-venv'
  [mpi]='openmpi-bin libopenmpi-dev mpich libmpich-dev'
  [tests]='libgtest-dev libgmock-dev librapidcheck-dev numactl help2man'
  [ci]='chromium clang lld libomp-dev munge slurm-client slurmctld slurmd busybox-static kmod zstd ndctl daxctl
    e2fsprogs libpmem1 libmemkind0'
  [nightly]='prometheus prometheus-node-exporter libamdhip64-5'
  [dnf]='gcc-c++ cmake ninja-build make pkgconf-pkg-config fmt-devel json-devel cli11-devel expected-devel hwloc-devel
    google-highway-devel tomlplusplus-devel pugixml-devel boost-devel; MPI: openmpi-devel mpich-devel; tests:
    gtest-devel gmock-devel numactl help2man python3 libpmem memkind'
  [zypper]='gcc-c++ cmake ninja make pkgconf-pkg-config fmt-devel nlohmann_json-devel cli11-devel tl-expected-devel
    hwloc-devel libhwy-devel tomlplusplus-devel pugixml-devel boost-devel; MPI: openmpi4-devel mpich-devel; tests:
    gtest gmock numactl help2man python3'
)

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# Programs that we call (ccache, CMake, MPI) expect a HOME.
if [[ -z ${HOME:-} ]]; then
  HOME=$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)
  [[ -d $HOME && -w $HOME ]] || HOME=$root/build/home
  mkdir -p -- "$HOME"
  export HOME
fi

# names KIND...: those of the table, one a line.
names() {
  local kind
  for kind in "$@"; do xargs -n 1 <<<"${packages[$kind]}"; done
}

# missing_packages KIND...: the names that dpkg does not know as installed, one a line.
missing_packages() {
  names "$@" | grep -vxF -f <(
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p'
    ! have pkg-config || echo pkg-config # pkgconf provides it
  ) || true
}

# as_root COMMAND...: run it as root, or fail at once when that takes a password.
as_root() { if ((EUID == 0)); then "$@"; else have sudo && sudo -n -- "$@"; fi; }

# apt_run ARG...: apt-get without questions; its noise goes to the log.
apt_run() {
  as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -y -q \
    -o DPkg::Lock::Timeout=300 "$@" </dev/null >>"$root/build/apt.log" 2>&1
}

# apt_knows NAME: this release has the package, as far as its lists say. A name that other packages only
# provide shows nothing and is none: on Ubuntu, `chromium` would install a stand-in that wants snap.
apt_knows() { [[ -n $(apt-cache show --no-all-versions "$1" 2>/dev/null) ]]; }

# install_packages KIND...: installs what is missing. Never fatal: what is really needed shows when CMake looks for it,
# and a module or another package manager may have brought it.
install_packages() {
  local missing known=() name
  if ! have apt-get || ! have dpkg-query; then name_packages && return; fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  if ! as_root true 2>/dev/null; then
    say "Not installed, and no root to install them (going on with what is here):"
    say "  apt-get install ${missing[*]}"
    return 0
  fi
  mkdir -p -- "$root/build"
  : >"$root/build/apt.log"
  say "Installing ${missing[*]} (log: build/apt.log)"
  apt_run update || true
  for name in "${missing[@]}"; do
    if apt_knows "$name"; then known+=("$name"); else say "This release has no package $name: going on without"; fi
  done
  # One by one where they cannot be had together: an MPI may clash with one that is here.
  ((${#known[@]} == 0)) || apt_run install --no-install-recommends "${known[@]}" ||
    for name in "${known[@]}"; do
      apt_run install --no-install-recommends "$name" || say "apt-get could not install $name (build/apt.log)"
    done
}

# name_packages: for machines without apt; silent when the build tools are there.
name_packages() {
  local tool kind missing=()
  for tool in g++ cmake ninja pkg-config; do have "$tool" || missing+=("$tool"); done
  ((${#missing[@]} > 0)) || return 0
  say "Not found: ${missing[*]}. There is no apt here; numatlas needs these packages (Debian's names):"
  for kind in build python mpi tests; do say "  $kind: $(names "$kind" | paste -sd' ')"; done
  for tool in dnf zypper; do ! have "$tool" || say "  with $tool: $(names "$tool" | paste -sd' ')"; done
  say "Going on with what is here."
}

# compile_jobs: one a CPU that this process may use, but no more than have 1.5 GiB of memory each (what the compiler
# takes at most for one source here), so that a small machine is not driven out of memory: of what the kernel
# estimates, or of what the cgroup leaves.
compile_jobs() {
  local cpus mib max used
  cpus=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || echo 1)
  mib=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null) || mib=2048
  if read -r max 2>/dev/null </sys/fs/cgroup/memory.max && read -r used </sys/fs/cgroup/memory.current; then
    [[ $max == max ]] || mib=$((max = (max - used) / 1048576, max < mib ? max : mib))
  fi
  cpus=$((mib / 1536 < cpus ? mib / 1536 : cpus))
  echo $((cpus < 1 ? 1 : cpus))
}

# show_progress: of a build's output, how much is done, every tenth of it. Ninja says [DONE/ALL].
show_progress() {
  awk -F '[][/]' '/^\[[0-9]+\/[0-9]+\]/ && int(10 * $2 / $3) > last {
    last = int(10 * $2 / $3); print "  " 10 * last " % built"; fflush() }' >&2
}

# build_preset PRESET [CMAKE_ARG...]: configures and builds; the output goes to build/PRESET/build.log, its tail to
# stderr on failure. Builds under the command in the array `under`, with the arguments in `targets`.
under=() targets=()
build_preset() {
  local preset=$1 folder=$root/build/$1 log=$root/build/$1/build.log home jobs tool
  shift
  for tool in g++ cmake ninja pkg-config; do
    have "$tool" || [[ $tool == g++ && -n ${CXX:-} ]] ||
      { say "cannot build: $tool is not installed"; return 1; }
  done
  if have ccache; then
    # Relative paths, so that checkouts in different folders share what is cached.
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
  fi
  # CMake refuses a build folder that was made for another place (a checkout moved or copied).
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
  if [[ -n $home && $home != "$root" ]]; then
    say "build/$preset was made for $home: starting afresh"
    rm -rf -- "$folder"
  fi
  mkdir -p -- "$folder"
  jobs=$(compile_jobs)
  say "Building preset $preset with $jobs jobs (log: build/$preset/build.log)"
  if ! (cd -- "$root" && cmake --preset "$preset" "$@" &&
    "${under[@]}" cmake --build "build/$preset" -j "$jobs" "${targets[@]}") 2>&1 </dev/null | tee -- "$log" | show_progress; then
    say "Building preset $preset failed. The end of build/$preset/build.log:"
    grep -nE 'error|Error|FAILED|not found' -- "$log" | head -n 20 >&2
    tail -n 30 -- "$log" >&2
    return 1
  fi
}

# find_python: one that the Python part can live in, 3.11 or more with venv; fails where there is none.
find_python() {
  local name
  for name in python3 python3.13 python3.12 python3.11; do
    "$name" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$name" && return
  done
  return 1
}

# pip_install VENV EXTRA: the Python part into the environment. Gives up soon without a network; by variables,
# as pip fetches what it builds with in a process of its own. Of all this only what both commands import
# is compiled: their first start is no longer than others, also where its user may not write there.
pip_install() {
  PIP_RETRIES=${PIP_RETRIES:-1} PIP_TIMEOUT=${PIP_TIMEOUT:-8} "$1/bin/python" -m pip install \
    --disable-pip-version-check --no-input --no-compile --editable "$root/python[report${2:+,$2}]" &&
    env -u PYTHONDONTWRITEBYTECODE "$1/bin/python" -c 'import numatlas.cli, numatlas.plot, numatlas.report.page'
}

# pip_problem LOG: why it failed, in its words: at the end it tells only that it did.
pip_problem() { grep 'ERROR' -- "$1" | head -n 1 | sed 's/^ *//' || tail -n 1 -- "$1"; }

# set_up_python [EXTRA]: the Python part (numatlas report, numatlas plot) in the virtual environment
# build/venv, where `numatlas` looks for it; EXTRA: `tests`, which stay once they are there. Brought up to date when the
# checkout asks for other packages, made again when it has moved. Fails without it; measuring does not need it.
set_up_python() {
  local venv=$root/build/venv log=$root/build/venv.log extra=${1:-} wanted made_for python
  wanted=$(cat -- "$root/python/pyproject.toml" && echo "$root")
  made_for=$(cat -- "$venv/wanted" 2>/dev/null || true)
  [[ $made_for != *' with tests' ]] || extra=tests
  [[ $made_for != "$wanted with $extra" ]] || ! "$venv/bin/python" -c 'import numatlas' >/dev/null 2>&1 || return 0
  if ! python=$(find_python); then
    say 'No Python of 3.11 or newer with venv: numatlas report and plot are left out'
    return 1
  fi
  [[ $made_for == *$'\n'"$root with "* ]] || rm -rf -- "$venv"
  mkdir -p -- "$root/build"
  say 'Setting up the Python part in build/venv (log: build/venv.log)'
  if ! { "$python" -m venv "$venv" && pip_install "$venv" "$extra"; } >"$log" 2>&1 </dev/null; then
    say "The Python part could not be set up, and numatlas report and plot are as before: $(pip_problem "$log")"
    return 1
  fi
  printf '%s with %s\n' "$wanted" "$extra" >"$venv/wanted"
}
