// Addresses of code as function, file and line. By libdw (elfutils), loaded at the first use, so that programs need it
// only for lines; without it, or without -g, the function and the file that holds it.
//
// Allocates, and reads files: not for signal handlers, except the one that ends the process. Not thread-safe.
#pragma once

#include <string>

namespace hiroba {

// "main (stencil.c:41)", "main (in stencil)", or "0x401136 (in stencil)".
std::string source_location(const void* code);

// The same of the code of the program that has called the library; "" if it has returned from main.
std::string calling_location();

// The call stack of the caller on stderr, a line per frame of the program; frames of the C and C++ libraries, of OpenMP
// and of this library are folded to a line that counts them. In a signal handler it begins at the interrupted frame.
void print_stack();

}  // namespace hiroba
