# hirobacc, a Python program: the command bin/hirobacc, and lib/hiroba/python with what it imports. The parser,
# tree-sitter, comes from the Python that CMake finds, and is copied, so that hirobacc needs no environment to run.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
# Also what programs in Python import.
install(DIRECTORY python/hiroba DESTINATION ${CMAKE_INSTALL_LIBDIR}/hiroba/python PATTERN __pycache__ EXCLUDE)
set(HIROBACC_MODULES tree_sitter tree_sitter_c)
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys, os, tree_sitter, tree_sitter_c
print(os.path.dirname(tree_sitter.__path__[0]), sys._base_executable, sep=';')"
  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
set(HIROBA_HAVE_COMPILER FALSE)
if(NOT status EQUAL 0)
  message(STATUS "Hiroba: no hirobacc, because ${Python3_EXECUTABLE} lacks tree_sitter and tree_sitter_c (pip install "
    "tree-sitter tree-sitter-c)")
  return()
endif()
set(HIROBA_HAVE_COMPILER TRUE)
list(GET found 0 modules)
list(GET found 1 HIROBACC_PYTHON)

# In place: the package is used where its source is.
foreach(module ${HIROBACC_MODULES})
  file(COPY ${modules}/${module} DESTINATION ${CMAKE_BINARY_DIR}/lib/hiroba/python)
  install(DIRECTORY ${modules}/${module} DESTINATION ${CMAKE_INSTALL_LIBDIR}/hiroba/python
    PATTERN __pycache__ EXCLUDE)
endforeach()
set(HIROBACC_LIBRARY lib)
set(HIROBACC_SOURCE ${CMAKE_SOURCE_DIR})
configure_file(cmake/hirobacc.in ${CMAKE_BINARY_DIR}/bin/hirobacc @ONLY FILE_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(HIROBACC_LIBRARY ${CMAKE_INSTALL_LIBDIR})
set(HIROBACC_SOURCE "")
configure_file(cmake/hirobacc.in ${CMAKE_BINARY_DIR}/hirobacc-installed @ONLY)
install(PROGRAMS ${CMAKE_BINARY_DIR}/hirobacc-installed DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME hirobacc)
install(CODE "execute_process(COMMAND ${HIROBACC_PYTHON} -m compileall -q
  \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/hiroba/python)")
