// Counts the algorithms of collective operations by operation, size and way (option explain-collectives). Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/wait.hpp"

namespace hiroba {

class Explanation {
 public:
  void start(bool on) { on_ = on; }
  // `name`: the call, up to its first parenthesis; `bytes`: size of the block that a rank gives to one member.
  void note(const char* name, size_t bytes, const char* way);
  // Returns lines like "hiroba_allreduce, up to 1 KiB: 300 by lane", in the order of names and sizes.
  std::vector<std::string> lines() const;

 private:
  bool on_ = false;
  mutable SignalSafeLock lock_;  // guards the next member
  std::map<std::tuple<std::string, size_t, std::string>, uint64_t> counts_;
};

}  // namespace hiroba
