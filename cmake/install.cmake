# What `cmake --install` puts where. Programs that this configuration does not build are left out;
# the MPI plug-ins have their rule where they are built.

get_property(legacy GLOBAL PROPERTY numatlas_legacy_programs)
set(programs "")
set(installed numatlas ${legacy})
if(NUMATLAS_PACKAGE)
  set(installed numatlas numatlas_any_name)
endif()
foreach(program numatlas ${legacy})
  if(TARGET ${program})
    list(APPEND programs ${program})
  endif()
endforeach()
foreach(program IN LISTS installed)
  if(NOT TARGET ${program})
    continue()
  endif()
  if(NUMATLAS_BUNDLE)
    # DT_RPATH, as DT_RUNPATH does not serve the libraries that a library needs.
    target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/numatlas")
    install(TARGETS ${program} RUNTIME_DEPENDENCY_SET libraries DESTINATION ${CMAKE_INSTALL_BINDIR})
  else()
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
# A wheel cannot hold links: its launcher starts the one program by the other names.
if(TARGET numatlas_any_name AND NOT SKBUILD)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/any_name/links)
  foreach(name IN LISTS legacy)
    if(NOT name STREQUAL "numa_mem_bench")
      file(CREATE_LINK numa_mem_bench ${PROJECT_BINARY_DIR}/any_name/links/${name} SYMBOLIC)
      install(FILES ${PROJECT_BINARY_DIR}/any_name/links/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
  endforeach()
endif()
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
# numa-gpu-xfer-bench's `benchmark`: too common a name for the folder of all programs.
if(TARGET numa_gpu_xfer_bench AND NOT SKBUILD)
  file(RELATIVE_PATH to_programs ${CMAKE_INSTALL_FULL_DATADIR}/numatlas ${CMAKE_INSTALL_FULL_BINDIR})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
  file(CREATE_LINK ${to_programs}/numa_gpu_xfer_bench ${PROJECT_BINARY_DIR}/installed/benchmark
       SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/installed/benchmark
          DESTINATION ${CMAKE_INSTALL_DATADIR}/numatlas)
endif()

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
install(FILES README.md CHANGELOG.md LICENSE CITATION.cff ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})
