// The line of a Python program that a thread executes. Python's own functions for crashes are called, which the process
// has if it is an interpreter: they need no lock of it and allocate nothing.
//
// Any thread, for its own line; also in a signal handler.
#pragma once

#include <string>

namespace hiroba {

// Returns false if this thread is none of Python's. `place` is "heat.py:12 (step)", the line outside our own package;
// "" at the end of the program.
bool python_location(std::string& place);

// Prints the thread's lines of Python on stderr, the innermost first.
void print_python_stack();

}  // namespace hiroba
