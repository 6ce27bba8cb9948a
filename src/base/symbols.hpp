// Addresses of code as people read them: function, file and line. By libdw (elfutils), loaded when it is first wanted,
// so that programs need it only to be told lines; without it, or without -g, the function and the file that holds it.
//
// Allocates, and reads files: not for signal handlers, but for the one that ends the process. Not thread-safe.
#pragma once

#include <string>

namespace hiroba {

// "main (stencil.c:41)", "main (in stencil)", or "0x401136 (in stencil)".
std::string source_location(const void* code);

// The call stack of the caller on stderr, a line per frame of the program; frames of the C and C++ libraries, of OpenMP
// and of this library are folded to a line that counts them. In a signal handler it begins where the signal came.
void print_stack();

}  // namespace hiroba
