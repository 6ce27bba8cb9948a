# Plug-ins over libraries that are archives and sit on an MPI: GASNet-EX and ARMCI-MPI. Included by src/CMakeLists.txt,
# which has hiroba_wire().

# Whether an archive can go into a shared library, as a plug-in is one.
function(hiroba_is_pic archive out)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -shared -o ${CMAKE_BINARY_DIR}/CMakeFiles/pic-trial.so
    -Wl,--whole-archive ${archive} -Wl,--no-whole-archive RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

# GASNet-EX, any conduit whose processes an MPI can start; with GASNET_SEGMENT_EVERYTHING it reaches Hiroba's memory by
# itself (--enable-segment-everything, conduit mpi), else it moves messages.
set(HIROBA_GASNET "" CACHE PATH "Where GASNet-EX is installed, if pkg-config does not find it by itself")
set(HIROBA_GASNET_CONDUIT mpi CACHE STRING "The conduit of GASNet-EX to use")
function(hiroba_gasnet_wire)
  set(package gasnet-${HIROBA_GASNET_CONDUIT}-parsync)
  if(NOT "${HIROBA_GASNET}" STREQUAL "${HIROBA_GASNET_SEEN}")  # else what was found before stays
    get_cmake_property(cached CACHE_VARIABLES)
    list(FILTER cached INCLUDE REGEX "^(pkgcfg_lib_|__pkg_config_checked_)?(WIRE_gasnet|GASNET)")
    foreach(name ${cached})
      unset(${name} CACHE)
    endforeach()
    set(HIROBA_GASNET_SEEN "${HIROBA_GASNET}" CACHE INTERNAL "")
  endif()
  if(HIROBA_GASNET)
    set(ENV{PKG_CONFIG_PATH} "${HIROBA_GASNET}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
  endif()
  pkg_check_modules(GASNET QUIET ${package})
  if(NOT GASNET_FOUND)
    message(STATUS "Hiroba: no plug-in wire-gasnet, because pkg-config does not find ${package} (set HIROBA_GASNET)")
    return()
  endif()
  find_library(archive gasnet-${HIROBA_GASNET_CONDUIT}-parsync PATHS ${GASNET_LIBRARY_DIRS} NO_DEFAULT_PATH NO_CACHE)
  hiroba_is_pic(${archive} pic)
  if(NOT pic)
    message(STATUS "Hiroba: no plug-in wire-gasnet, because ${archive} cannot go into a shared library; build "
      "GASNet-EX with CFLAGS=-fPIC CXXFLAGS=-fPIC MPI_CFLAGS=-fPIC")
    return()
  endif()
  # Which MPI it sits on: what its linker would add.
  pkg_get_variable(linker ${package} GASNET_LD)
  separate_arguments(linker)
  execute_process(COMMAND ${linker} -show OUTPUT_VARIABLE words ERROR_QUIET)
  if(words MATCHES "-lmpich")
    set(mpi mpich)
  elseif(words MATCHES "-lmpi")
    set(mpi openmpi)
  else()
    message(STATUS "Hiroba: no plug-in wire-gasnet, because ${package} is linked by '${linker}', which is neither Open "
      "MPI's nor MPICH's")
    return()
  endif()
  hiroba_wire(gasnet-${mpi} ${package} transport/gasnet/gasnet.cpp transport/mpi/session.cpp)
  target_link_libraries(hiroba_wire_gasnet-${mpi} PRIVATE PkgConfig::WIRE_mpi-${mpi})
  # Its advice to the optimiser is for its own code, and CMake would tear it apart.
  set_target_properties(PkgConfig::WIRE_gasnet-${mpi} PROPERTIES
    INTERFACE_COMPILE_OPTIONS "-D_GNU_SOURCE=1;-DGASNET_PARSYNC;-D_REENTRANT")
endfunction()
hiroba_gasnet_wire()

# ARMCI-MPI on MPICH. On Open MPI 4.1 one-sided operations fail. Debian's archive is nearly position-independent: but
# for two variables of the C library, which the wire has itself.
find_library(HIROBA_ARMCI_MPICH libarmci-mpich.a)
find_path(HIROBA_ARMCI_INCLUDE armci.h)
if(NOT HIROBA_ARMCI_MPICH OR NOT HIROBA_ARMCI_INCLUDE OR NOT TARGET hiroba_wire_mpi-mpich)
  message(STATUS "Hiroba: no plug-in wire-armci, because there is no libarmci-mpich.a, armci.h, or MPICH")
else()
  hiroba_wire(armci-mpich mpich transport/armci/armci.cpp transport/mpi/mpi.cpp transport/mpi/session.cpp)
  target_include_directories(hiroba_wire_armci-mpich SYSTEM PRIVATE ${HIROBA_ARMCI_INCLUDE})
  target_link_libraries(hiroba_wire_armci-mpich PRIVATE ${HIROBA_ARMCI_MPICH})
  target_link_options(hiroba_wire_armci-mpich PRIVATE -Wl,-Bsymbolic
    -Wl,--wrap=stderr,--wrap=stdout,--wrap=MPI_Alloc_mem,--wrap=MPI_Free_mem)
endif()
