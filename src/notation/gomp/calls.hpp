// The program's calls of functions of the C library and the system that have to know of other ranks: the start replaces
// them in the program's table of imports (openmp/program/imports.hpp), so calls of other libraries stay as they are.
//
// These functions do what those of the C library do, but for code of the program (in_program).
#pragma once

#include <vector>

#include "openmp/openmp.hpp"

namespace hiroba::openmp {

// Ends the job if the program, or a library of its own, calls what libgomp would perform for the threads of one rank.
void check_functions();
// Each adds its calls. They are not replaced by functions of the same names, because UCX overwrites the beginnings of
// some.
void add_mapping_calls(std::vector<Import>& calls);
void add_file_calls(std::vector<Import>& calls);
void add_descriptor_calls(std::vector<Import>& calls);
void add_process_calls(std::vector<Import>& calls);
// Before variables are shared; and after that.
void keep_own_environment();
void show_environment();
// Returns the text in memory of the program; the same address for the same text.
char* shared_text(const char* text);
void add_fortran_calls(std::vector<Import>& calls);
void add_thread_calls(std::vector<Import>& calls);
void add_library_calls(std::vector<Import>& calls);
void add_directory_calls(std::vector<Import>& calls);
void add_result_calls(std::vector<Import>& calls);

template <typename Function>
void take(std::vector<Import>& calls, const char* name, Function* own) {
  calls.push_back({name, reinterpret_cast<void*>(own)});
}

}  // namespace hiroba::openmp
