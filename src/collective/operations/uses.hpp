// What collective operations a program calls, of which sizes, and how long it computes before each: for
// `hiroba overlap --like` (option trace-collectives). One thread records.
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
  // A call begins, of blocks of `bytes` bytes; and it has ended.
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
