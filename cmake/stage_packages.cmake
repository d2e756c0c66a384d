# Run by CPack when the files of all packages are in their places: what a distribution asks of a package
# (compressed manual pages, copyright, changelog), and times that do not depend on when it was built.
file(GLOB pages ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/*.1)
foreach(page IN LISTS pages)
  execute_process(COMMAND gzip -9nf ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

file(READ ${CPACK_NUMATLAS_SOURCE_DIR}/LICENSE licence)
set(changes ${CPACK_TEMPORARY_DIRECTORY}/changes)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH where that is set
file(WRITE ${changes} "numatlas (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
     "  * See CHANGELOG.md of this version.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(package numatlas-${component})
  if(component STREQUAL "program")
    set(package numatlas)
  endif()
  set(folder ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share/doc/${package})
  file(MAKE_DIRECTORY ${folder})
  file(WRITE ${folder}/copyright
       "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
       "Upstream-Name: numatlas\n\nFiles: *\n")
  string(REGEX MATCH "Copyright [^\n]*" holder "${licence}")
  string(REGEX REPLACE "\n\n" "\n.\n" text "${licence}")
  string(REGEX REPLACE "\n" "\n " text "${text}")
  string(STRIP "${text}" text)
  file(APPEND ${folder}/copyright "Copyright: ${holder}\nLicense: Expat\n ${text}\n")
  execute_process(COMMAND gzip -9nc ${changes} OUTPUT_FILE ${folder}/changelog.gz
                  COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${folder}/LICENSE)  # `copyright` has its text
endforeach()
file(REMOVE ${changes})

if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} +
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
