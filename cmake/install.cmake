# What `cmake --install` puts where; the MPI plug-ins have their rule where they are built.

if(NUMATLAS_BUNDLE)
  # DT_RPATH, as DT_RUNPATH does not serve the libraries that a library needs.
  target_link_options(numatlas PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(numatlas PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/numatlas")
  install(TARGETS numatlas RUNTIME_DEPENDENCY_SET libraries DESTINATION ${CMAKE_INSTALL_BINDIR})
else()
  install(TARGETS numatlas RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# install_link(FOLDER NAME): a link to the program. A wheel cannot hold one: its launcher starts the
# program by the other names.
function(install_link folder name)
  if(SKBUILD)
    return()
  endif()
  set(program ${CMAKE_INSTALL_FULL_BINDIR}/numatlas)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE full)
  cmake_path(RELATIVE_PATH program BASE_DIRECTORY ${full})
  set(made ${PROJECT_BINARY_DIR}/installed/${folder})
  file(MAKE_DIRECTORY ${made})
  file(CREATE_LINK ${program} ${made}/${name} SYMBOLIC)
  install(FILES ${made}/${name} DESTINATION ${folder})
endfunction()
get_property(earlier GLOBAL PROPERTY numatlas_legacy_programs)
foreach(name IN LISTS earlier)
  install_link(${CMAKE_INSTALL_LIBEXECDIR}/numatlas ${name})
  if(NUMATLAS_EARLIER_NAMES)
    install_link(${CMAKE_INSTALL_BINDIR} ${name})
  endif()
endforeach()
# numa-gpu-xfer-bench's `benchmark`: too common a name for a folder of programs.
install_link(${CMAKE_INSTALL_DATADIR}/numatlas benchmark)
if(NUMATLAS_BUNDLE)
  # What belongs to glibc and the compiler is that of the system: no newer one than the program needs.
  set(of_system "(^|/)(ld-linux.*|lib(c|m|dl|rt|pthread|mvec|stdc[+][+]|gcc_s))[.]so")
  set(elsewhere "")
  if(CMAKE_SYSROOT)  # a cross compiler's libraries; those of this machine are of another architecture
    set(elsewhere DIRECTORIES ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
  endif()
  install(RUNTIME_DEPENDENCY_SET libraries DESTINATION lib/numatlas
          PRE_EXCLUDE_REGEXES ${of_system} POST_EXCLUDE_REGEXES ${of_system} ${elsewhere})
endif()

install(PROGRAMS scripts/orchestrator/wrapper_numa.sh scripts/interleave_scripts.sh
                 scripts/weighted_interleave_scripts.sh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/numatlas OPTIONAL)
# `numatlas mpi-plugin` builds a plug-in for an MPI that was not there when this was built.
configure_file(scripts/mpi_plugin ${PROJECT_BINARY_DIR}/bin/numatlas-mpi-plugin COPYONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/numatlas-mpi-plugin DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES src/comm/mpi/shim.c src/comm/mpi/shim.h DESTINATION ${CMAKE_INSTALL_DATADIR}/numatlas/mpi)
include(cmake/declared.cmake)

file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
# What docs/operators.md shows.
set(operators ${PROJECT_SOURCE_DIR}/examples/operators)
set(operators_programs submit measure measure.sbatch check node-check)
list(TRANSFORM operators_programs PREPEND ${operators}/)
file(GLOB operators_files CONFIGURE_DEPENDS ${operators}/*)
list(REMOVE_ITEM operators_files ${operators_programs} ${operators}/__pycache__)
install(PROGRAMS ${operators_programs} DESTINATION ${CMAKE_INSTALL_DOCDIR}/operators)
install(FILES ${operators_files} DESTINATION ${CMAKE_INSTALL_DOCDIR}/operators)
install(FILES data/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/data)
install(FILES README.md CHANGELOG.md LICENSE CITATION.cff ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})
