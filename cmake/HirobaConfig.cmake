# find_package(Hiroba): link Hiroba::hiroba (or Hiroba::hiroba_static, which needs the language CXX enabled, since a C++
# library is in it), and before it Hiroba::hiroba_sparse (or Hiroba::hiroba_sparse_static) for sparse.h and eigen.h;
# start programs with Hiroba::hirobarun. hiroba_add_executable(NAME FILES...) is add_executable for
# programs in the notations of hirobacc.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/HirobaTargets.cmake)

function(hiroba_add_executable name)
  find_program(HIROBACC hirobacc HINTS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin REQUIRED)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE Hiroba::hiroba m)
  file(REAL_PATH ${HIROBACC} hirobacc)
  file(REAL_PATH ${CMAKE_C_COMPILER} compiler)
  if(NOT hirobacc STREQUAL compiler)
    set_target_properties(${name} PROPERTIES C_COMPILER_LAUNCHER ${HIROBACC})
  endif()
endfunction()
