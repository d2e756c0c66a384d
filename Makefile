# For those who type make. CMake builds; scripts/ hold what is done here.
#   make                 builds build/release; names missing packages and installs none
#   make run ARGS=...    installs what is missing, builds, measures this machine
#   make test ARGS=...   installs what is missing, builds and runs all tests
#   make install         to PREFIX (default /usr/local) below DESTDIR
#   make install-python  numatlas report and plot, in an environment of their own below PREFIX
#   make release         packages of all forms, checksums and SBOM in build/packages (FORMS="deb wheel": these)
#   make clean           removes build/release and the links into it
# HWLOC_DIR=DIR takes hwloc from there; CMAKE_ARGS=... goes to CMake.
PREFIX ?= /usr/local
DESTDIR ?=
HWLOC_DIR ?=
CMAKE_ARGS ?=
FORMS ?=
ARGS ?=

all:
	@scripts/build release -DCMAKE_INSTALL_PREFIX="$(PREFIX)" -DHWLOC_DIR="$(HWLOC_DIR)" $(CMAKE_ARGS)

run:
	@scripts/run $(ARGS)

test:
	@scripts/test $(ARGS)

install: all
	@DESTDIR="$(DESTDIR)" cmake --install build/release

# Not below DESTDIR: an environment cannot be moved.
install-python:
	python3 -m venv "$(PREFIX)/lib/numatlas/python"
	"$(PREFIX)/lib/numatlas/python/bin/pip" install "./python[report]"

release:
	@scripts/release $(FORMS)

clean:
	rm -rf build/release
	rm -f build/benchmark
	find . -maxdepth 1 -type l -name 'numa_*' -delete

.PHONY: all run test install install-python release clean
