// The functions that this library replaces: those of libgomp and of the C library that the dynamic linker finds after
// it. libgomp runs the threads of a rank, their tasks, and every region that a single rank runs.
#pragma once

#include <dlfcn.h>

// Returns the replaced function of the same name and type.
#define HIROBA_REAL(name)                                                                  \
  [] {                                                                                     \
    static const auto next = reinterpret_cast<decltype(&::name)>(dlsym(RTLD_NEXT, #name)); \
    return next;                                                                           \
  }()
