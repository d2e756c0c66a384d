# What CPack makes: .deb and .rpm of the program, and of each MPI plug-in one of its own, so that the
# program depends on no MPI. `scripts/release` calls it.
get_property(mpi_names GLOBAL PROPERTY NUMATLAS_MPI_NAMES)
set(CPACK_PACKAGE_NAME numatlas)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "numatlas")
set(CPACK_PACKAGE_CONTACT "numatlas maintainers <maintainers@numatlas.example>")
set(CPACK_PACKAGE_HOMEPAGE_URL "")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "memory latency and bandwidth across NUMA nodes, CXL and GPUs")
set(CPACK_PACKAGE_DESCRIPTION
    "numatlas measures memory latency and bandwidth on a compute node: from
each CPU to each NUMA node, by working-set size and page size, with one
worker or many ranks and threads. It verifies where pages and workers were
while it measured, and gives every figure with its interval.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program ${mpi_names})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_VERBATIM_VARIABLES ON)
# Modes of folders do not depend on the umask of who packs.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/stage_packages.cmake)
set(CPACK_NUMATLAS_SOURCE_DIR ${PROJECT_SOURCE_DIR})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME numatlas)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "numactl, man-db, bash-completion")

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT program)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_PACKAGE_GROUP "Applications/System")
set(CPACK_RPM_PACKAGE_RELEASE 1)
# Folders that every system has belong to its own packages; those of shells may not be there.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1 /usr/share/doc
    /usr/libexec)
# The bundled libraries are ours alone: others must not be served by them, nor need them from elsewhere.
# A plug-in asks for no MPI: Fedora's libmpi.so.40()(64bit)(openmpi-x86_64) is no libmpi.so.40()(64bit).
string(CONCAT CPACK_RPM_SPEC_MORE_DEFINE
       "%global source_date_epoch_from_changelog 0\n"
       "%global use_source_date_epoch_as_buildtime 1\n"
       "%global clamp_mtime_to_source_date_epoch 1\n"
       "%global _buildhost reproducible\n"
       "%global _build_id_links none\n"
       "%global __provides_exclude_from ^/usr/lib/numatlas/.*[.]so.*$\n"
       "%global __requires_exclude ^lib(fmt|hwloc|hwy|pugixml|udev|gomp|mpi|mpich)[.]so.*$")

foreach(name IN LISTS mpi_names)
  string(TOUPPER ${name} key)
  set(CPACK_COMPONENT_${key}_DESCRIPTION
      "With this plug-in for ${name} numatlas measures as the ranks of an MPI job.
The program itself links no MPI, and chooses the plug-in when it runs.")
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME numatlas-${name})
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "numatlas (= ${PROJECT_VERSION})")
  set(CPACK_RPM_${key}_PACKAGE_REQUIRES "numatlas = ${PROJECT_VERSION}")
  set(CPACK_RPM_${key}_PACKAGE_SUMMARY "MPI plug-in of numatlas for ${name}")
  set(CPACK_RPM_${key}_PACKAGE_DESCRIPTION "${CPACK_COMPONENT_${key}_DESCRIPTION}")
endforeach()
include(CPack)
