// The line of a Python program that a thread executes. Python's own functions for crashes are called, which the process
// has if it is an interpreter: they need no lock of it and allocate nothing.
//
// Any thread, for its own line; also in a signal handler.
#pragma once

#include <cstdint>
#include <string>

namespace hiroba {

// Returns false if this thread is none of Python's. `place` is "heat.py:12 (step)", the innermost line that is not in
// an installed package or in a module of Python, if there is one, or else that is not in ours; "" at the end of the
// program.
bool python_location(std::string& place);

// Returns the same text for as long as the process lives, at one address for each line; null if there is no line, or no
// room for more lines. Allocates nothing.
const char* python_line();

// The same for an access to memory by the instruction at `code`. To look takes 50 us and more. So while the thread does
// not hold the interpreter's lock, and thus is in one call of C, accesses by one instruction that follow each other
// are taken for those of one line.
const char* python_line_of(const void* code, uint64_t address);

// Returns true for addresses that python_line() returns.
bool is_python_line(const void* address);

// Prints the thread's lines of Python on stderr, the innermost first.
void print_python_stack();

}  // namespace hiroba
