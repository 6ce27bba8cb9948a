# Reports of runs (option report), their page and their comparison.
test_program(report_cases report_cases.cpp)
set_source_files_properties(report_cases.cpp PROPERTIES COMPILE_OPTIONS "-fexceptions;-frtti")
foreach(line "report Planted" "report InTurn" "report Good" "report Files" "report_rules Rules"
    "report_page Page" "report_ends Ends"
    "report_running Traces" "report_running OpenMP" "report_running OpenMPTimes" "report_running Top"
    "report_notations Directives" "report_notations Coarrays" "report_notations Fortran" "report_notations Python"
    "report_notations PythonTimes")
  separate_arguments(words UNIX_COMMAND ${line})
  list(POP_FRONT words script part)
  string(TOLOWER ${part} name)
  add_test(NAME programs.report.${name} COMMAND ${Python3_EXECUTABLE} -B
    ${CMAKE_CURRENT_SOURCE_DIR}/${script}.py ${CMAKE_BINARY_DIR} ${part})
  set_tests_properties(programs.report.${name} PROPERTIES TIMEOUT ${limit_of_tests})
endforeach()
# The advice of these follows from times; that of the rules on recorded times is tested by programs.report.rules.
hiroba_tests_of_all(programs.report.inturn programs.report.openmptimes programs.report.pythontimes)
# All ranks, nodes and wires; and minutes of page faults, with ctest -C long.
foreach(part Rows GoodRows)
  string(TOLOWER ${part} name)
  add_test(NAME programs.report.${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/report.py
    ${CMAKE_BINARY_DIR} ${part})
  set_tests_properties(programs.report.${name} PROPERTIES TIMEOUT ${limit_of_tests})
  hiroba_tests_of_all(programs.report.${name})
endforeach()
add_test(NAME programs.report.long CONFIGURATIONS long COMMAND ${Python3_EXECUTABLE} -B
  ${CMAKE_CURRENT_SOURCE_DIR}/report.py ${CMAKE_BINARY_DIR} Long)
set_tests_properties(programs.report.long PROPERTIES TIMEOUT 3600 RUN_SERIAL ON)
hiroba_timing_tests(programs.report.planted programs.report.inturn programs.report.rows programs.report.good
  programs.report.goodrows programs.report.files programs.report.traces programs.report.openmptimes programs.report.top
  programs.report.directives programs.report.coarrays programs.report.fortran programs.report.pythontimes)
