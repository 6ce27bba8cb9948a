// Converts addresses of code to function, file and line, by libdw (elfutils). libdw is loaded at the first use, so
// programs need it only for lines; without it, or without -g, the result is the function and the file that holds it.
//
// Allocates and reads files, so a signal handler may call it only to end the process. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/shown.hpp"

namespace hiroba {

// Returns "main (stencil.c:41)", "main (in stencil)", or "0x401136 (in stencil)"; the text of a line of Python.
[[HIROBA_SHOWN]] std::string source_location(const void* code);

// Returns the location of the program's code that has called the library, in Python its line; "" if the program has
// returned from main.
[[HIROBA_SHOWN]] std::string calling_location();

// The same for the code of an executable whose process may have ended.
class CodeFile {
 public:
  // `bias`: what the process had added to the addresses in the file.
  CodeFile(const std::string& executable, uint64_t bias);
  ~CodeFile();
  std::string location(uint64_t code) const;
  bool has_line(uint64_t code) const;            // false without libdw, or debug information
  std::string variable(uint64_t address) const;  // "" if it is in none

 private:
  struct Session;
  std::unique_ptr<Session> session_;
  std::string file_;
};

// Prints the call stack of the caller on stderr, a line per frame of the program. Frames of the C and C++ libraries, of
// OpenMP and of this library are folded to a line that counts them. In a signal handler it begins at the interrupted
// frame, after the lines of Python.
void print_stack();

}  // namespace hiroba
