// Part of the contract of this floor: atomic operations on words of coarrays, of 4 or 8 bytes, by the transport.
//
// Owner: Coarrays. Thread-safe. Blocks until the old value has arrived.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "section/walk.hpp"

namespace hiroba {

struct CoarrayParts;
struct CoarraySection;

class CoarrayAtomics {
 public:
  explicit CoarrayAtomics(CoarrayParts& parts) : parts_(parts) {}

  Status add(const CoarraySection& word, unsigned bytes, uint64_t value, uint64_t& old);
  Status swap(const CoarraySection& word, unsigned bytes, uint64_t expected, uint64_t desired, uint64_t& old);

 private:
  Status locate(const CoarraySection& word, unsigned bytes, RemoteAddress& out) const;

  CoarrayParts& parts_;
};

}  // namespace hiroba
