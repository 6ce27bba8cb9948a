# Tasks. Each line: name, ranks, nodes, threads, programs; then options.
test_program(random_tasks random_tasks.cpp)
test_program(tasks_features tasks_features.cpp)
test_program(tasks_misuse tasks_misuse.cpp)
test_program(tasks_failures tasks_failures.cpp)
test_program(task_graph task_graph.cpp)
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_link_libraries(tasks_features PRIVATE OpenMP::OpenMP_CXX)
foreach(program random_tasks tasks_features tasks_misuse tasks_failures task_graph task_mpi)
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
  hiroba_run_test(programs.tasks.${name} ${ranks} ${nodes} random_tasks --seeds ${programs})
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
set_tests_properties(programs.tasks.misuse PROPERTIES TIMEOUT ${limit_of_tests})
hiroba_timing_tests(programs.tasks.misuse)
hiroba_longer_tests(programs.tasks.misuse)

add_test(NAME programs.task_graph COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/task_graph.py
  $<TARGET_FILE:hirobarun> $<TARGET_FILE:task_graph>)
set_tests_properties(programs.task_graph PROPERTIES TIMEOUT ${limit_of_tests})

# Requests of MPI in tasks, over each MPI whose plug-in is there. Each line: ranks, nodes, threads.
foreach(mpi openmpi mpich)
  if(NOT TARGET hiroba_wire_mpi-${mpi})
    continue()
  endif()
  set(program task_mpi_${mpi})
  test_program(${program} task_mpi.cpp)
  target_link_libraries(${program} PRIVATE PkgConfig::WIRE_mpi-${mpi})
  target_compile_definitions(${program} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  foreach(line "1 1 2" "2 1 2" "2 2 1" "3 2 2" "4 4 1")
    separate_arguments(words UNIX_COMMAND ${line})
    list(POP_FRONT words ranks nodes threads)
    set(name programs.task_mpi.${mpi}.${ranks}-${nodes}-${threads})
    hiroba_run_test(${name} ${ranks} ${nodes} --threads ${threads} $<TARGET_FILE:${program}> exchange MATCH done)
    with(${name} TIMEOUT=30)
  endforeach()
  # Each line: case, words of the message. Without hirobarun, because Hiroba's transport mpi itself needs
  # MPI_THREAD_MULTIPLE; that of Open MPI is used then, too. And Open MPI reports no error of a message to oneself.
  set(task_mpi_misuse "outside outside of a task" "uninitialised before MPI is initialised" "negative negative number"
    "never (option timeout) in hiroba_taskwait")
  if(mpi STREQUAL mpich)
    add_test(NAME programs.task_mpi.mpich.alone COMMAND ${program} alone)
    set_tests_properties(programs.task_mpi.mpich.alone PROPERTIES TIMEOUT ${limit_of_tests}
      ENVIRONMENT OMP_NUM_THREADS=1)
    list(APPEND task_mpi_misuse "truncated that a task waits for has failed: "
      "funneled not initialised with MPI_THREAD_MULTIPLE, and 2 threads")
  else()
    list(APPEND task_mpi_misuse "funneled has initialised MPI with MPI_THREAD_FUNNELED")
  endif()
  foreach(line ${task_mpi_misuse})
    string(REGEX MATCH "^([a-z]+) (.*)" line ${line})
    set(name programs.task_mpi.${mpi}.${CMAKE_MATCH_1})
    add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/must_fail.sh ${CMAKE_MATCH_2}
      $<TARGET_FILE:${program}> ${CMAKE_MATCH_1})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${limit_of_tests} ENVIRONMENT "OMP_NUM_THREADS=2;HIROBA_TIMEOUT=2")
  endforeach()
endforeach()
