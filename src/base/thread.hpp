// A thread of the runtime: it blocks all signals, which the program's threads handle, and has a name that debuggers and
// `top -H` show (15 characters). The caller joins it.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

// Where a progress thread runs (option progress).
struct Placement {
  enum class Kind { none, thread, spare, pin } kind = Kind::thread;
  int cpu = -1;  // pin
  static Status parse(const std::string& text, Placement& out);
  Status apply(pthread_t thread) const;
};

// The CPUs of this rank: what its launcher has bound it to, or may use.
std::vector<int> cpus_of_rank();

// That a rank computes with (hirobarun --threads, or OMP_NUM_THREADS).
int threads_per_rank();

// The system's number of the calling thread; found once.
inline int this_thread() {
  thread_local const int number = gettid();
  return number;
}

// It may use all CPUs of the rank, also where OpenMP has bound the thread that starts it to one of them.
Status start_thread(pthread_t& thread, const char* name, void* (*run)(void*), void* argument);

}  // namespace hiroba
