# What is merged as a whole, what is counted, and how jobs end; over every wire.
# Values that ranks store to one element at a time. Each line: name, ranks, nodes; then options.
test_program(whole_values whole_values.c)
set(whole_values_tests "one_node 3 1" "two_nodes 2 2" "three_nodes 3 3 TWIN=fetch" "shared 4 2 CHAOS=3"
  "mprotect 3 3 TRACKING=mprotect")
hiroba_wire_lines(whole_values_tests "3 3")
foreach(line ${whole_values_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes)
  hiroba_run_test(programs.whole_values.${name} ${ranks} ${nodes} whole_values MATCH whole)
  with(programs.whole_values.${name} TIMEOUT=30 ${words})
endforeach()

# Option stats: arrays that were freed, and a program that exits with another status.
test_program(stats stats.c)
find_program(valgrind valgrind)
if(valgrind AND NOT HIROBA_SANITIZE)  # the command of docs/when-something-is-wrong.md
  add_test(NAME programs.valgrind COMMAND $<TARGET_FILE:hirobarun> -n 2 --space 1G ${valgrind} -q --error-exitcode=9
    $<TARGET_FILE:stats> freed)
  set_tests_properties(programs.valgrind PROPERTIES TIMEOUT ${limit_of_tests})
endif()
foreach(case "live" "freed freed" "early freed early")
  separate_arguments(words UNIX_COMMAND ${case})
  list(POP_FRONT words name)
  hiroba_run_test(programs.stats.${name} 2 2 stats ${words})
  with(programs.stats.${name} STATS=yes)
endforeach()
set_tests_properties(programs.stats.live PROPERTIES PASS_REGULAR_EXPRESSION
  "rank 0: [^\n]*stats.c:[0-9]+: 0 faults[^\n]*; 1 faults of writes to pages of this node")
set(freed_line "stats.c:[0-9]+: [1-9][0-9]* faults, 4 pages fetched")
set_tests_properties(programs.stats.freed programs.stats.early PROPERTIES PASS_REGULAR_EXPRESSION "${freed_line}")

# What may be left behind at the end of a job; each seed leaves other things. Each line: name, ranks, nodes; options.
test_program(left_behind left_behind.c)
set(left_behind_tests "alone 1 1" "one_node 4 1" "nodes 3 3" "check 3 2 CHECK=yes")
hiroba_wire_lines(left_behind_tests "3 2")
foreach(line ${left_behind_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes)
  foreach(seed 5 7)
    hiroba_run_test(programs.left_behind.${name}.${seed} ${ranks} ${nodes} left_behind --seed ${seed})
    with(programs.left_behind.${name}.${seed} TIMEOUT=30 ${words})
  endforeach()
endforeach()

# Calls that differ, over every wire: one message of the job.
test_program(mixed_calls mixed_calls.c)
foreach(wire ${wires})
  hiroba_wire_settings(${wire} settings)
  foreach(case barrier_or_not allocation_or_not)  # the second is detected by ranks of two nodes at once
    set(name programs.misuse.mixed_calls.${wire}.${case})
    add_test(NAME ${name} COMMAND ${must_fail} --once "collective calls differ"
      $<TARGET_FILE:hirobarun> -n 4 --nodes 2 $<TARGET_FILE:mixed_calls> ${case})
    with(${name} ${settings})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${limit_of_tests})
  endforeach()
endforeach()

# Pages that are fetched, and writes to home pages that are tracked, against what must be.
test_program(traffic traffic.c)
set(traffic_tests "two_nodes 2 2" "three_nodes 3 3 TWIN=fetch" "four_nodes 4 4" "shared 4 2" "uneven 5 3"
  "check 2 2 CHECK=yes")
hiroba_wire_lines(traffic_tests "3 3")
hiroba_wire_lines(traffic_tests "4 2" .shared)
hiroba_wire_lines(traffic_tests "2 2" .two)
hiroba_wire_lines(traffic_tests "4 4" .four)
hiroba_wire_lines(traffic_tests "6 3" .shared_three)
foreach(line ${traffic_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes)
  hiroba_run_test(programs.traffic.${name} ${ranks} ${nodes} traffic)
  with(programs.traffic.${name} TIMEOUT=30 ${words})
endforeach()

# Waits, beside processes that compute.
test_program(crowded crowded.c)
add_test(NAME programs.crowded COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/crowded.py
  ${CMAKE_BINARY_DIR})
set_tests_properties(programs.crowded PROPERTIES TIMEOUT ${limit_of_tests})
hiroba_timing_tests(programs.crowded)
