// The contract of this floor: an example, which counts the barriers of the program.
//
// An Example object is one rank's part; its notation owns it. For the thread that makes collective calls.
#pragma once

#include <cstdint>

namespace hiroba {

class Example {
 public:
  void at_barrier() { ++barriers_; }
  int64_t barriers() const { return barriers_; }

 private:
  int64_t barriers_ = 0;
};

}  // namespace hiroba
