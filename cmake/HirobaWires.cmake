# Wires: what network libraries do for the network transport, each in plug-ins of its own, so that a machine without the
# library runs everything else. A plug-in whose library is not found here is left out, and hiroba info says so.
find_package(PkgConfig REQUIRED)

# hiroba_wire(NAME SUMMARY [MPI...]): the wire in transport/NAME. SUMMARY is for hiroba info and option transport. Over
# libraries that are built on an MPI there is a plug-in for each of these, NAME-MPI, else one, NAME.
function(hiroba_wire name summary)
  set(plugins ${ARGN})
  list(TRANSFORM plugins PREPEND ${name}-)
  if(NOT ARGN)
    set(plugins ${name})
  endif()
  list(JOIN ARGN "\", \"" mpis)
  set_property(GLOBAL APPEND PROPERTY HIROBA_TRANSPORTS ${name})
  set_property(GLOBAL APPEND PROPERTY HIROBA_WIRES ${plugins})
  set_property(GLOBAL APPEND_STRING PROPERTY HIROBA_WIRE_KINDS " \\\n  {\"${name}\", \"${summary}\", {\"${mpis}\"}},")
  set_property(GLOBAL APPEND_STRING PROPERTY HIROBA_WIRE_CHOICES "|${name}")
  set_property(GLOBAL APPEND_STRING PROPERTY HIROBA_WIRE_HELP "${name}: ${summary}. ")
  if(ARGN)
    set_property(GLOBAL APPEND PROPERTY HIROBA_WIRE_ON_MPI ${name})
  endif()
  add_subdirectory(transport/${name})
endfunction()

# For base/tables/wires.hpp, after the last hiroba_wire().
function(hiroba_wires_end)
  foreach(part KINDS CHOICES HELP ON_MPI)
    get_property(${part} GLOBAL PROPERTY HIROBA_WIRE_${part})
  endforeach()
  list(JOIN ON_MPI ", " ON_MPI)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/hiroba_wires.inc @ONLY CONTENT
"// Written by CMake from the lines hiroba_wire().
#define HIROBA_WIRE_CHOICES \"@CHOICES@\"
#define HIROBA_WIRE_HELP \"@HELP@\"
#define HIROBA_WIRES_ON_MPI \"@ON_MPI@\"
#define HIROBA_WIRE_KINDS @KINDS@
")
endfunction()

# hiroba_wire_plugin(PLUGIN SOURCES files... [PACKAGES names...]): one plug-in, in the wire's folder. The packages are
# pkg-config's.
function(hiroba_wire_plugin plugin)
  cmake_parse_arguments(W "" "" "SOURCES;PACKAGES" ${ARGN})
  set(target hiroba_wire_${plugin})
  if(W_PACKAGES)
    pkg_check_modules(WIRE_${plugin} IMPORTED_TARGET GLOBAL ${W_PACKAGES})
    if(NOT WIRE_${plugin}_FOUND)
      list(JOIN W_PACKAGES " and " packages)
      message(STATUS "Hiroba: no plug-in wire-${plugin}, because pkg-config does not find ${packages}")
      return()
    endif()
  endif()
  hiroba_some_objects(hiroba_base "text|limits|host_addresses" base)
  add_library(${target} MODULE ${W_SOURCES} ${base})
  target_link_libraries(${target} PRIVATE hiroba_flags $<$<BOOL:${W_PACKAGES}>:PkgConfig::WIRE_${plugin}>)
  target_link_options(${target} PRIVATE -Wl,--no-undefined)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME wire-${plugin}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/hiroba)
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hiroba)
endfunction()

# hiroba_wires_built(OUT): the plug-ins that are built here, such as ucx and mpi-mpich. For lists of tests.
function(hiroba_wires_built out)
  get_property(plugins GLOBAL PROPERTY HIROBA_WIRES)
  foreach(plugin ${plugins})
    if(TARGET hiroba_wire_${plugin})
      list(APPEND built ${plugin})
    endif()
  endforeach()
  set(${out} ${built} PARENT_SCOPE)
endfunction()

# hiroba_wire_settings(PLUGIN OUT): the options by which a job uses it: TRANSPORT=mpi MPI=mpich.
function(hiroba_wire_settings plugin out)
  string(REGEX REPLACE "-(.*)" ";MPI=\\1" settings TRANSPORT=${plugin})
  set(${out} ${settings} PARENT_SCOPE)
endfunction()

# hiroba_wire_lines(LIST WORDS [SUFFIX]): appends a line for each plug-in that is built here: its name with the suffix,
# the words, its options.
function(hiroba_wire_lines list words)
  hiroba_wires_built(wires)
  foreach(wire ${wires})
    hiroba_wire_settings(${wire} settings)
    list(JOIN settings " " settings)
    list(APPEND ${list} "${wire}${ARGN} ${words} ${settings}")
  endforeach()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
