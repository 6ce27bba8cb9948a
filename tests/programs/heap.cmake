# The heap.
test_program(heap heap.c)
# Each line: name, ranks, nodes, threads, programs; then options.
set(heap_tests
  "alone 1 1 2 20"
  "one_node 4 1 2 10"
  "two_nodes 2 2 1 10"
  "three_nodes 3 3 2 5"
  "four_nodes 4 4 1 5"
  "uneven 4 3 1 5 TRACKING=uffd-async TWIN=fetch"
  "small_cache 2 2 2 5 CACHE=512K"
  "mprotect 3 2 1 5 TRACKING=mprotect"
  "chaos 3 2 2 3 CHAOS=7 CACHE=2M"
  "check 2 2 1 5 CHECK=yes"
  "check_node 3 1 2 5 CHECK=yes")
foreach(line ${heap_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads programs)
  hiroba_run_test(programs.heap.${name} ${ranks} ${nodes} heap --threads ${threads} --seeds ${programs})
  with(programs.heap.${name} TIMEOUT=30 ${words})
endforeach()

# Option heap-pack: the same programs, and which ranks' objects share pages.
set(heap_packed_tests
  "packed_node 4 1 2 10"
  "packed 4 2 2 5"
  "packed_uneven 5 2 1 5 CHAOS=3"
  "packed_alone 2 2 1 5")
foreach(line ${heap_packed_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads programs)
  hiroba_run_test(programs.heap.${name} ${ranks} ${nodes} heap --threads ${threads} --seeds ${programs} --packed 1)
  with(programs.heap.${name} TIMEOUT=30 HEAP_PACK=yes ${words})
endforeach()
test_program(heap_pack heap_pack.c)
foreach(shape "4 1 yes" "4 2 yes" "5 2 yes" "4 1 no" "4 2 no")
  separate_arguments(words UNIX_COMMAND ${shape})
  list(POP_FRONT words ranks nodes packs)
  set(name programs.heap_pack.${packs}.${ranks}_${nodes})
  hiroba_run_test(${name} ${ranks} ${nodes} heap_pack ${packs} MATCH right.*)
  with(${name} TIMEOUT=20 HEAP_PACK=${packs})
endforeach()

test_program(heap_cpp heap_cpp.cpp)
foreach(shape "1 1" "2 1" "3 3" "4 2")
  separate_arguments(words UNIX_COMMAND ${shape})
  list(GET words 0 ranks)
  list(GET words 1 nodes)
  hiroba_run_test(programs.heap_cpp.${ranks}_${nodes} ${ranks} ${nodes} heap_cpp MATCH "containers: right")
endforeach()

# Mistakes: each ends in one message. Each line: what is done, with --check or not; the message.
test_program(heap_misuse heap_misuse.c)
set(heap_mistakes
  "twice yes double free: rank 1 frees .* which is an object of 24 bytes allocated by rank 0 at .*, freed by rank 1"
  "overrun yes overrun: an object of 24 bytes .* written past its end, at byte 24"
  "after yes use after free: an object of 24 bytes .* freed by rank 0 .* at byte 3"
  "inside yes 8 bytes inside an object of 100 bytes"
  "none yes 2 objects of the heap, 124 B, were not freed"
  "negative no no object is so large"
  "product no the product is too large"
  "private no is not from the heap"
  "array no which sms_free gives back"
  "object no the address is of an object in the heap of rank 0; sms_mfree frees it"
  "rank no rank 77 does not exist"
  "alignment no not a power of two"
  "libc no sms_mfree frees it"
  "forked no sms_malloc in process [0-9]+, a child that this rank has made by fork"
  "exhausted no no room for 1000 B in the heap of rank 0, which may have 64 MiB .* rank 0 has taken 64 MiB")
foreach(line ${heap_mistakes})
  string(REGEX MATCH "^([a-z]+) ([a-z]+) (.*)$" whole ${line})
  set(mistake ${CMAKE_MATCH_1})
  set(check ${CMAKE_MATCH_2})
  set(message ${CMAKE_MATCH_3})
  add_test(NAME programs.heap_misuse.${mistake} COMMAND $<TARGET_FILE:hirobarun> -n 2 --nodes 2 --heap 64M
    --check ${check} $<TARGET_FILE:heap_misuse> --what ${mistake})
  set_tests_properties(programs.heap_misuse.${mistake} PROPERTIES TIMEOUT ${limit_of_tests}
    PASS_REGULAR_EXPRESSION "${message}")
endforeach()
test_program(failed_dlopen failed_dlopen.c)
target_link_libraries(failed_dlopen PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
hiroba_run_test(programs.failed_dlopen 2 1 failed_dlopen)
