# Sections on devices that are threads of this processor. Each line: name, ranks, nodes, devices; then options.
test_program(devices devices.c device_kernels.c)
test_program(device_speed device_speed.c device_kernels.c)
set(device_tests
  "alone 1 1 1"
  "several 1 1 3"
  "chaos_several 2 2 2 CHAOS=13"
  "check_several 2 1 4 CHECK=yes"
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
  hiroba_run_test(programs.devices.${name} ${ranks} ${nodes} devices ${case} MATCH done)
  with(programs.devices.${name} TIMEOUT=30 DEVICES=host:${count} ${words})
endforeach()
# What they have moved, as --stats tells.
set(moved "devices: [0-9.]+ MiB preloaded, [0-9.]+ (KiB|B) found unchanged, [0-9.]+ MiB overloaded, ")
string(APPEND moved "[0-9.]+ (KiB|B) of these without buffers, [0-9.]+ KiB forwarded")
add_test(NAME programs.devices.stats COMMAND bash ${CMAKE_SOURCE_DIR}/cmake/expect.sh ".*rank 1: ${moved}.*"
  bash -c "exec \"$0\" \"$@\" 2>&1" $<TARGET_FILE:hirobarun> -n 2 --nodes 2 --devices host:2 --stats
  $<TARGET_FILE:devices> all)
set_tests_properties(programs.devices.stats PROPERTIES TIMEOUT ${limit_of_tests})
# Tasks on them. Each line: name, ranks, nodes, threads; then options.
test_program(device_tasks device_tasks.cpp)
set_source_files_properties(device_tasks.cpp PROPERTIES COMPILE_OPTIONS "-fexceptions;-frtti")
foreach(line "alone 1 1 1" "threads 1 1 3" "pair 2 1 1" "two_nodes 2 2 2" "three 3 2 1 CHAOS=11" "check 2 1 1 CHECK=yes"
    "nodes 3 3 1 DEVICE_CACHE=256K" "check_nodes 2 2 1 CHECK=yes CHAOS=13")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name ranks nodes threads)
  hiroba_run_test(programs.devices.tasks.${name} ${ranks} ${nodes} device_tasks MATCH done)
  with(programs.devices.tasks.${name} TIMEOUT=30 DEVICES=host:2 ${words})
  set_property(TEST programs.devices.tasks.${name} APPEND PROPERTY ENVIRONMENT OMP_NUM_THREADS=${threads})
endforeach()
if(NOT HIROBA_SANITIZE) # which make memcpy another function
  hiroba_run_test(programs.devices.speed 1 1 device_speed 64 60 0.9)
  with(programs.devices.speed DEVICES=host:1)
  hiroba_timing_tests(programs.devices.speed)
endif()

# Sections as arrays of NumPy, with the Python of ./dev, or else the machine's.
find_program(python python3 HINTS ${CMAKE_SOURCE_DIR}/.venv/bin NO_CACHE REQUIRED)
execute_process(COMMAND ${python} -c "import numpy" RESULT_VARIABLE without_numpy ERROR_QUIET)
foreach(line "plain" "chaos CHAOS=5" "check CHECK=yes")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words name)
  if(NOT without_numpy EQUAL 0 OR HIROBA_SANITIZE) # which must be loaded first
    break()
  endif()
  hiroba_run_test(programs.devices.arrays.${name} 1 1 ${python} -B ${CMAKE_CURRENT_SOURCE_DIR}/device_arrays.py
    ${CMAKE_SOURCE_DIR}/python numpy MATCH done)
  with(programs.devices.arrays.${name} DEVICES=host:1 ${words})
  set_property(TEST programs.devices.arrays.${name} APPEND PROPERTY ENVIRONMENT
    LD_LIBRARY_PATH=$<TARGET_FILE_DIR:hiroba>)
endforeach()

