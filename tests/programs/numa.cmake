# Placement on NUMA domains. Each line: name, ranks, nodes; then options.
test_program(numa numa.c)
set(numa_tests "alone 1 1" "pair 2 1" "three 3 1" "four 4 1" "two_nodes 2 2" "uneven 3 2" "four_nodes 4 2"
  "interleave 2 1 MEMORY=interleave" "small_pages 2 1 HUGE=no" "mprotect 3 3 TRACKING=mprotect" "check 2 1 CHECK=yes")
foreach(line ${numa_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes)
  hiroba_run_test(programs.numa.${name} ${ranks} ${nodes} numa MATCH "done: .*")
  with(programs.numa.${name} TIMEOUT=30 ${words})
endforeach()
test_program(seen_from_outside seen_from_outside.c)
foreach(ranks 1 2 4)
  hiroba_run_test(programs.numa.seen_from_outside.${ranks} ${ranks} 1 seen_from_outside $<TARGET_FILE:hiroba_tool>)
endforeach()
test_program(numa_misuse numa_misuse.c)
add_test(NAME programs.numa.misuse COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/numa_misuse.py
  --build ${CMAKE_BINARY_DIR})
set_tests_properties(programs.numa.misuse PROPERTIES TIMEOUT ${limit_of_tests})
hiroba_timing_tests(programs.numa.misuse)
hiroba_longer_tests(programs.numa.misuse)
add_library(numa_standin MODULE numa_standin.c)
target_link_libraries(numa_standin PRIVATE ${CMAKE_DL_LIBS})
add_test(NAME programs.numa.domains COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/numa_domains.py
  $<TARGET_FILE:hirobarun>
  $<TARGET_FILE:hiroba_tool> $<TARGET_FILE:numa> $<TARGET_FILE:numa_misuse> $<TARGET_FILE:numa_standin>)
set_tests_properties(programs.numa.domains PROPERTIES TIMEOUT ${limit_of_tests} SKIP_RETURN_CODE 77)
