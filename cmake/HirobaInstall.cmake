# What is shipped and under which names: libhiroba and libhiroba_sparse (shared and static), their headers, hirobarun,
# hiroba, and the files by which other builds find them (CMake's find_package(Hiroba), pkg-config). The build folder is
# laid out the same way, so it can be used in place: `eval "$(./dev env)"`.
include(CMakePackageConfigHelpers)

# The interface may change with each minor version before 1.0, and the file name says so.
set(HIROBA_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(hiroba hiroba_blas hiroba_sparse_shared PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${HIROBA_SOVERSION})
set_target_properties(hiroba_static PROPERTIES OUTPUT_NAME hiroba)
set_target_properties(hiroba_sparse_shared PROPERTIES OUTPUT_NAME hiroba_sparse EXPORT_NAME hiroba_sparse
  INSTALL_RPATH "$ORIGIN")  # where libhiroba is, whatever paths a program has
set_target_properties(hiroba_sparse_static PROPERTIES OUTPUT_NAME hiroba_sparse)

set(header_folder ${CMAKE_SOURCE_DIR}/include/hiroba)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${header_folder}/*.h ${header_folder}/*.hpp)
foreach(library hiroba hiroba_static)
  target_sources(${library} PUBLIC FILE_SET HEADERS BASE_DIRS ${header_folder} FILES ${headers})
  # <hiroba/sms.h> beside <sms.h>.
  target_include_directories(${library} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

install(TARGETS hiroba hiroba_static hiroba_sparse_shared hiroba_sparse_static hiroba_blas
  hirobarun hiroba_tool EXPORT HirobaTargets
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hiroba)

# Source of a module, which each compiler of Fortran has in a form of its own.
install(FILES ${header_folder}/hiroba_collective.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hiroba)

# find_package(Hiroba): Hiroba::hiroba, Hiroba::hiroba_sparse, both with _static, Hiroba::hirobarun.
set(package_dir lib/cmake/Hiroba)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/${package_dir}/HirobaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(cmake/HirobaConfig.cmake ${CMAKE_BINARY_DIR}/${package_dir}/HirobaConfig.cmake COPYONLY)
export(EXPORT HirobaTargets NAMESPACE Hiroba:: FILE ${CMAKE_BINARY_DIR}/${package_dir}/HirobaTargets.cmake)
install(EXPORT HirobaTargets NAMESPACE Hiroba:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Hiroba)
install(FILES ${CMAKE_BINARY_DIR}/${package_dir}/HirobaConfig.cmake
  ${CMAKE_BINARY_DIR}/${package_dir}/HirobaConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Hiroba)

# pkg-config: one template for each library, for the tree in place and for the installation. Paths are
# relative to the file, so an installed tree can be moved.
function(hiroba_pkgconfig library output libdir includedir)
  file(RELATIVE_PATH up /${libdir}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up ${up})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${library}.pc.in ${output} @ONLY)
endfunction()
foreach(library hiroba hiroba_sparse hiroba_openmp)
  hiroba_pkgconfig(${library} ${CMAKE_BINARY_DIR}/lib/pkgconfig/${library}.pc lib ${header_folder})
  hiroba_pkgconfig(${library} ${CMAKE_BINARY_DIR}/${library}-installed.pc ${CMAKE_INSTALL_LIBDIR}
    "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}/hiroba")
  install(FILES ${CMAKE_BINARY_DIR}/${library}-installed.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    RENAME ${library}.pc)
endforeach()

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/hiroba)
# `hiroba report`, `hiroba compare`, and option report.
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/hiroba/report ${CMAKE_BINARY_DIR}/share/hiroba/report SYMBOLIC)
install(DIRECTORY python/hiroba/report DESTINATION share/hiroba FILES_MATCHING PATTERN "*.py" PATTERN "*.html")
# How both write files.
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/hiroba/own_files.py ${CMAKE_BINARY_DIR}/share/hiroba/own_files.py SYMBOLIC)
install(FILES python/hiroba/own_files.py DESTINATION share/hiroba)
# `hiroba tune`, and the program that it measures by.
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/tools/tune ${CMAKE_BINARY_DIR}/share/hiroba/tune SYMBOLIC)
install(FILES tools/tune/run.py DESTINATION share/hiroba/tune)

# `hiroba overlap`: the benchmark, with its sources, which it compiles for each MPI that it finds.
set(overlap share/hiroba/overlap)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/bench/overlap ${CMAKE_BINARY_DIR}/${overlap} SYMBOLIC)
install(DIRECTORY bench/overlap DESTINATION share/hiroba FILES_MATCHING PATTERN "*.[chp]*" PATTERN README.md
  PATTERN "*_test.py" EXCLUDE PATTERN damaged.c EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES bench/harness.py DESTINATION share/hiroba)
