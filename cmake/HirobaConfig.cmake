# find_package(Hiroba): link Hiroba::hiroba (or Hiroba::hiroba_static, which needs the language CXX enabled, since a C++
# library is in it); start programs with Hiroba::hirobarun.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/HirobaTargets.cmake)
