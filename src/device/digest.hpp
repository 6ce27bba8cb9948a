// A summary of bytes, by which a copy on a device knows whether what it is of has changed: eight sums of 64 bits, each
// over every eighth word. A change of one word of a sum is always found, because each step is one-to-one; changes of
// several are missed with a probability of 2^-64.
//
// Values; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hiroba {

struct Digest {
  static constexpr size_t lanes = 8;
  std::array<uint64_t, lanes> sums = {};
  bool operator==(const Digest&) const = default;
};

Digest digest_of(const char* from, size_t bytes);
// Copies, too. `past_caches`: large copies bypass the caches, because nobody reads them soon.
Digest copy_and_digest(char* to, const char* from, size_t bytes, bool past_caches = true);

}  // namespace hiroba
