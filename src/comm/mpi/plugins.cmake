# One plug-in for every MPI found: mpi/shim.c compiled by that MPI's own compiler wrapper, so that
# the program links no MPI and the same build runs under several. Sets NUMATLAS_MPI_NAMES.
set(NUMATLAS_MPI_COMPILERS "" CACHE STRING
    "MPI C compiler wrappers to build plug-ins with (a list); empty: those on the PATH")
set(numatlas_plugin_dir ${PROJECT_BINARY_DIR}/lib/numatlas/mpi)
file(MAKE_DIRECTORY ${numatlas_plugin_dir})
set(NUMATLAS_MPI_NAMES "")

# Compiles and, where that works, runs a small program: a wrapper without its MPI must not stop the
# build, and the library knows its name best (on a login node it may not run; then the file name
# must do). Result in a cache variable for each wrapper: the name, or "" for no MPI.
function(numatlas_name_of_mpi wrapper result)
  string(MAKE_C_IDENTIFIER "NUMATLAS_MPI_NAME_${wrapper}" known)
  if(NOT DEFINED ${known})
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/which_mpi)
    file(WRITE ${folder}/version.c "#include <mpi.h>\n#include <stdio.h>\n"
         "int main(void) {\n  char text[MPI_MAX_LIBRARY_VERSION_STRING];\n  int length;\n"
         "  MPI_Get_library_version(text, &length);\n  puts(text);\n  return 0;\n}\n")
    execute_process(COMMAND ${wrapper} ${folder}/version.c -o ${folder}/version
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    set(name "")
    if(NOT failed)
      execute_process(COMMAND ${folder}/version OUTPUT_VARIABLE text ERROR_QUIET TIMEOUT 20)
      if(text MATCHES "Open MPI")
        set(name openmpi)
      elseif(text MATCHES "CRAY MPICH")
        set(name cray)
      elseif(text MATCHES "Intel")
        set(name intel)
      elseif(text MATCHES "MVAPICH")
        set(name mvapich)
      elseif(text MATCHES "MPICH")
        set(name mpich)
      else()
        get_filename_component(name ${wrapper} NAME)
        string(REGEX REPLACE "^mpicc\\." "" name ${name})
      endif()
    endif()
    set(${known} "${name}" CACHE INTERNAL "MPI behind ${wrapper}")
  endif()
  set(${result} "${${known}}" PARENT_SCOPE)
endfunction()

set(wrappers ${NUMATLAS_MPI_COMPILERS})
if(NOT wrappers)
  set(candidates mpicc.openmpi mpicc.mpich mpicc)
  if(DEFINED ENV{CRAY_MPICH_DIR})
    list(APPEND candidates cc)  # Cray's wrapper has the compiler's own name
  endif()
  foreach(candidate IN LISTS candidates)
    find_program(NUMATLAS_WRAPPER_${candidate} ${candidate})
    mark_as_advanced(NUMATLAS_WRAPPER_${candidate})
    if(NUMATLAS_WRAPPER_${candidate})
      list(APPEND wrappers ${NUMATLAS_WRAPPER_${candidate}})
    endif()
  endforeach()
endif()

set(numatlas_plugins "")
foreach(wrapper IN LISTS wrappers)
  numatlas_name_of_mpi(${wrapper} name)
  if(NOT name)
    message(STATUS "MPI: ${wrapper} does not compile an MPI program; no plug-in")
    continue()
  endif()
  if(name IN_LIST NUMATLAS_MPI_NAMES)
    continue()  # mpicc is often another name of mpicc.openmpi
  endif()
  list(APPEND NUMATLAS_MPI_NAMES ${name})
  message(STATUS "MPI: plug-in ${name} by ${wrapper}")
  set(plugin ${numatlas_plugin_dir}/numatlas_mpi_${name}.so)
  add_custom_command(
    OUTPUT ${plugin}
    COMMAND ${wrapper} -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -s
            ${CMAKE_CURRENT_SOURCE_DIR}/mpi/shim.c -o ${plugin}
    DEPENDS mpi/shim.c mpi/shim.h
    COMMENT "MPI plug-in ${name}" VERBATIM)
  list(APPEND numatlas_plugins ${plugin})
  install(PROGRAMS ${plugin} DESTINATION ${CMAKE_INSTALL_LIBDIR}/numatlas/mpi COMPONENT ${name})
endforeach()
if(numatlas_plugins)
  add_custom_target(numatlas_mpi_plugins ALL DEPENDS ${numatlas_plugins})
  add_dependencies(numatlas_comm numatlas_mpi_plugins)
else()
  message(STATUS "MPI: none found; the program runs alone")
endif()
set_property(GLOBAL PROPERTY NUMATLAS_MPI_NAMES "${NUMATLAS_MPI_NAMES}")
