# Limits are for hangs: what takes 20 s on a quiet machine takes minutes beside six processes that compute, because
# ranks that wait for each other wait for a processor each time, too.
set(limit_of_tests 1200)

# hiroba_run_test(NAME RANKS NODES PROGRAM ARGUMENTS... [MATCH PATTERN]): a ctest entry that runs a program (a target,
# or a path) under hirobarun. It passes if the job exits with 0, within limit_of_tests, and if what it prints matches
# PATTERN, an extended regular expression for the whole output.
function(hiroba_run_test name ranks nodes program)
  cmake_parse_arguments(T "" "MATCH" "" ${ARGN})
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set(command $<TARGET_FILE:hirobarun> -n ${ranks} --nodes ${nodes} ${program} ${T_UNPARSED_ARGUMENTS})
  if(DEFINED T_MATCH)
    set(command bash ${CMAKE_SOURCE_DIR}/cmake/expect.sh ${T_MATCH} ${command})
  endif()
  add_test(NAME ${name} COMMAND ${command})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit_of_tests})
endfunction()

# hiroba_timing_tests(NAMES...): tests that fail because something takes too long or too short. `./dev test` repeats one
# that fails once, alone, because the machine may have done something else; no other test is repeated.
function(hiroba_timing_tests)
  foreach(name ${ARGN})
    set_property(TEST ${name} APPEND PROPERTY LABELS timing)
  endforeach()
endfunction()

# hiroba_longer_tests(NAMES...): tests that try each case in one shape, or a third of many cases of one kind, where
# TESTS_ONCE is set, as in `./dev test`, and more elsewhere: `./dev test --rest` runs them again.
function(hiroba_longer_tests)
  foreach(name ${ARGN})
    set_property(TEST ${name} APPEND PROPERTY LABELS longer)
  endforeach()
endfunction()

# hiroba_tests_of_all(NAMES...): tests that only `./dev test --all` runs, although nothing else covers the same. Tests
# that are others in another shape need no word: tests/sets/covering.py finds them. What a test with label together does
# in fewer processes has the label apart (tests/sets/run.py).
function(hiroba_tests_of_all)
  foreach(name ${ARGN})
    set_property(TEST ${name} APPEND PROPERTY LABELS all)
  endforeach()
endfunction()
