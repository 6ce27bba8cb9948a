# Transactions against sequential oracles. Each line: name, ranks, nodes, transactions of a thread, threads, seed; then
# options.
test_program(transactions transactions.cpp)
set_source_files_properties(transactions.cpp PROPERTIES COMPILE_OPTIONS "-fexceptions;-frtti")
foreach(line
    "alone 1 1 5000 3 1"
    "pair 2 1 5000 2 2"
    "four 4 1 1000 1 3 TRANSACTION_STRIPE=4096"
    "narrow 3 1 1000 1 4 TRANSACTION_STRIPE=16 TRANSACTION_RETRIES=0"
    "few_retries 2 1 1000 2 5 TRANSACTION_RETRIES=1"
    "two_nodes 2 2 1000 2 6"
    "three_nodes 3 3 500 1 7"
    "uneven 4 3 500 1 8 TRANSACTION_STRIPE=16"
    "ucx 2 2 60 2 9 TRANSPORT=ucx"
    "ucx_uneven 3 2 60 1 10 TRANSPORT=ucx TRANSACTION_RETRIES=2"
    "mpi 2 2 20 1 11 TRANSPORT=mpi"
    "chaos 2 2 200 1 12 CHAOS=5"
    "chaos_ucx 2 2 20 1 13 CHAOS=7 TRANSPORT=ucx"
    "check 2 1 300 1 14 CHECK=yes"
    "check_nodes 2 2 200 1 15 CHECK=yes")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes each threads seed)
  hiroba_run_test(programs.transactions.${name} ${ranks} ${nodes} transactions random ${each} ${threads} ${seed}
    MATCH done)
  with(programs.transactions.${name} TIMEOUT=30 ${words})
endforeach()
foreach(line "alone 1 1" "pair 2 1" "two_nodes 2 2" "three 3 2 CHAOS=3" "ucx 2 2 TRANSPORT=ucx"
    "forced 2 1 TRANSACTION_RETRIES=0" "forced_nodes 2 2 TRANSACTION_RETRIES=0" "ucx_three 3 3 TRANSPORT=ucx"
    "mpi 2 2 TRANSPORT=mpi" "check 2 1 CHECK=yes" "check_nodes 2 2 CHECK=yes")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes)
  hiroba_run_test(programs.transactions.features.${name} ${ranks} ${nodes} transactions features MATCH done)
  with(programs.transactions.features.${name} TIMEOUT=30 ${words})
endforeach()
# A rank's own plain stores and its transactions keep their order.
test_program(transactions_own transactions_own.c)
foreach(line "one_node 2 1" "two_nodes 2 2" "uneven 3 2" "ucx 2 2 TRANSPORT=ucx" "chaos 3 3 CHAOS=9"
    "check 2 2 CHECK=yes" "fetch 2 2 TRACKING=uffd-async TWIN=fetch")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes)
  hiroba_run_test(programs.transactions.own.${name} ${ranks} ${nodes} transactions_own MATCH "^ok$")
  with(programs.transactions.own.${name} TIMEOUT=30 ${words})
endforeach()
# GCC's own notation of transactions.
if(TARGET hiroba_tm AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT HIROBA_SANITIZE)
  test_program(itm itm.c)
  set(sound -fno-code-hoisting -fno-isolate-erroneous-paths-dereference)  # docs/transactions.md
  target_compile_options(itm PRIVATE -fgnu-tm ${sound} -Wno-error)
  target_link_libraries(itm PRIVATE hiroba_tm)
  add_test(NAME programs.transactions.itm COMMAND itm)
  test_program(itm_exceptions itm_exceptions.cpp)
  set_source_files_properties(itm_exceptions.cpp PROPERTIES
    COMPILE_OPTIONS "-fexceptions;-frtti;-fgnu-tm;${sound};-Wno-error")
  target_link_libraries(itm_exceptions PRIVATE hiroba_tm)
  add_test(NAME programs.transactions.itm_exceptions COMMAND itm_exceptions)
  set_tests_properties(programs.transactions.itm programs.transactions.itm_exceptions PROPERTIES
    TIMEOUT ${limit_of_tests} PASS_REGULAR_EXPRESSION done)
