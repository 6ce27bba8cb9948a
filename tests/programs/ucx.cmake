# Transport ucx: how many messages collective operations send, and strangers.
include(users.cmake)
if(NOT TARGET hiroba_wire_ucx)
  return()
endif()
foreach(ranks 2 4 8 16 32 64)
  hiroba_run_test(programs.ucx.scaling.${ranks} ${ranks} ${ranks} scaling)
  with(programs.ucx.scaling.${ranks} TRANSPORT=ucx TIMEOUT=30 SILENCE=0)
  # The model is that of a network without one-sided access, where an exchange counts puts instead of fencing them.
  set_property(TEST programs.ucx.scaling.${ranks} APPEND PROPERTY ENVIRONMENT "UCX_TLS=^posix,cma")
  if(ranks GREATER 16)
    hiroba_tests_of_all(programs.ucx.scaling.${ranks})
  endif()
endforeach()

add_executable(ucx_stranger ucx_stranger.c)
target_link_libraries(ucx_stranger PRIVATE PkgConfig::WIRE_ucx)
add_test(NAME programs.ucx.strangers COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/ucx_strangers.py
  ${CMAKE_BINARY_DIR})
set_tests_properties(programs.ucx.strangers PROPERTIES TIMEOUT ${limit_of_tests})
