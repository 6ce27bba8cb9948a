// A thread's part of a team of all ranks: its number, and its parts of shared work. Threads of other
// teams have a member that spans nothing: libgomp does all for them.
#pragma once

#include <cstdint>

namespace hiroba::openmp {

// A loop of which a thread takes chunks. Iterations are numbered from 0; the program's variable is start + i * step.
struct Loop {
  enum class Kind : uint32_t { fixed, dynamic, guided } kind = Kind::fixed;
  bool one_queue = false;                 // chunks in the order of iterations, for all threads
  uint64_t start = 0, end = 0, step = 1;  // modulo 2^64
  uint64_t iterations = 0, chunk = 0;
  uint64_t next = 0;             // fixed: the next chunk, by number
  uint64_t first = 0, last = 0;  // the chunk that this thread has
  int queue = 0;                 // dynamic and guided: how many ranks' queues are known to be empty
  bool taken_last = false;
  uint64_t slot = 0;                   // its number since the last barrier
  bool ordered = false, turn = false;  // turn: this thread has the right to enter ordered code
};

struct Member {
  // The team of all ranks around a team of one rank, if there is one.
  struct Outer {
    int thread = 0, threads = 0;
    int active = 0;  // 1: it has several threads, of which libgomp knows one
  } outer;
  bool spans = false;           // the team has the threads of all ranks
  const void* frame = nullptr;  // the stack of the region's function begins below it
  bool inside = false;          // of such a team, in a team of this rank
  bool set_threads = false;     // has called omp_set_num_threads() since it is in this team
  int thread = 0, threads = 1;
  int local = 0, locals = 1;  // the same within the rank
  uint64_t shares = 0;        // shared loops and sections since the last barrier; the same in all threads
  uint64_t singles = 0;       // likewise
  uint64_t single = 0;        // the latest one, while others may need what it writes, or this thread (singles.hpp)
  bool executes_single = false;
  const void* single_place = nullptr;
  uint64_t barriers = 0;
  bool has_loop = false;  // the region is a loop, which may have a barrier before it
  Loop loop;
  unsigned section = 0, sections = 0;
};

inline thread_local Member member __attribute__((tls_model("initial-exec")));

}  // namespace hiroba::openmp
