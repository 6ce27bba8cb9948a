# OpenMP programs on the threads of all ranks: built by hirobacc -fopenmp-nodes, with nothing of Hiroba in them.
if(NOT TARGET hiroba_openmp_shared)
  return()
endif()
find_program(GFORTRAN gfortran)
set(openmp_programs "openmp:openmp.c:cc" "openmp_constructs:openmp_constructs.c:cc"
  "openmp_cancellation:openmp_cancellation.c:cc"
  "openmp_streams:openmp_streams.cpp:g++" "openmp_regions:openmp_regions.c:cc" "openmp_tasks:openmp_tasks.cpp:g++"
  "openmp_task_settings:openmp_task_settings.cpp:g++" "openmp_waits:openmp_waits.c:cc"
  "openmp_flushes:openmp_flushes.c:cc"
  "openmp_cxx:openmp_cxx.cpp:g++" "openmp_posix:openmp_posix.c:cc"
  "openmp_pthreads:openmp_pthreads.c:cc" "openmp_system:openmp_system.c:cc" "openmp_cxx20:openmp_cxx20.cpp:g++"
  "openmp_large:openmp_large.c:cc:-mcmodel=medium" "openmp_quiet:openmp_quiet.c:cc"
  "openmp_habits:openmp_habits.c:cc")
if(GFORTRAN)
  list(APPEND openmp_programs "openmp_fortran:openmp_fortran.f90:gfortran" "openmp_units:openmp_units.f90:gfortran"
    "openmp_values:openmp_values.f90:gfortran")
endif()
foreach(line ${openmp_programs})
  string(REPLACE ":" ";" words ${line})
  list(POP_FRONT words name source compiler)
  if(compiler STREQUAL g++)
    list(APPEND words -std=c++20)
  endif()
  set(program ${CMAKE_BINARY_DIR}/tests/programs/${name})
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_BINARY_DIR}/bin/hirobacc --cc ${compiler} ${words} -O2 -fopenmp-nodes
      ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${program}
    DEPENDS ${source} hiroba_openmp_shared ${CMAKE_SOURCE_DIR}/python/hiroba/compiler/driver.py
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/tests/programs)
  add_custom_target(${name}_program ALL DEPENDS ${program})
endforeach()

# Each line: name, ranks, nodes, threads of a rank; then options.
foreach(line "one_node 2 1 1" "threads 2 1 2" "two_nodes 2 2 1" "three_nodes 3 3 2" "uneven 3 2 1"
    "ucx 2 2 2 TRANSPORT=ucx" "chaos 3 3 1 CHAOS=5" "small_cache 2 2 1 CACHE=1M")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads)
  foreach(program openmp openmp_constructs openmp_cancellation openmp_streams openmp_fortran)
    if(program STREQUAL openmp_fortran AND NOT GFORTRAN)
      continue()
    endif()
    set(arguments)
    if(program STREQUAL openmp)
      set(arguments word)
    endif()
    set(test programs.${program}.${name})
    hiroba_run_test(${test} ${ranks} ${nodes} ${CMAKE_BINARY_DIR}/tests/programs/${program} ${arguments}
      MATCH "^ok$")
    with(${test} TIMEOUT=30 ${words})
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OMP_NUM_THREADS=${threads}"
      OMP_CANCELLATION=true)
  endforeach()
