# Sections on devices that are threads of this processor. Each line: name, ranks, nodes, devices; then options.
test_program(devices devices.c)
set(device_tests
  "alone 1 1 1"
  "pair 2 1 1"
  "three 3 1 3"
  "two_nodes 2 2 1"
  "uneven 3 2 2"
  "three_nodes 3 3 1 TRACKING=mprotect"
  "small 2 2 1 DEVICE_CACHE=1M"
  "chaos 1 1 1 CHAOS=3"
  "chaos_small 2 1 1 CHAOS=5 DEVICE_CACHE=1M"
  "chaos_nodes 3 2 2 CHAOS=7"
  "check 2 1 1 CHECK=yes"
  "check_nodes 2 2 1 CHECK=yes CHAOS=9")
foreach(line ${device_tests})
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes count)
  set(case all)
  if(line MATCHES DEVICE_CACHE)
    set(case bounded)
  endif()
  hiroba_run_test(programs.devices.${name} ${ranks} ${nodes} devices ${case} MATCH done SECONDS 60)
  with(programs.devices.${name} TIMEOUT=30 DEVICES=host:${count} ${words})
endforeach()
