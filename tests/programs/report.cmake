# Reports of runs (option report), their page and their comparison.
test_program(report_cases report_cases.cpp)
set_source_files_properties(report_cases.cpp PROPERTIES COMPILE_OPTIONS "-fexceptions;-frtti")
foreach(part Planted Good Files Page)
  string(TOLOWER ${part} name)
  add_test(NAME programs.report.${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/report.py
    ${CMAKE_BINARY_DIR} ${part})
  set_tests_properties(programs.report.${name} PROPERTIES TIMEOUT 300)
endforeach()
hiroba_timing_tests(programs.report.planted programs.report.good programs.report.files)
