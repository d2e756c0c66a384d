-- Module file of numatlas for Lmod: as <module path>/numatlas/VERSION.lua, so that the file's name is the version.
-- The portable tarball lies unpacked in `prefix`; NUMATLAS_PREFIX names another place.
local version = myModuleVersion()
local prefix = os.getenv("NUMATLAS_PREFIX") or pathJoin("/opt/numatlas", version)

help([[
numatlas measures memory latency and bandwidth across NUMA nodes, CXL and GPUs.
  numatlas survey            what this machine is, within a minute
  numatlas mpi-plugin        once, with the site's MPI loaded: builds the plug-in for it
]])
whatis("Name: numatlas")
whatis("Version: " .. version)
whatis("Category: benchmark")
whatis("Description: memory latency and bandwidth across NUMA nodes, CXL and GPUs")

conflict("numatlas")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("XDG_DATA_DIRS", pathJoin(prefix, "share"))