# What tools/device-check takes to a machine with a GPU is complete.
if(without_numpy EQUAL 0 AND NOT HIROBA_SANITIZE)
  set(check "${python} -B ${CMAKE_SOURCE_DIR}/tools/device-check")
  set(pack ${CMAKE_CURRENT_BINARY_DIR}/device-check)
  add_test(NAME programs.devices.packed COMMAND bash -c "${check} --build ${CMAKE_BINARY_DIR} --pack ${pack} && \
    ${check} --packed ${pack} --devices host:1 --only units --only programs --only mistakes --only arrays \
    --only fdtd --only stencil27 --only power --out ${pack}/result.json")
  set_tests_properties(programs.devices.packed PROPERTIES TIMEOUT ${limit_of_tests})
endif()

# The same by the driver of NVIDIA, of which cuda_standin.c has the calls.
add_library(cuda_standin SHARED cuda_standin.c)
target_link_options(cuda_standin PRIVATE -Wl,-soname,libcuda.so.1)
target_link_libraries(cuda_standin PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(cuda_standin PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/cuda_standin)
foreach(line "1 1 1" "1 1 3" "2 1 2" "3 2 1")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words ranks nodes count)
  set(name programs.devices.cuda_standin.${ranks}.${nodes}.${count})
  hiroba_run_test(${name} ${ranks} ${nodes} devices all MATCH done)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT
    "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/tests/cuda_standin;HIROBA_DEVICES=cuda:${count};CUDA_STANDIN_DEVICES=${count}")
endforeach()

# And kernels of an application, which fdtd-same-standin runs.
if(HIROBA_NVCC)
  add_library(fdtd_standin MODULE fdtd_standin.cpp)
  target_compile_options(fdtd_standin PRIVATE -O2 -ffp-contract=off)
  set_target_properties(fdtd_standin PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/cuda_standin)
endif()

test_program(device_misuse device_misuse.c device_kernels.c)
add_test(NAME programs.devices.misuse COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/device_misuse.py
  --build ${CMAKE_BINARY_DIR})
set_tests_properties(programs.devices.misuse PROPERTIES TIMEOUT ${limit_of_tests})
hiroba_timing_tests(programs.devices.misuse)
hiroba_longer_tests(programs.devices.misuse)

# The same on devices of NVIDIA, where there are any; nvcc need not be where the programs run.
find_program(HIROBA_NVCC nvcc HINTS /usr/local/cuda/bin)
if(HIROBA_NVCC)
  foreach(program devices device_speed device_misuse)
    set(file ${CMAKE_BINARY_DIR}/tests/programs/${program}.cuda)
    add_custom_command(OUTPUT ${file}
      DEPENDS ${program}.c device_kernels.cu device_kernels.h ${CMAKE_SOURCE_DIR}/include/hiroba/device.h hiroba
      COMMAND ${HIROBA_NVCC} -O2 -std=c++17 -gencode arch=compute_90,code=sm_90
      -gencode arch=compute_80,code=compute_80 -I ${CMAKE_SOURCE_DIR}/include/hiroba
      ${CMAKE_CURRENT_SOURCE_DIR}/${program}.c ${CMAKE_CURRENT_SOURCE_DIR}/device_kernels.cu -o ${file}
      -L $<TARGET_FILE_DIR:hiroba> -lhiroba -Xlinker -rpath=$<TARGET_FILE_DIR:hiroba>)
    add_custom_target(${program}_cuda ALL DEPENDS ${file})
    if(program STREQUAL device_misuse)
      continue()  # tools/device-check runs it
    endif()
    set(arguments all)
    if(program STREQUAL device_speed)
      set(arguments 1024 15 0.9)
    endif()
    add_test(NAME programs.${program}.gpu COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.sh
      $<TARGET_FILE:hiroba_tool> $<TARGET_FILE:hirobarun> -n 1 --devices cuda:1 ${file} ${arguments})
    set_tests_properties(programs.${program}.gpu PROPERTIES TIMEOUT ${limit_of_tests} SKIP_RETURN_CODE 77)
  endforeach()
else()
  message(STATUS "no nvcc: kernels for devices of NVIDIA are not compiled")
endif()
