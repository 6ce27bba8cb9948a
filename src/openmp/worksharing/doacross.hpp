// A loop whose iterations wait for others by depend(sink). Each part of the iterations of the outermost loop has a word
// that says how many of them have executed depend(source); threads wait for it at its home.
#pragma once

#include <cstdint>
#include <span>

#include "openmp/program/member.hpp"

namespace hiroba::openmp {

class Doacross {
 public:
  static constexpr unsigned most = 64;  // loops that are nested

  Doacross() = default;
  // `counts`: iterations of the loops, from the outermost on. Ends the job if there are too many.
  Doacross(const Loop& loop, std::span<const uint64_t> counts);
  uint64_t bytes() const { return parts_ * part_bytes; }
  // `words`: zeros, shared by the team.
  void begin(char* words) { words_ = words; }

  unsigned loops() const { return loops_; }
  // The iteration of these numbers in the loops executes depend(source).
  void post(const uint64_t* at);
  void await(const uint64_t* at) const;

 private:
  static constexpr uint64_t part_bytes = 64;
  uint64_t part(uint64_t outer) const;
  uint64_t position(const uint64_t* at) const;  // among all iterations
  int64_t* word(uint64_t part) const { return reinterpret_cast<int64_t*>(words_ + part * part_bytes); }

  char* words_ = nullptr;
  uint64_t parts_ = 0;
  uint64_t weight_[most] = {};
  unsigned loops_ = 0;
  Loop::Kind kind_ = Loop::Kind::fixed;
  uint64_t iterations_ = 0, chunk_ = 0, threads_ = 0;
  uint64_t posted_part_ = 0, posted_ = 0;  // by this thread
};

// The loop of this thread in a team of all ranks.
inline thread_local Doacross doacross __attribute__((tls_model("initial-exec")));

}  // namespace hiroba::openmp
