# cmake -DPAGE=page.1.in -DOUTPUT=page.1 -DPROGRAM=... -DCOMMAND=... -DPROJECT_VERSION=... -P manual_page.cmake
# A manual page with what the program declares in the places of @OPTIONS@ and the like.
file(READ ${PAGE} text)
foreach(part SUMMARY SYNOPSIS DESCRIPTION COMMANDS OPTIONS)
  if(text MATCHES "@${part}@")
    string(TOLOWER ${part} word)
    execute_process(COMMAND ${PROGRAM} __declared ${word} ${COMMAND} OUTPUT_VARIABLE ${part}
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
string(TOUPPER "${COMMAND}" COMMAND_IN_CAPITALS)
configure_file(${PAGE} ${OUTPUT} @ONLY)
