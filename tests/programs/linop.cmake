# Sparse matrices, and solvers. Each line: name, ranks, nodes, threads, rounds; then options.
test_program(linop linop.cpp)
test_program(solvers solvers.cpp)
set(linop_tests
  "alone 1 1 1 60"
  "threads 1 1 3 60"
  "pair 2 1 2 60"
  "three 3 1 1 60"
  "four 4 1 1 60"
  "two_nodes 2 2 1 40"
  "uneven 3 2 2 40"
  "four_nodes 4 4 1 30"
  "mprotect 2 2 1 30 TRACKING=mprotect"
  "chaos 3 2 1 20 CHAOS=5"
  "mpi 2 2 1 20 TRANSPORT=mpi")
set(seed 1)
foreach(line ${linop_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads rounds)
  math(EXPR seed "${seed} + 1")
  foreach(program linop solvers)
    set(test programs.${program}.${name})
    if(program STREQUAL solvers)
      math(EXPR rounds "${rounds} / 6")
    endif()
    hiroba_run_test(${test} ${ranks} ${nodes} ${program} --seed ${seed} --count ${rounds} MATCH "seed.*done .*")
    with(${test} TIMEOUT=30 ${words})
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT OMP_NUM_THREADS=${threads})
  endforeach()
endforeach()
foreach(program linop solvers)
  add_test(NAME programs.${program}.bits COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/blas_bits.py
    $<TARGET_FILE:hirobarun> $<TARGET_FILE:${program}> 6)
  set_tests_properties(programs.${program}.bits PROPERTIES TIMEOUT ${limit_of_tests})
endforeach()
test_program(sparse_misuse sparse_misuse.c)
foreach(program linop solvers sparse_misuse)
  target_link_libraries(${program} PRIVATE hiroba_sparse_shared)
endforeach()
add_test(NAME programs.sparse_misuse COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/sparse_misuse.py
  --build ${CMAKE_BINARY_DIR})
set_tests_properties(programs.sparse_misuse PROPERTIES TIMEOUT ${limit_of_tests})
hiroba_timing_tests(programs.sparse_misuse)
hiroba_longer_tests(programs.sparse_misuse)
