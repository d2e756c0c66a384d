# One library a folder of src/. A library sees its own headers and those of the libraries it names,
# and no others: each folder has an include root of its own, with a link to the folder in it.

add_library(numatlas_options INTERFACE)
target_compile_options(numatlas_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Garbage is first collected at this many KiB: large sources compile in a tenth less time.
  target_compile_options(numatlas_options INTERFACE --param=ggc-min-heapsize=524288)
  # False alarms of gcc 12 and 13 at -O3 in std::string and nlohmann-json (GCC PR 105651, 105329).
  target_compile_options(numatlas_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    # False alarms about functions that return a part of one argument and take another, temporary one.
    target_compile_options(numatlas_options INTERFACE -Wno-dangling-reference)
  endif()
endif()
if(CMAKE_UNITY_BUILD)
  # A local name may be that of another file of the library, which is no fault of either.
  target_compile_options(numatlas_options INTERFACE -Wno-shadow)
endif()
if(NUMATLAS_WERROR)
  target_compile_options(numatlas_options INTERFACE -Werror)
endif()
if(NUMATLAS_SANITIZE)
  target_compile_options(numatlas_options INTERFACE -fsanitize=${NUMATLAS_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(numatlas_options INTERFACE -fsanitize=${NUMATLAS_SANITIZE})
  # gcc and clang each have a way of their own to tell this.
  foreach(sanitizer address thread)
    if(NUMATLAS_SANITIZE MATCHES "${sanitizer}")
      string(TOUPPER ${sanitizer} sanitizer)
      target_compile_definitions(numatlas_options INTERFACE NUMATLAS_${sanitizer}_SANITIZER)
    endif()
  endforeach()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    find_program(lld ld.lld)
    if(lld)  # the usual linker takes seconds a program
      target_link_options(numatlas_options INTERFACE -fuse-ld=lld)
    endif()
    if(NUMATLAS_SANITIZE_OWN_CODE)
      target_compile_options(numatlas_options INTERFACE
                             -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/own_code.txt
                             $<$<BOOL:$<TARGET_PROPERTY:numatlas_unit_test>>:-fno-sanitize=undefined>)
    endif()
  endif()
endif()
if(NUMATLAS_FUZZ)
  target_compile_options(numatlas_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(NUMATLAS_TESTS)  # base/test_data.h
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/test_data.cpp CONTENT
"#include <string>
namespace numatlas {
std::string test_data() { return \"${PROJECT_SOURCE_DIR}/tests\"; }
}  // namespace numatlas
")
  add_library(numatlas_test_data STATIC ${PROJECT_BINARY_DIR}/test_data.cpp)
  add_custom_target(threaded_tests)  # all that the thread sanitizer has something to see in; labelled threads
endif()

# Where a preset compiles many sources at once (CMAKE_UNITY_BUILD): headers take more time than sources, and what
# is compiled at once takes 1.5 GiB at most (scripts/lib.sh, compile_jobs).
set(CMAKE_UNITY_BUILD_BATCH_SIZE 40)

# numatlas_test_in_parts(NAME): a process for each test would take longer than the tests, so they share two.
# One test by itself: build/ci/src/NAME/test_NAME --gtest_filter=SUITE.CASE
function(numatlas_test_in_parts name)
  set(filter "*")
  if(NUMATLAS_SANITIZE)  # minutes, of code that smaller machines run too
    set(filter "-*.AThousandCpus*")
  endif()
  foreach(part 1 2)
    math(EXPR index "${part} - 1")
    add_test(NAME ${name}.${part}-of-2 COMMAND test_${name} --gtest_brief=1)
    set_tests_properties(${name}.${part}-of-2 PROPERTIES
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${index};GTEST_FILTER=${filter}")
  endforeach()
endfunction()

# numatlas_library(NAME [MEASURES] [THREADED_TESTS] [DEPENDS lib...] [TEST_DEPENDS lib...] [LINK external...]
#                  [EXCLUDE regex...])
# MEASURES: compiled with -O3 in a release; the rest with -O1, a third of the time.
# TEST_DEPENDS: what only its tests use.
# THREADED_TESTS: its tests start threads. The thread sanitizer has nothing to see in the others.
function(numatlas_library name)
  cmake_parse_arguments(ARG "MEASURES;THREADED_TESTS" "" "DEPENDS;TEST_DEPENDS;LINK;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  list(REMOVE_ITEM sources ${tests} "")
  if(NOT rapidcheck_library)
    list(FILTER tests EXCLUDE REGEX "_property_test.cpp$")
  endif()
  foreach(excluded IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${excluded}")
    list(FILTER tests EXCLUDE REGEX "${excluded}")
  endforeach()
  set(root ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${name} SYMBOLIC)
  add_library(numatlas_${name} STATIC ${sources})
  target_include_directories(numatlas_${name} PUBLIC ${root})
  if(ARG_MEASURES)
    target_compile_options(numatlas_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
  endif()
  # Unoptimised, these would take most of the tests' time.
  if(NUMATLAS_SANITIZE AND (ARG_MEASURES OR name MATCHES "^(base|machine)$"))
    target_compile_options(numatlas_${name} PRIVATE -O1)
  endif()
  list(TRANSFORM ARG_DEPENDS PREPEND numatlas_)
  list(TRANSFORM ARG_TEST_DEPENDS PREPEND numatlas_)
  target_link_libraries(numatlas_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LINK}
                        PRIVATE numatlas_options)
  if(NUMATLAS_SANITIZE STREQUAL "thread" AND NOT ARG_THREADED_TESTS)
    set(tests "")
  endif()
  if(NUMATLAS_TESTS AND tests)
    add_executable(test_${name} ${tests})
    set_target_properties(test_${name} PROPERTIES numatlas_unit_test ON)
    target_compile_options(test_${name} PRIVATE -O0 -U_FORTIFY_SOURCE)  # compiling takes longer than running
    target_link_libraries(test_${name} PRIVATE ${ARG_TEST_DEPENDS} numatlas_${name} numatlas_options numatlas_test_data
                          GTest::gtest_main GTest::gmock)
    if(rapidcheck_library)
      target_link_libraries(test_${name} PRIVATE ${rapidcheck_library})
    endif()
    numatlas_test_in_parts(${name})
    if(ARG_THREADED_TESTS)
      add_dependencies(threaded_tests test_${name})
      set_tests_properties(${name}.1-of-2 ${name}.2-of-2 PROPERTIES LABELS threads)
    endif()
  endif()
endfunction()
