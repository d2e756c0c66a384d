# What the build makes of the options that the programs declare: manual pages and completions.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "Cross-compiling without an emulator: no manual pages, no completions")
  return()
endif()

set(programs numatlas ${earlier})
set(declared "")
function(manual_page page name program command)
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/man/${name}
    COMMAND ${CMAKE_COMMAND} -DPAGE=${page} -DOUTPUT=${PROJECT_BINARY_DIR}/man/${name}
            "-DPROGRAM=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE_DIR:numatlas>/${program}"
            -DCOMMAND=${command} -DPROJECT_VERSION=${PROJECT_VERSION}
            -P ${PROJECT_SOURCE_DIR}/cmake/manual_page.cmake
    DEPENDS numatlas ${page} ${PROJECT_SOURCE_DIR}/cmake/manual_page.cmake VERBATIM)
  set(declared ${declared} ${PROJECT_BINARY_DIR}/man/${name} PARENT_SCOPE)
endfunction()
file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1.in)
foreach(page IN LISTS man_pages)
  cmake_path(GET page STEM LAST_ONLY name)  # numatlas-latency.1
  string(REGEX MATCH "^([a-z_]+)-?([a-z]*)" program ${name})
  set(program ${CMAKE_MATCH_1})
  if(program IN_LIST programs)
    manual_page(${page} ${name} ${program} "${CMAKE_MATCH_2}")
  endif()
endforeach()
# A benchmark without a page of its own has one of what it declares.
file(GLOB benchmarks CONFIGURE_DEPENDS LIST_DIRECTORIES true
     RELATIVE ${PROJECT_SOURCE_DIR}/src/benchmarks ${PROJECT_SOURCE_DIR}/src/benchmarks/*)
foreach(command IN LISTS benchmarks)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/benchmarks/${command} AND
     NOT EXISTS ${PROJECT_SOURCE_DIR}/docs/man/numatlas-${command}.1.in)
    manual_page(${PROJECT_SOURCE_DIR}/docs/man/benchmark.in numatlas-${command}.1 numatlas ${command})
  endif()
endforeach()
install(FILES ${declared} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

if(NOT numatlas_completions_dir)
  set(numatlas_completions_dir ${CMAKE_INSTALL_DATADIR})
endif()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completions)
foreach(program IN LISTS programs)
  set(script ${PROJECT_BINARY_DIR}/completions/${program})
  add_custom_command(OUTPUT ${script} DEPENDS numatlas VERBATIM
                     COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE_DIR:numatlas>/${program}
                             __declared bash > ${script})
  install(FILES ${script} DESTINATION ${numatlas_completions_dir}/bash-completion/completions)
  list(APPEND declared ${script})
endforeach()
add_custom_target(declared ALL DEPENDS ${declared})
