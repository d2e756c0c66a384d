# headers.self_contained: every header of src/ compiles alone, with no other include root than those
# its library may use. A header that leans on what its users include first fails here. Standard headers
# are the exception, which headers.standard looks at: here all of them are compiled once, beforehand.
#
# Included by the build, it registers the test. Run as a script (cmake -P) with COMPILER and LIST it is
# the test: LIST has a line for each folder, FOLDER|INCLUDE_ROOT|INCLUDE_ROOT...
if(CMAKE_SCRIPT_MODE_FILE)
  set(compile ${COMPILER} -std=c++20 -Wall -Wextra -Werror)
  file(STRINGS "${LIST}" folders)
  set(standard "")
  foreach(line IN LISTS folders)
    string(REGEX REPLACE "[|].*" "" folder "${line}")
    file(GLOB_RECURSE headers "${folder}/*.h")
    foreach(header IN LISTS headers)
      file(STRINGS "${header}" included REGEX "^#include <[a-z_]+>")
      list(APPEND standard ${included})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES standard)
  list(JOIN standard "\n" standard)
  file(WRITE "${LIST}.all.h" "${standard}\n")
  execute_process(COMMAND ${compile} -x c++-header "${LIST}.all.h" -o "${LIST}.all.h.gch"
                  COMMAND_ERROR_IS_FATAL ANY)
  set(checked 0)
  set(failed 0)
  foreach(line IN LISTS folders)
    string(REPLACE "|" ";" roots "${line}")
    list(POP_FRONT roots folder)
    list(REMOVE_DUPLICATES roots)
    list(TRANSFORM roots PREPEND "-I")
    file(GLOB_RECURSE headers "${folder}/*.h")
    # Kernels of GPUs are text in words that CUDA, HIP and the tests define before it; one helper of
    # tests has benchmarks, which its library may not include.
    list(FILTER headers EXCLUDE REGEX "/gpu/(device/|hip/prefix[.]h)|/run/test_session[.]h")
    foreach(header IN LISTS headers)
      # Two times in one unit: the guard has to work as well.
      file(WRITE "${LIST}.cpp" "#include \"${header}\"\n#include \"${header}\"\n")
      execute_process(COMMAND ${compile} -fsyntax-only ${roots} -include "${LIST}.all.h"
                              "${LIST}.cpp" RESULT_VARIABLE code ERROR_VARIABLE output)
      math(EXPR checked "${checked} + 1")
      if(code)
        math(EXPR failed "${failed} + 1")
        message("${header} does not compile alone:\n${output}")
      endif()
    endforeach()
  endforeach()
  file(REMOVE "${LIST}.cpp" "${LIST}.all.h" "${LIST}.all.h.gch")
  if(failed OR checked EQUAL 0)
    message(FATAL_ERROR "${failed} of ${checked} headers do not compile alone")
  endif()
  message("${checked} headers compile alone")
  return()
endif()

function(numatlas_check_headers)
  set(lines "")
  file(GLOB lists ${PROJECT_SOURCE_DIR}/src/*/CMakeLists.txt)
  foreach(list_file IN LISTS lists)
    cmake_path(GET list_file PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    if(NOT TARGET numatlas_${name})
      continue()
    endif()
    # The interface includes are followed through the linked libraries when the file is generated.
    set(includes "$<TARGET_PROPERTY:numatlas_${name},INCLUDE_DIRECTORIES>")
    string(APPEND lines "${folder}|$<JOIN:${includes},|>\n")
  endforeach()
  set(list ${PROJECT_BINARY_DIR}/headers.txt)
  file(GENERATE OUTPUT ${list} CONTENT "${lines}")
  add_test(NAME headers.self_contained
           COMMAND ${CMAKE_COMMAND} -DCOMPILER=${CMAKE_CXX_COMPILER} -DLIST=${list}
                   -P ${PROJECT_SOURCE_DIR}/cmake/header_check.cmake)
  # The sanitizers change nothing here; it takes minutes and rarely fails.
  set_tests_properties(headers.self_contained PROPERTIES LABELS "no-asan-ubsan;no-tsan;nightly"
                       TIMEOUT 900)
endfunction()
numatlas_check_headers()
