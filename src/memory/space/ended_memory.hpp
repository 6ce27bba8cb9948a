// Describes shared memory as it was before its end, for messages about its use after that. Constant.
#pragma once

#include <string>
#include <vector>

#include "memory/arrays.hpp"
#include "memory/space/space.hpp"

namespace hiroba {

class EndedMemory {
 public:
  // `call` is the call that has ended it.
  EndedMemory(const Arrays& arrays, const Space& space, const char* call);

  bool contains(const void* address) const;
  // Requires contains(address).
  std::string explain(const void* address) const;

 private:
  struct Past {
    const char *begin, *end;
    std::string name;
    uint64_t elements, element_bytes;
    bool has_parts;  // the heap, coarrays
  };

  const char *begin_, *end_;
  std::string call_;
  std::vector<Past> arrays_;
};

}  // namespace hiroba
