# What is made of the options that the programs declare: completions, by the build, and manual pages, when it is installed
# or packed.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "Cross-compiling without an emulator: no manual pages, no completions")
  return()
endif()

set(pages ${PROJECT_BINARY_DIR}/man)
set(emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
install(CODE "
  execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/scripts/manual_pages\" \"${PROJECT_BINARY_DIR}/bin\" \"${pages}\" ${emulator}
                  RESULT_VARIABLE result)
  if(result EQUAL 77)
    message(STATUS \"help2man is not installed: no manual pages\")
  elseif(NOT result EQUAL 0)
    message(FATAL_ERROR \"no manual pages: ${PROJECT_SOURCE_DIR}/scripts/manual_pages failed\")
  endif()")
install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)

if(NOT numatlas_completions_dir)
  set(numatlas_completions_dir ${CMAKE_INSTALL_DATADIR})
endif()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completions)
set(declared "")
foreach(program IN LISTS earlier ITEMS numatlas)
  set(words __completion)
  if(program STREQUAL "numatlas")
    set(words completion bash)
  endif()
  set(script ${PROJECT_BINARY_DIR}/completions/${program})
  add_custom_command(OUTPUT ${script} DEPENDS numatlas VERBATIM
                     COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE_DIR:numatlas>/${program} ${words} > ${script})
  install(FILES ${script} DESTINATION ${numatlas_completions_dir}/bash-completion/completions)
  list(APPEND declared ${script})
endforeach()
add_custom_target(declared ALL DEPENDS ${declared})
