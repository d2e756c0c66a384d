# headers.self_contained: every header of src/ compiles alone, with no other include root than those
# its library may use. A header that leans on what its users include first fails here. One whose .cpp
# includes it before all else is shown to be so by the build of that, unless it is a unity build.
#
# Included by the build, it registers the test. Run as a script (cmake -P) with COMPILER, LIST and UNITY
# it is the test: LIST has a line for each folder, FOLDER|INCLUDE_ROOT|INCLUDE_ROOT...
if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS "${LIST}" folders)
  set(checked 0)
  set(failed 0)
  set(built 0)
  foreach(line IN LISTS folders)
    string(REPLACE "|" ";" roots "${line}")
    list(POP_FRONT roots folder)
    list(REMOVE_DUPLICATES roots)
    list(TRANSFORM roots PREPEND "-I")
    file(GLOB_RECURSE headers "${folder}/*.h")
    foreach(header IN LISTS headers)
      cmake_path(REPLACE_EXTENSION header LAST_ONLY .cpp OUTPUT_VARIABLE source)
      set(first "")
      if(EXISTS "${source}")
        file(STRINGS "${source}" first REGEX "^#include" LIMIT_COUNT 1)
      endif()
      cmake_path(GET header FILENAME name)
      file(STRINGS "${header}" guard REGEX "^#pragma once" LIMIT_COUNT 1)
      if(NOT UNITY AND guard AND first MATCHES "\"([^\"]*/)?${name}\"")
        math(EXPR built "${built} + 1")
        continue()
      endif()
      # Two times in one unit: the guard has to work as well.
      file(WRITE "${LIST}.cpp" "#include \"${header}\"\n#include \"${header}\"\n")
      execute_process(COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Werror -fsyntax-only ${roots}
                              "${LIST}.cpp" RESULT_VARIABLE code ERROR_VARIABLE output)
      math(EXPR checked "${checked} + 1")
      if(code)
        math(EXPR failed "${failed} + 1")
        message("${header} does not compile alone:\n${output}")
      endif()
    endforeach()
  endforeach()
  file(REMOVE "${LIST}.cpp")
  if(failed OR checked EQUAL 0)
    message(FATAL_ERROR "${failed} of ${checked} headers do not compile alone")
  endif()
  message("${checked} headers compile alone, ${built} do as the first of their own .cpp")
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
                   -DUNITY=${CMAKE_UNITY_BUILD}
                   -P ${PROJECT_SOURCE_DIR}/cmake/header_check.cmake)
  # The sanitizers change nothing here.
  set_tests_properties(headers.self_contained PROPERTIES LABELS "no-asan-ubsan;no-tsan" TIMEOUT 900)
endfunction()
numatlas_check_headers()
