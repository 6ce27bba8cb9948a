// A thread of the runtime blocks all signals, which the program's threads handle, and has a name that debuggers and
// `top -H` show (15 characters). The caller joins it.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

// The CPUs on which a progress thread runs (option progress).
struct Placement {
  enum class Kind { none, thread, spare, pin } kind = Kind::thread;
  int cpu = -1;  // pin
  static Status parse(const std::string& text, Placement& out);
  Status apply(pthread_t thread) const;
};

// Returns the CPUs to which the launcher has bound this rank, or else those that it may use.
std::vector<int> cpus_of_rank();

// Returns the number of threads that a rank computes with (hirobarun --threads, or OMP_NUM_THREADS).
int threads_per_rank();

// Returns the system's number of the calling thread; only the first call asks the system.
inline int this_thread() {
  thread_local const int number = gettid();
  return number;
}

// Removes the signals that faults of a thread raise from a set of signals to be blocked: the kernel ends a process one
// of whose threads faults with the signal blocked.
void leave_faults_open(sigset_t& blocked);

// Starts a thread that may use all CPUs of the rank, even if OpenMP has bound its creator to one of them.
Status start_thread(pthread_t& thread, const char* name, void* (*run)(void*), void* argument);

}  // namespace hiroba
