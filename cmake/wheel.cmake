# Where a wheel has what `cmake --install` puts below a prefix. The program lies in the package, as
# auditwheel sets the way to the libraries that it brings along from there; numatlas.launcher starts it.
set(inside numatlas/program)
set(CMAKE_INSTALL_BINDIR ${inside}/bin)
set(CMAKE_INSTALL_LIBDIR ${inside}/lib)
set(CMAKE_INSTALL_DATADIR ${inside}/share)
set(CMAKE_INSTALL_DOCDIR ${inside}/share/doc)
# Of the environment: `man` and the shells look there.
set(CMAKE_INSTALL_MANDIR ${SKBUILD_DATA_DIR}/share/man)
set(numatlas_completions_dir ${SKBUILD_DATA_DIR}/share)
