// Finds the location of an access in the program: the instruction itself, or, if that is in the C library or in this
// one, the call that led there. Safe in a signal handler after learn_system_code().
#pragma once

#include <ucontext.h>

namespace hiroba {

struct CodePlace {
  const void* at;
  // False for functions of the C library that read more bytes than they are given, up to a whole vector (strlen).
  bool reads_exactly;
  bool of_program;  // false: in a thread of the C library or of this one
};

void learn_system_code();
CodePlace code_place(const ucontext_t& context);
// Returns the nearest caller that is neither in the C library nor in this one.
const void* calling_place();

}  // namespace hiroba
