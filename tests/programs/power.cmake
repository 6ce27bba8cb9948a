# Energy of jobs, on a tree of files and a library that stand for the kernel's and NVIDIA's.
test_program(power power.c)
test_program(power_tasks power_tasks.cpp)
set_source_files_properties(power_tasks.cpp PROPERTIES COMPILE_OPTIONS "-fexceptions;-frtti")
add_test(NAME programs.power COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/power.py ${CMAKE_BINARY_DIR})
set_tests_properties(programs.power PROPERTIES TIMEOUT 300)
hiroba_timing_tests(programs.power)
