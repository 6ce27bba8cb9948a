# BLAS. Each line: name, ranks, nodes, threads, calls; then options.
test_program(blas blas.cpp)
test_program(blas_misuse blas_misuse.c)
set(blas_tests
  "alone 1 1 1 400"
  "threads 1 1 3 400"
  "pair 2 1 2 400"
  "three 3 1 1 300"
  "four 4 1 1 300"
  "two_nodes 2 2 1 200"
  "uneven 3 2 2 200"
  "three_nodes 3 3 1 150"
  "four_nodes 4 4 1 100"
  "small_cache 3 3 1 100 CACHE=512K"
  "mprotect 2 2 1 100 TRACKING=mprotect"
  "reproducible 3 2 2 200 REPRODUCIBLE=yes"
  "chaos 3 2 1 100 CHAOS=5"
  "check 2 2 1 60 CHECK=yes"
  "mpi 2 2 1 100 TRANSPORT=mpi")
set(seed 1)
foreach(line ${blas_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads calls)
  math(EXPR seed "${seed} + 1")
  hiroba_run_test(programs.blas.${name} ${ranks} ${nodes} blas --seed ${seed} --count ${calls} MATCH "done .*")
  with(programs.blas.${name} TIMEOUT=30 ${words})
  set_property(TEST programs.blas.${name} APPEND PROPERTY ENVIRONMENT OMP_NUM_THREADS=${threads})
endforeach()
add_test(NAME programs.blas.bits COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/blas_bits.py
  $<TARGET_FILE:hirobarun> $<TARGET_FILE:blas>)
set_tests_properties(programs.blas.bits PROPERTIES TIMEOUT ${limit_of_tests})
add_test(NAME programs.blas.misuse COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/blas_misuse.py
  --build ${CMAKE_BINARY_DIR})
set_tests_properties(programs.blas.misuse PROPERTIES TIMEOUT ${limit_of_tests})
hiroba_timing_tests(programs.blas.misuse)
hiroba_longer_tests(programs.blas.misuse)
# Netlib's own tests, compiled by Debian.
add_test(NAME programs.blas.netlib COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/netlib.py
  $<TARGET_FILE:hiroba_blas> /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/blas)
set_tests_properties(programs.blas.netlib PROPERTIES TIMEOUT ${limit_of_tests} SKIP_RETURN_CODE 77)
