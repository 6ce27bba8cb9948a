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
    MATCH done SECONDS 60)
  with(programs.transactions.${name} TIMEOUT=30 ${words})
endforeach()
foreach(line "alone 1 1" "pair 2 1" "two_nodes 2 2" "three 3 2 CHAOS=3" "ucx 2 2 TRANSPORT=ucx"
    "forced 2 1 TRANSACTION_RETRIES=0" "forced_nodes 2 2 TRANSACTION_RETRIES=0" "ucx_three 3 3 TRANSPORT=ucx"
    "mpi 2 2 TRANSPORT=mpi" "check 2 1 CHECK=yes" "check_nodes 2 2 CHECK=yes")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes)
  hiroba_run_test(programs.transactions.features.${name} ${ranks} ${nodes} transactions features MATCH done SECONDS 60)
  with(programs.transactions.features.${name} TIMEOUT=30 ${words})
endforeach()
# GCC's own notation of transactions.
if(TARGET hiroba_tm AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT HIROBA_SANITIZE)
  test_program(itm itm.c)
  target_compile_options(itm PRIVATE -fgnu-tm -Wno-error)
  target_link_libraries(itm PRIVATE hiroba_tm)
  add_test(NAME programs.transactions.itm COMMAND itm)
  set_tests_properties(programs.transactions.itm PROPERTIES TIMEOUT 60 PASS_REGULAR_EXPRESSION done)
endif()
test_program(transactions_misuse transactions_misuse.c)
add_test(NAME programs.transactions.misuse COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_SOURCE_DIR}/transactions_misuse.py --build ${CMAKE_BINARY_DIR})
set_tests_properties(programs.transactions.misuse PROPERTIES TIMEOUT 120)
hiroba_timing_tests(programs.transactions.misuse)
# Anomalies. Each line: name, ranks, nodes, rounds; then options. 16 ranks are many for one word.
test_program(transactions_races transactions_races.c)
foreach(line "pair 2 1 100000" "two_nodes 2 2 50000" "narrow 3 1 50000 TRANSACTION_STRIPE=16" "check 2 1 200 CHECK=yes"
    "hot 16 1 500" "hot_nodes 16 4 200" "hot_alone 16 1 20 TRANSACTION_RETRIES=0" "ucx 2 2 10 TRANSPORT=ucx"
    "hot_ucx 16 2 2 TRANSPORT=ucx" "mpi 2 2 10 TRANSPORT=mpi" "chaos 3 3 20 CHAOS=9")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes each)
  hiroba_run_test(programs.transactions.races.${name} ${ranks} ${nodes} transactions_races ${each}
    MATCH "done: at most [0-9]+ aborts of one transaction" SECONDS 60)
  with(programs.transactions.races.${name} TIMEOUT=30 ${words})
endforeach()
