// Tells whether a thread runs code of the program or of the runtime: memory that the program allocates is shared, also
// where the C library allocates it for the program; what the runtime allocates is the rank's own. Threads that the
// program does not know of are the runtime's.
#pragma once

#include "memory/memory.hpp"

namespace hiroba::openmp {

// True in the thread of rank 0 that runs the program's main, on a shared stack.
inline thread_local bool is_main_thread __attribute__((tls_model("initial-exec"))) = false;

// False in a job of one rank, where the program's memory is its own.
inline bool memory_is_shared = false;

// The number of threads that the program has set for regions of all ranks (omp_set_num_threads); 0: none.
inline int requested_threads = 0;

// Set by omp_set_dynamic(), for omp_get_dynamic(); teams of all ranks have a fixed size.
inline bool requested_dynamic = false;

// While it lives, this thread runs code of the runtime.
using InRuntime = InLibrary;

// While it lives, this thread runs code of the program. The compiler knows of malloc() that it reads no variables, and
// would leave out changes around it.
class InProgram {
 public:
  InProgram() : before_(in_program) {
    in_program = memory_is_shared;
    change();
  }
  InProgram(const InProgram&) = delete;
  ~InProgram() {
    change();
    in_program = before_;
  }

 private:
  static void change() { asm volatile("" ::: "memory"); }

  bool before_;
};

// Returns a request for an array of the runtime's own, of which each rank has the same number of elements at home.
inline Arrays::Request array_of_ranks(const Job& job, const char* name, uint64_t element_bytes, int64_t each) {
  Arrays::Request request;
  request.dim = {job.nranks, each}, request.div = {job.nranks, 1};
  request.element_bytes = element_bytes, request.count = job.nranks;
  request.call = "the start of an OpenMP program", request.place = name;
  request.watched = false, request.closable = true;
  return request;
}

}  // namespace hiroba::openmp
