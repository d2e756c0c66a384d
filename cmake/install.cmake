# What `cmake --install` puts where. Programs that this configuration does not build are left out;
# the MPI plug-ins have their rule where they are built.

file(GLOB legacy CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/legacy
     ${PROJECT_SOURCE_DIR}/src/legacy/*_main.cpp)
list(TRANSFORM legacy REPLACE "_main.cpp$" "")
set(programs "")
foreach(program numatlas ${legacy})
  if(TARGET ${program})
    list(APPEND programs ${program})
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

include(cmake/declared.cmake)

file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
install(FILES README.md CHANGELOG.md LICENSE ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})