endif()
# Option check names both places where a transaction and another access race, and says nothing if transactions or
# barriers order the two. Between nodes a rank with transactions of its own counts as ordered.
foreach(line "plain_load 1" "plain_load 2" "plain_load_between 1" "plain_store 1" "plain_store 2" "handed_over 1"
    "handed_over 2")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words case nodes)
  set(test programs.transactions.races_with.${case}.${nodes})
  hiroba_run_test(${test} 2 ${nodes} transactions_misuse ${case})
  with(${test} CHECK=yes TIMEOUT=10)
  if(case STREQUAL handed_over)
    set_tests_properties(${test} PROPERTIES FAIL_REGULAR_EXPRESSION "check: ")
  else()
    set(first "rank [01] writes .* in (a transaction in add_one|plain_store) .transactions_misuse.c:[0-9]+.")
    set(second "rank [01] reads it in (a transaction in add_one|plain_load[a-z_]*) .transactions_misuse.c:[0-9]+.")
    set_tests_properties(${test} PROPERTIES PASS_REGULAR_EXPRESSION "race on .*: ${first}, and ${second}.*exit status")
  endif()
endforeach()
# Messages between nodes, where memory is reached by nothing else.
test_program(transactions_messages transactions_messages.c)
foreach(wire ucx mpi)
  hiroba_run_test(programs.transactions.messages.${wire} 3 3 transactions_messages MATCH ".*done")
  with(programs.transactions.messages.${wire} TIMEOUT=30 TRANSPORT=${wire})
endforeach()
# Anomalies. Each line: name, ranks, nodes, rounds; then options. 16 ranks are many for one word.
test_program(transactions_races transactions_races.c)
foreach(line "pair 2 1 100000" "two_nodes 2 2 50000" "narrow 3 1 50000 TRANSACTION_STRIPE=16" "check 2 1 200 CHECK=yes"
    "hot 16 1 500" "hot_nodes 16 4 200" "hot_alone 16 1 20 TRANSACTION_RETRIES=0" "ucx 2 2 10 TRANSPORT=ucx"
    "hot_ucx 16 2 2 TRANSPORT=ucx" "mpi 2 2 10 TRANSPORT=mpi" "chaos 3 3 20 CHAOS=9")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes each)
  hiroba_run_test(programs.transactions.races.${name} ${ranks} ${nodes} transactions_races ${each}
    MATCH "done: at most [0-9]+ aborts of one transaction")
  with(programs.transactions.races.${name} TIMEOUT=30 ${words})
endforeach()