endforeach()
# Tasks go to all ranks in a program that does not cancel.
foreach(line "one_node 2 1 2" "two_nodes 3 2 1")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads)
  set(test programs.openmp_task_settings.${name})
  hiroba_run_test(${test} ${ranks} ${nodes} ${CMAKE_BINARY_DIR}/tests/programs/openmp_task_settings MATCH "^ok$")
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OMP_NUM_THREADS=${threads}")
endforeach()
foreach(line "one_node 2 1 1" "four 4 1 1" "threads 2 1 2" "two_nodes 2 2 1" "three_nodes 3 3 2" "nodes_of_two 4 2 1"
    "ucx 3 2 1 TRANSPORT=ucx" "mpi 2 2 2 TRANSPORT=mpi" "chaos 3 3 1 CHAOS=5" "small_cache 2 2 1 CACHE=1M"
    "check 3 2 1 CHECK=yes")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads)
  set(test programs.openmp_tasks.${name})
  hiroba_run_test(${test} ${ranks} ${nodes} ${CMAKE_BINARY_DIR}/tests/programs/openmp_tasks 7
    MATCH "^ok$")
  with(${test} TIMEOUT=30 ${words})
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OMP_NUM_THREADS=${threads}")
endforeach()
# Threads that wait for each other, and share a core.
foreach(nodes 1 2)
  set(test programs.openmp_waits.nodes_${nodes})
  hiroba_run_test(${test} 2 ${nodes} ${CMAKE_BINARY_DIR}/tests/programs/openmp_waits MATCH "^ok$")
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OMP_NUM_THREADS=1")
endforeach()
foreach(transport shm ucx mpi)
  set(test programs.openmp_flushes.${transport})
  hiroba_run_test(${test} 2 2 ${CMAKE_BINARY_DIR}/tests/programs/openmp_flushes MATCH "^ok$")
  with(${test} TIMEOUT=30 TRANSPORT=${transport})
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OMP_NUM_THREADS=1")
endforeach()
# Name, ranks, nodes, seed, phases; then options.
foreach(line "two_nodes 2 2 1 12" "three_nodes 3 3 2 6" "nodes_of_two 4 2 3 6" "ucx 2 2 4 6 TRANSPORT=ucx"
    "chaos 3 3 5 6 CHAOS=5")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes seed phases)
  set(test programs.openmp_habits.${name})
  hiroba_run_test(${test} ${ranks} ${nodes} ${CMAKE_BINARY_DIR}/tests/programs/openmp_habits ${seed} ${phases}
    MATCH "^ok$")
  with(${test} TIMEOUT=30 ${words})
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OMP_NUM_THREADS=1")
endforeach()
# What programs use of the libraries of C and C++, and of POSIX.
foreach(line "one_node 2 1 2" "two_nodes 2 2 1" "three_nodes 3 3 2" "ucx 2 2 1 TRANSPORT=ucx" "mpi 3 2 1 TRANSPORT=mpi")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads)
  foreach(program openmp_cxx openmp_cxx20 openmp_posix openmp_pthreads openmp_system openmp_units openmp_values
      openmp_large openmp_quiet)
    if(NOT TARGET ${program}_program)
      continue()
    endif()
    set(test programs.${program}.${name})
    hiroba_run_test(${test} ${ranks} ${nodes} ${CMAKE_BINARY_DIR}/tests/programs/${program} MATCH "^ok$")
    with(${test} TIMEOUT=30 ${words})
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OMP_NUM_THREADS=${threads}")
  endforeach()
endforeach()
# Option check closes pages, which calls of the system need open.
foreach(line "openmp_posix" "openmp_units" "openmp_system without_timers" "openmp_cxx20 in_part" "openmp_values")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words program)
  if(TARGET ${program}_program)
    set(test programs.${program}.check)
    hiroba_run_test(${test} 2 2 ${CMAKE_BINARY_DIR}/tests/programs/${program} ${words} MATCH "^ok$")
    with(${test} TIMEOUT=30 CHECK=yes)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OMP_NUM_THREADS=1")
  endif()
endforeach()
# Without hirobarun they are OpenMP programs.
foreach(line "openmp word" "openmp_constructs" "openmp_cancellation" "openmp_streams" "openmp_fortran"
    "openmp_tasks 7" "openmp_task_settings" "openmp_waits" "openmp_flushes" "openmp_cxx" "openmp_posix"
    "openmp_pthreads" "openmp_units" "openmp_system" "openmp_cxx20" "openmp_values" "openmp_large" "openmp_quiet")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words program)
  if(TARGET ${program}_program)
    add_test(NAME programs.${program}.alone COMMAND ${CMAKE_BINARY_DIR}/tests/programs/${program} ${words})
    set_tests_properties(programs.${program}.alone PROPERTIES PASS_REGULAR_EXPRESSION "^ok" TIMEOUT ${limit_of_tests}
      ENVIRONMENT "OMP_NUM_THREADS=2;OMP_CANCELLATION=true")
  endif()
endforeach()
foreach(part misuse races libraries preprocessed)
  add_test(NAME programs.openmp.${part} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/openmp_${part}.py
    $<TARGET_FILE:hirobarun> ${CMAKE_BINARY_DIR}/bin/hirobacc ${CMAKE_BINARY_DIR}/tests/programs/openmp_${part})
  set_tests_properties(programs.openmp.${part} PROPERTIES TIMEOUT ${limit_of_tests})
endforeach()

# Pages that come again are learnt.
hiroba_wires_built(wires)
foreach(wire ${wires})
  string(REPLACE "-" ";--mpi;" words ${wire})
  add_test(NAME programs.openmp_regions.${wire} COMMAND Python3::Interpreter
    ${CMAKE_CURRENT_SOURCE_DIR}/openmp_regions.py $<TARGET_FILE:hirobarun>
    ${CMAKE_BINARY_DIR}/tests/programs/openmp_regions --transport ${words})
  set_tests_properties(programs.openmp_regions.${wire} PROPERTIES TIMEOUT ${limit_of_tests})
endforeach()
