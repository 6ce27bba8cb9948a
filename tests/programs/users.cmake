# Tries what another user of the machine can do to a job; skipped where nobody may become another user.
test_program(patient patient.c)
add_test(NAME programs.other_users COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/other_users.py
  ${CMAKE_BINARY_DIR})
set_tests_properties(programs.other_users PROPERTIES TIMEOUT ${limit_of_tests} SKIP_RETURN_CODE 77)
