# What `cmake --install` puts where. Programs that this configuration does not build are left out;
# the MPI plug-ins have their rule where they are built.

file(GLOB legacy CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/legacy
     ${PROJECT_SOURCE_DIR}/src/legacy/*_main.cpp)
list(TRANSFORM legacy REPLACE "_main.cpp$" "")
foreach(program numatlas ${legacy})
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

install(PROGRAMS scripts/orchestrator/wrapper_numa.sh scripts/interleave_scripts.sh
                 scripts/weighted_interleave_scripts.sh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/numatlas OPTIONAL)
# numa-gpu-xfer-bench's `benchmark`: too common a name for the folder of all programs.
if(TARGET numa_gpu_xfer_bench)
  file(RELATIVE_PATH to_programs ${CMAKE_INSTALL_FULL_DATADIR}/numatlas ${CMAKE_INSTALL_FULL_BINDIR})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
  file(CREATE_LINK ${to_programs}/numa_gpu_xfer_bench ${PROJECT_BINARY_DIR}/installed/benchmark
       SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/installed/benchmark
          DESTINATION ${CMAKE_INSTALL_DATADIR}/numatlas)
endif()

# Manual pages carry the version of VERSION.
file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1.in)
foreach(page IN LISTS man_pages)
  cmake_path(GET page STEM LAST_ONLY name)  # numatlas.1
  configure_file(${page} ${PROJECT_BINARY_DIR}/man/${name} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/man/${name} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endforeach()

file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
install(FILES README.md CHANGELOG.md LICENSE ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES completions/numatlas.bash RENAME numatlas
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
