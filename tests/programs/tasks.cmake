# Tasks. Each line: name, ranks, nodes, threads, programs; then options.
test_program(random_tasks random_tasks.cpp)
test_program(tasks_features tasks_features.cpp)
test_program(tasks_misuse tasks_misuse.cpp)
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_link_libraries(tasks_features PRIVATE OpenMP::OpenMP_CXX)
foreach(program random_tasks tasks_features tasks_misuse)
  set_source_files_properties(${program}.cpp PROPERTIES COMPILE_OPTIONS "-fexceptions;-frtti")
endforeach()
set(task_tests
  "alone 1 1 1 200"
  "threads 1 1 3 300"
  "one_node 4 1 1 200"
  "one_node_threads 3 1 2 200"
  "two_nodes 2 2 1 100"
  "uneven 4 3 2 60"
  "mprotect 3 2 2 60 TRACKING=mprotect"
  "untracked 3 3 1 60 TRACKING=uffd CACHE=1M"
  "chaos 3 2 2 40 CHAOS=7"
  "narrow 3 1 2 60 TASK_WINDOW=64"
  "check 3 1 2 20 CHECK=yes"
  "check_nodes 2 2 1 15 CHECK=yes"
  "check_alone 1 1 2 20 CHECK=yes"
  "check_four 4 2 1 10 CHECK=yes"
  "ucx 3 3 2 15 TRANSPORT=ucx"
  "ucx_pairs 4 2 1 15 TRANSPORT=ucx"
  "mpi 2 2 2 15 TRANSPORT=mpi"
  "mpi_chaos 3 2 1 15 TRANSPORT=mpi CHAOS=3")
foreach(line ${task_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads programs)
  hiroba_run_test(programs.tasks.${name} ${ranks} ${nodes} random_tasks --seeds ${programs} SECONDS 60)
  with(programs.tasks.${name} TIMEOUT=30 ${words})
  set_property(TEST programs.tasks.${name} APPEND PROPERTY ENVIRONMENT OMP_NUM_THREADS=${threads})
endforeach()

# Each line: ranks, nodes, threads; transport.
foreach(line "1 1 1" "1 1 3" "2 1 1" "3 1 2" "4 2 1" "3 3 2" "3 3 1 mpi" "2 2 2 ucx")
  separate_arguments(words UNIX_COMMAND ${line})
  string(REPLACE " " "-" name "programs.tasks.features.${line}")
  list(POP_FRONT words ranks nodes threads)
  hiroba_run_test(${name} ${ranks} ${nodes} tasks_features MATCH ok)
  with(${name} TIMEOUT=15)
  if(words)
    with(${name} TRANSPORT=${words})
  endif()
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT OMP_NUM_THREADS=${threads})
  if(words)
    continue()
  endif()
  set(name ${name}.check)
  hiroba_run_test(${name} ${ranks} ${nodes} tasks_features MATCH ok)
  with(${name} TIMEOUT=15 CHECK=yes)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT OMP_NUM_THREADS=${threads})
endforeach()

add_test(NAME programs.tasks.misuse COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tasks_misuse.py
  --build ${CMAKE_BINARY_DIR})
set_tests_properties(programs.tasks.misuse PROPERTIES TIMEOUT 120)
