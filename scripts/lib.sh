# shellcheck shell=bash
# What scripts/run, scripts/test and scripts/build share: packages, jobs, builds. To be sourced.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

# The one list of what numatlas needs, by Debian name.
packages_required=(g++ cmake ninja-build make pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev
  libexpected-dev libhwloc-dev libhwy-dev libtomlplusplus-dev libpugixml-dev
  libboost-dev)
packages_python=(python3 python3-venv)
packages_mpi=(openmpi-bin libopenmpi-dev mpich libmpich-dev)
packages_test=(libgtest-dev libgmock-dev librapidcheck-dev numactl help2man)
packages_guests=(munge slurm-client slurmctld slurmd busybox-static kmod zstd ndctl daxctl e2fsprogs libpmem1
  libmemkind0)
packages_ci=(chromium clang lld libomp-dev)
packages_nightly=(prometheus prometheus-node-exporter libamdhip64-5)
# The same for the two other package managers that are common on clusters, as a hint only.
packages_hint_dnf='gcc-c++ cmake ninja-build make pkgconf-pkg-config fmt-devel json-devel
  cli11-devel expected-devel hwloc-devel google-highway-devel tomlplusplus-devel
  pugixml-devel boost-devel; MPI: openmpi-devel mpich-devel; tests: gtest-devel gmock-devel numactl help2man python3
  libpmem memkind'
packages_hint_zypper='gcc-c++ cmake ninja make pkgconf-pkg-config fmt-devel nlohmann_json-devel
  cli11-devel tl-expected-devel hwloc-devel libhwy-devel tomlplusplus-devel
  pugixml-devel boost-devel; MPI: openmpi4-devel mpich-devel; tests: gtest gmock numactl help2man python3'

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# Programs that we call (ccache, CMake, MPI) expect a HOME.
if [[ -z ${HOME:-} ]]; then
  HOME=$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)
  [[ -d $HOME && -w $HOME ]] || HOME=$root/build/home
  mkdir -p -- "$HOME"
  export HOME
fi

# missing_packages NAME...: those that dpkg does not know as installed, one a line.
missing_packages() {
  local name installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed //p') || true # it fails for names that it does not know
  for name in "$@"; do
    [[ $name == pkg-config ]] && have pkg-config && continue # pkgconf provides it
    grep -qxF -- "$name" <<<"$installed" || printf '%s\n' "$name"
  done
}

# as_root COMMAND...: run it as root, or fail at once when that takes a password.
as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif have sudo && sudo -n true 2>/dev/null; then
    sudo -n -- "$@"
  else
    return 1
  fi
}

# apt_run ARG...: apt-get without questions; its noise goes to the log.
apt_run() {
  as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -y -q \
    -o DPkg::Lock::Timeout=300 "$@" </dev/null >>"$apt_log" 2>&1
}

# apt_knows NAME: this release has the package, as far as its lists say. A name that other packages only
# provide shows nothing and is none: on Ubuntu, `chromium` would install a stand-in that wants snap.
apt_knows() { [[ -n $(apt-cache show --no-all-versions "$1" 2>/dev/null) ]]; }

