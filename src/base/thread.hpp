// A thread of the runtime: it blocks all signals, which the program's threads handle, and has a name that debuggers and
// `top -H` show (15 characters). The caller joins it.
#pragma once

#include <pthread.h>

#include <string>

#include "base/status.hpp"

namespace hiroba {

// Where a progress thread runs (option progress).
struct Placement {
  enum class Kind { none, thread, spare, pin } kind = Kind::thread;
  int cpu = -1;  // pin
  static Status parse(const std::string& text, Placement& out);
  Status apply(pthread_t thread) const;
};

// That a rank computes with (hirobarun --threads, or OMP_NUM_THREADS).
int threads_per_rank();

Status start_thread(pthread_t& thread, const char* name, void* (*run)(void*), void* argument);

}  // namespace hiroba
