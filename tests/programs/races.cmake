# Option check on shared arrays and objects of the heap. A race ends in exit status 1 and a message that names array,
# element, ranks and lines.
test_program(races races.c)
set(race "race on (a|large|text): rank [0-9]+ writes [a-z]+.[0-9]+. (in|near) [a-z_]+ .races.c:[0-9]+., and rank "
  "[0-9]+ (reads|writes) it in [a-z_]+ .races.c:[0-9]+.*exit status of the job is 1")
string(CONCAT race ${race})
foreach(ranks 2 3)
  foreach(nodes 1 ${ranks})
    foreach(case slots neighbour stencil_without_barrier all_write forgotten_lock two_locks copy later)
      hiroba_run_test(programs.races.${case}.${ranks}.${nodes} ${ranks} ${nodes} races ${case})
      set_tests_properties(programs.races.${case}.${ranks}.${nodes} PROPERTIES PASS_REGULAR_EXPRESSION ${race})
      with(programs.races.${case}.${ranks}.${nodes} CHECK=yes TIMEOUT=10)
    endforeach()
    set(name programs.races.two_locks_often.${ranks}.${nodes})
    hiroba_run_test(${name} ${ranks} ${nodes} races two_locks_often)
    set_tests_properties(${name} PROPERTIES PASS_REGULAR_EXPRESSION ${race})
    with(${name} CHECK=yes TIMEOUT=120)
    # Of objects of the heap: how large, who has allocated them where.
    foreach(case freed_while_read freed_by_owner on_heap)
      set(verb writes)
      if(case MATCHES freed)
        set(verb frees)
      endif()
      hiroba_run_test(programs.races.${case}.${ranks}.${nodes} ${ranks} ${nodes} races ${case})
      set_tests_properties(programs.races.${case}.${ranks}.${nodes} PROPERTIES PASS_REGULAR_EXPRESSION
        "race on an object of 32 bytes allocated by rank 0 at [^ ]*races.c:[0-9]+: rank [0-9]+ ${verb} it (in|at) \
[^ ]*( .)?races.c:[0-9]+.*, and rank [0-9]+ (reads|writes) it in ${case} [(]races.c:[0-9]+[)]")
      with(programs.races.${case}.${ranks}.${nodes} CHECK=yes TIMEOUT=10)
    endforeach()
  endforeach()
endforeach()
foreach(nodes 1 2)
  hiroba_run_test(programs.races.members.2.${nodes} 2 ${nodes} races members)
  set_tests_properties(programs.races.members.2.${nodes} PROPERTIES PASS_REGULAR_EXPRESSION
    "race on a: rank [01] writes a.5. in members .*different bytes of one value.*exit status of the job is 1")
  with(programs.races.members.2.${nodes} CHECK=yes TIMEOUT=10)
endforeach()
foreach(ranks 1 2 3)
  foreach(nodes 1 2 3)
    if(nodes EQUAL 1 OR nodes EQUAL ranks)
      foreach(case members_declared barriers side_by_side lock hand_over by_flag queue over_read freed_in_order
          own_objects much_freed)
        hiroba_run_test(programs.races.${case}.${ranks}.${nodes} ${ranks} ${nodes} races ${case} MATCH done)
        set_tests_properties(programs.races.${case}.${ranks}.${nodes} PROPERTIES
          FAIL_REGULAR_EXPRESSION "found. the exit")
        with(programs.races.${case}.${ranks}.${nodes} CHECK=yes TIMEOUT=10)
      endforeach()
    endif()
  endforeach()
endforeach()
hiroba_run_test(programs.races.sampled 2 1 races barriers)
set_tests_properties(programs.races.sampled PROPERTIES
  PASS_REGULAR_EXPRESSION "check: no mistake found, but not all accesses were recorded.* give --check-time 1000")
with(programs.races.sampled CHECK=yes CHECK_TIME=0)
foreach(nodes 1 2)
  set(name programs.races.far_apart.2.${nodes})
  hiroba_run_test(${name} 2 ${nodes} races far_apart MATCH done)
  set_tests_properties(${name} PROPERTIES
    PASS_REGULAR_EXPRESSION "races on objects of the heap are not looked for any more"
    FAIL_REGULAR_EXPRESSION "race on")
  with(${name} CHECK=yes TIMEOUT=30)
endforeach()
