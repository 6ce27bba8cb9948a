// Notes the time of its life as coherence (base/record/record.hpp), if there are copies at all.
#pragma once

#include "base/record/record.hpp"
#include "memory/parts.hpp"

namespace hiroba {

class CoherenceTime {
 public:
  static constexpr const char* of_lock = "coherence of a lock";  // the rules of reports know it

  CoherenceTime(const MemoryParts& parts, const char* call)
      : call_(call), begin_(parts.cache != nullptr && recording() ? seconds_now() : 0) {}
  CoherenceTime(const CoherenceTime&) = delete;
  ~CoherenceTime() {
    if (begin_ > 0) note_coherence(call_, begin_, seconds_now());
  }

 private:
  const char* call_;
  double begin_;
};

}  // namespace hiroba