# install_packages --program|--tests|--guests|--ci|--nightly: installs what is missing. Never fatal: what is really needed
# shows when CMake looks for it, and a module or another package manager may have brought it.
install_packages() {
  local wanted=("${packages_required[@]}" "${packages_python[@]}") missing known=() name
  [[ $1 == --tests ]] || wanted+=("${packages_mpi[@]}")
  [[ $1 == --program ]] || wanted+=("${packages_test[@]}")
  [[ $1 != --@(guests|ci|nightly) ]] || wanted+=("${packages_guests[@]}")
  [[ $1 != --@(ci|nightly) ]] || wanted+=("${packages_ci[@]}")
  [[ $1 != --nightly ]] || wanted+=("${packages_nightly[@]}")
  if ! have apt-get || ! have dpkg-query; then
    name_packages
    return 0
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  ((${#missing[@]} > 0)) || return 0
  if ! as_root true; then
    say "Not installed, and no root to install them (going on with what is here):"
    say "  apt-get install ${missing[*]}"
    return 0
  fi
  mkdir -p -- "$root/build"
  apt_log=$root/build/apt.log
  : >"$apt_log"
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
  local tool missing=()
  for tool in g++ cmake ninja pkg-config; do have "$tool" || missing+=("$tool"); done
  [[ ${#missing[@]} -eq 0 ]] && return 0
  say "Not found: ${missing[*]}. There is no apt here; numatlas needs these packages:"
  say "  Debian names: ${packages_required[*]}"
  say "    optional: ${packages_python[*]} ${packages_mpi[*]}; for the tests: ${packages_test[*]}"
  if have dnf; then say "  dnf: $packages_hint_dnf"; fi
  if have zypper; then say "  zypper: $packages_hint_zypper"; fi
  say "Going on with what is here."
}

# available_mib: memory to be had now, in MiB: the kernel's estimate, or what the cgroup leaves.
available_mib() {
  local kib mib max used
  kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo 2>/dev/null)
  mib=$((${kib:-2097152} / 1024))
  max=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || true)
  used=$(cat /sys/fs/cgroup/memory.current 2>/dev/null || true)
  if [[ $max =~ ^[0-9]+$ && $used =~ ^[0-9]+$ ]] && (((max - used) / 1048576 < mib)); then
    mib=$(((max - used) / 1048576))
  fi
  printf '%s\n' "$mib"
}

# compile_jobs: one a CPU that this process may use, but no more than have 1.5 GiB of memory each
# (what the compiler takes at most for one source here), so that a small machine is not driven out
# of memory.
compile_jobs() {
  local cpus by_memory
  cpus=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || echo 1)
  by_memory=$(($(available_mib) / 1536))
  ((by_memory < 1)) && by_memory=1
  printf '%s\n' $((by_memory < cpus ? by_memory : cpus))
}

# show_progress: of a build's output, how much is done, every tenth of it. Ninja says [DONE/ALL].
progress=false
show_progress() {
  if $progress; then awk -F '[][/]' '/^\[[0-9]+\/[0-9]+\]/ && int(10 * $2 / $3) > last {
    last = int(10 * $2 / $3); print "  " 10 * last " % built"; fflush() }' >&2; else cat >/dev/null; fi
}

# build_preset PRESET [CMAKE_ARG...]: configures and builds; the output goes to
# build/PRESET/build.log, its tail to stderr on failure. Runs the tools under the command in the
# array `under`, and builds the targets in `targets`, when these are set.
build_preset() {
  local preset=$1 folder=$root/build/$1 log=$root/build/$1/build.log home jobs tool
  local wanted=()
  ((${#targets[@]} == 0)) || wanted=(--target "${targets[@]}")
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
    "${under[@]}" cmake --build "build/$preset" -j "$jobs" "${wanted[@]}") 2>&1 </dev/null | tee -- "$log" | show_progress; then
    say "Building preset $preset failed. The end of build/$preset/build.log:"
    grep -nE 'error|Error|FAILED|not found' -- "$log" | head -n 20 >&2
    tail -n 30 -- "$log" >&2
    return 1
  fi
}
under=() targets=()

# newest_python: the newest Python here that the Python part can live in, 3.11 or more with venv; fails where
# there is none.
newest_python() {
  local name version newest='' newest_version=3010
  for name in python3 python3.13 python3.12 python3.11; do
    version=$("$name" -c 'import ensurepip, sys, venv
print(sys.version_info[0] * 1000 + sys.version_info[1])' 2>/dev/null) || continue
    if ((version > newest_version)); then newest=$name newest_version=$version; fi
  done
  [[ -n $newest ]] && printf '%s\n' "$newest"
}

# pip_install VENV EXTRA: the Python part into the environment. Gives up soon without a network; by variables,
# as pip fetches what it builds with in a process of its own. What is never imported need not be compiled.
pip_install() {
  PIP_RETRIES=${PIP_RETRIES:-1} PIP_TIMEOUT=${PIP_TIMEOUT:-8} "$1/bin/python" -m pip install \
    --disable-pip-version-check --no-input --no-compile --editable "$root/python[report${2:+,$2}]"
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
  if ! python=$(newest_python); then
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