# Histories of transactions, which history.py judges; with a library that has delays, and with one that has a bug, too.
set(planted ${CMAKE_CURRENT_BINARY_DIR}/planted)
file(GLOB floor CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/transaction/*.?pp)
set(planted_sources ${floor})
list(TRANSFORM planted_sources REPLACE ${CMAKE_SOURCE_DIR}/src ${planted})
add_custom_command(OUTPUT ${planted_sources} DEPENDS planted.py ${floor}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/planted.py ${CMAKE_SOURCE_DIR}/src/transaction
  ${planted}/transaction COMMAND ${CMAKE_COMMAND} -E touch_nocreate ${planted_sources})
list(FILTER planted_sources INCLUDE REGEX "cpp$")
add_library(hiroba_planted SHARED ${planted_sources} ${CMAKE_SOURCE_DIR}/src/notation/transaction/transaction.cpp
  $<FILTER:$<TARGET_OBJECTS:hiroba_notation>,EXCLUDE,transaction/transaction[.]cpp>)
get_property(floors GLOBAL PROPERTY floors_of_hiroba)
list(REMOVE_ITEM floors hiroba_transaction hiroba_notation)
target_include_directories(hiroba_planted BEFORE PRIVATE ${planted})
target_link_libraries(hiroba_planted PRIVATE ${floors} ${CMAKE_DL_LIBS})
set_target_properties(hiroba_planted PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/programs)
set_source_files_properties(transactions_history.cpp PROPERTIES COMPILE_OPTIONS "-fexceptions;-frtti;-O1")
foreach(program transactions_history transactions_misuse)
  file(GLOB source ${program}.c*)
  test_program(${program} ${source})
  add_executable(${program}_planted ${source})
  target_link_libraries(${program}_planted PRIVATE hiroba_planted hiroba_flags)
  set_target_properties(${program}_planted PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/programs)
endforeach()
add_test(NAME programs.transactions.judgements COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_SOURCE_DIR}/test_history.py)
add_test(NAME programs.transactions.planted COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/planted.py
  --check ${CMAKE_SOURCE_DIR}/src/transaction)
set_tests_properties(programs.transactions.judgements programs.transactions.planted PROPERTIES
  TIMEOUT ${limit_of_tests})
# Each line: name, the option --finds or none, ranks, nodes, threads, transactions; then options.
set(history_tests
  "pair none 2 1 2 2000"
  "two_nodes none 2 2 2 1000"
  "uneven none 4 3 1 500"
  "narrow none 3 1 1 500 TRANSACTION_STRIPE=16 TRANSACTION_RETRIES=1"
  "chaos none 3 3 1 200 CHAOS=4"
  "check none 2 1 1 100 CHECK=yes"
  "delays none 2 1 2 400"
  "delays_nodes none 2 2 2 300"
  "delays_ucx none 2 2 1 100 TRANSPORT=ucx")
foreach(bug no_validation one_look early_stores no_locks)
  list(APPEND history_tests "${bug} --finds 2 1 2 400" "${bug}_nodes --finds 2 2 1 400")
endforeach()
foreach(bug no_validation one_look)  # at the home of the data
  list(APPEND history_tests "${bug}_ucx --finds 2 2 2 120 TRANSPORT=ucx")
endforeach()
hiroba_wire_lines(history_tests "none 3 2 1 60")
foreach(line ${history_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name finds ranks nodes threads each)
  if(name MATCHES "ucx" AND NOT TARGET hiroba_wire_ucx)
    continue()
  endif()
  set(test programs.transactions.history.${name})
  set(program transactions_history)
  if(name MATCHES "^(delays|no_validation|one_look|early_stores|no_locks)")
    string(REGEX REPLACE "_(nodes|ucx)$" "" bug ${name})
    set(program transactions_history_planted)
    set(planted_settings PLANTED_DELAYS=yes PLANTED_BUGS=${bug})
    list(APPEND words PLUGINS=${CMAKE_BINARY_DIR}/lib/hiroba)
  else()
    set(planted_settings "")
  endif()
  if(finds STREQUAL none)
    set(finds "")
  endif()
  add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/history.py ${finds} --ranks ${ranks}
    --nodes ${nodes} --threads ${threads} --transactions ${each} $<TARGET_FILE:hirobarun> $<TARGET_FILE:${program}>)
  with(${test} TIMEOUT=30 ${words})
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT ${planted_settings})
  set_tests_properties(${test} PROPERTIES TIMEOUT ${limit_of_tests})
endforeach()
if(TARGET hiroba_wire_ucx)
  hiroba_tests_of_all(programs.transactions.history.one_look_ucx)  # takes several runs to find it
endif()

# Mistakes of programs, and ranks that are killed at each step of a commit.
add_test(NAME programs.transactions.misuse COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_SOURCE_DIR}/transactions_misuse.py --build ${CMAKE_BINARY_DIR})
set_tests_properties(programs.transactions.misuse PROPERTIES TIMEOUT ${limit_of_tests})
hiroba_timing_tests(programs.transactions.misuse)
hiroba_longer_tests(programs.transactions.misuse)
if(HIROBA_SANITIZE)
  set_tests_properties(programs.transactions.misuse PROPERTIES ENVIRONMENT SANITIZED=yes)
endif()
# All ranks write two words. Each line: name, nodes; then options. Longer with `ctest -C long`.
set(hot_tests "shm 1" "nodes 4")
hiroba_wire_lines(hot_tests "4")
foreach(line ${hot_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name nodes)
  foreach(seconds 3 30)
    set(test programs.transactions.two_words.${name})
    set(when "")
    if(seconds EQUAL 30)
      string(REPLACE two_words long.two_words test ${test})
      set(when CONFIGURATIONS long)
    endif()
    add_test(NAME ${test} ${when} COMMAND bash ${CMAKE_SOURCE_DIR}/cmake/expect.sh
      "done: .* aborted [0-9]+ times, [0-9]+ ran alone"
      $<TARGET_FILE:hirobarun> -n 16 --nodes ${nodes} $<TARGET_FILE:transactions_races> hot ${seconds})
    with(${test} TIMEOUT=60 ${words})
    set_tests_properties(${test} PROPERTIES TIMEOUT ${limit_of_tests})
  endforeach()
endforeach()
# Functions that run where the data is, and calls that are refused.
test_program(transactions_sent transactions_sent.c)
foreach(line "alone 1 1" "two_nodes 2 2" "ucx 2 2 TRANSPORT=ucx" "ucx_uneven 3 2 TRANSPORT=ucx" "mpi 2 2 TRANSPORT=mpi"
    "chaos_ucx 2 2 CHAOS=5 TRANSPORT=ucx")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes)
  hiroba_run_test(programs.transactions.sent.${name} ${ranks} ${nodes} transactions_sent count MATCH done)
  with(programs.transactions.sent.${name} TIMEOUT=30 ${words})
endforeach()
add_test(NAME programs.transactions.sent.misuse COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_SOURCE_DIR}/transactions_sent.py --build ${CMAKE_BINARY_DIR})
set_tests_properties(programs.transactions.sent.misuse PROPERTIES TIMEOUT ${limit_of_tests})
hiroba_timing_tests(programs.transactions.sent.misuse)
