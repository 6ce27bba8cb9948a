// Records the collective operations of a program, their sizes, and the time that it computes before each, for `hiroba
// overlap --like` (option trace-collectives). One thread records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/status.hpp"

namespace hiroba {

class Uses {
 public:
  void start(const std::string& file);  // nothing is recorded without a name
  // Record the begin of a call with blocks of `bytes` bytes, and its end.
  void begin(const char* name, size_t bytes);
  void end();
  // Writes the file: a list of {"collective", "bytes", "calls", "compute_seconds_between"}.
  Status write() const;

 private:
  struct Use {
    uint64_t calls = 0;
    double computed = 0;
  };
  std::string file_;
  double last_ = 0;
  std::map<std::pair<std::string, size_t>, Use> uses_;
};

}  // namespace hiroba
