# Eigenvalues. Each line: name, ranks, nodes, threads, rounds; then options.
test_program(eigen eigen.cpp)
set(eigen_tests
  "alone 1 1 1 10"
  "threads 1 1 3 10"
  "pair 2 1 1 10"
  "three 3 1 1 8"
  "four 4 1 1 6"
  "two_nodes 2 2 1 6"
  "uneven 3 2 2 6"
  "four_nodes 4 4 1 4"
  "chaos 3 2 1 3 CHAOS=5"
  "mpi 2 2 1 3 TRANSPORT=mpi")
foreach(line ${eigen_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads rounds)
  math(EXPR seed "${seed} + 1")
  hiroba_run_test(programs.eigen.${name} ${ranks} ${nodes} eigen --seed ${seed} --count ${rounds}
    MATCH "seed.*done .*")
  with(programs.eigen.${name} TIMEOUT=30 ${words})
  set_property(TEST programs.eigen.${name} APPEND PROPERTY ENVIRONMENT OMP_NUM_THREADS=${threads})
endforeach()
add_test(NAME programs.eigen.bits COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/blas_bits.py
  $<TARGET_FILE:hirobarun> $<TARGET_FILE:eigen> 3)
set_tests_properties(programs.eigen.bits PROPERTIES TIMEOUT ${limit_of_tests})
add_test(NAME programs.eigen.damaged COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/must_fail.sh "is the nearest"
  $<TARGET_FILE:hirobarun> -n 2 $<TARGET_FILE:eigen> --seed 1 --count 3 --damage 1)
set_tests_properties(programs.eigen.damaged PROPERTIES TIMEOUT ${limit_of_tests})
test_program(eigen_misuse eigen_misuse.c)
foreach(program eigen eigen_misuse)
  target_link_libraries(${program} PRIVATE hiroba_sparse_shared)
endforeach()
add_test(NAME programs.eigen_misuse COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/eigen_misuse.py
  --build ${CMAKE_BINARY_DIR})
set_tests_properties(programs.eigen_misuse PROPERTIES TIMEOUT ${limit_of_tests})
hiroba_timing_tests(programs.eigen_misuse)
hiroba_longer_tests(programs.eigen_misuse)
