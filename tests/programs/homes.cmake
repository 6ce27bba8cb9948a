# Homes that move.
test_program(homes homes.c)
# Each line: name, ranks, nodes, programs; then options.
set(homes_tests
  "alone 1 1 10"
  "one_node 3 1 10"
  "two_nodes 2 2 15"
  "three_nodes 3 3 12"
  "four_nodes 4 4 8"
  "uneven 4 3 8 TRACKING=uffd-async TWIN=fetch"
  "migrating 3 3 10 HOMES=migrating STATS=yes"
  "untracked 3 2 8 TRACKING=uffd"
  "small_cache 2 2 8 CACHE=256K"
  "mprotect 3 2 6 TRACKING=mprotect TWIN=write"
  "chaos 3 3 4 CHAOS=7 CACHE=1M"
  "check 2 2 6 CHECK=yes")
foreach(line ${homes_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes programs)
  hiroba_run_test(programs.homes.${name} ${ranks} ${nodes} homes --seeds ${programs})
  with(programs.homes.${name} TIMEOUT=30 ${words})
endforeach()

test_program(homes_follow homes_follow.c)
foreach(what migrate unchanged first again shared beside bound)
  foreach(shape "1 1" "2 2" "3 3" "4 2")
    separate_arguments(words UNIX_COMMAND ${shape})
    list(GET words 0 ranks)
    list(GET words 1 nodes)
    if(nodes GREATER 1 OR what STREQUAL migrate)
      hiroba_run_test(programs.homes_follow.${what}_${ranks}_${nodes} ${ranks} ${nodes} homes_follow --what ${what})
    endif()
  endforeach()
endforeach()

# What is said about it.
set(explained_migrate "128 pages have moved to ranks that write them, 0 of them not for the first time")
set(explained_stays "128 pages .512 KiB. have long .* alone, .*: 128 by rank 1; .* would gain from sms_redistribute")
set(explained_bound "pages were not moved, because at most 8192 runs of pages")
foreach(what migrate stays bound)
  add_test(NAME programs.homes_explained.${what} COMMAND $<TARGET_FILE:hirobarun> -n 2 --nodes 2
    --stats $<TARGET_FILE:homes_follow> --what ${what})
  set_tests_properties(programs.homes_explained.${what} PROPERTIES TIMEOUT ${limit_of_tests}
    PASS_REGULAR_EXPRESSION "${explained_${what}}")
endforeach()

# Mistakes: each ends in one message, which names the call once.
test_program(homes_misuse homes_misuse.c)
set(homes_mistakes
  "freed use after sms_free of array"
  "inside the address is 56 bytes inside array"
  "private is not in a shared array|collective calls differ"
  "many makes 99 pieces for 2 ranks"
  "dims dim has 1 entries and div has 2"
  "zero div.0. = 0 does not fit"
  "null div is NULL"
  "ranks ranks 1..2 do not exist"
  "heap has a part for each rank"
  "policy sms_set_homes with policy 7"
  "alone sms_redistribute.*sms_barrier|sms_barrier.*sms_redistribute"
  "differ sms_redistribute.*sms_redistribute")
foreach(line ${homes_mistakes})
  string(REGEX MATCH "^([a-z]+) (.*)$" whole ${line})
  set(mistake ${CMAKE_MATCH_1})
  set(message ${CMAKE_MATCH_2})
  add_test(NAME programs.homes_misuse.${mistake} COMMAND $<TARGET_FILE:hirobarun> -n 2 --nodes 2
    $<TARGET_FILE:homes_misuse> --what ${mistake})
  set_tests_properties(programs.homes_misuse.${mistake} PROPERTIES TIMEOUT ${limit_of_tests}
    PASS_REGULAR_EXPRESSION "${message}"
    FAIL_REGULAR_EXPRESSION "sms_redistribute[^:]*: sms_redistribute")  # the call twice
endforeach()
