// Keys of messages: for each process that sends and each that receives another number, a hash of a secret that only the
// job's processes have. A message carries its key, so a stranger cannot make one, and who reads the messages of one
// process to another learns neither the secret nor the keys of other pairs.
//
// Thread-safe.
#pragma once

#include <sys/random.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/limits.hpp"
#include "base/status.hpp"

namespace hiroba {

using JobSecret = std::array<uint64_t, 2>;

inline Status draw(JobSecret& out) {
  if (getrandom(&out, sizeof out, 0) == sizeof out) return {};
  return Status::error("the system gives no random numbers (%s)", explain_error(errno).c_str());
}

// SipHash-2-4 of one word.
inline uint64_t keyed_hash(const JobSecret& secret, uint64_t word) {
  uint64_t v0 = secret[0] ^ 0x736f6d6570736575, v1 = secret[1] ^ 0x646f72616e646f6d;
  uint64_t v2 = secret[0] ^ 0x6c7967656e657261, v3 = secret[1] ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    while (count-- > 0) {
      v0 += v1, v1 = std::rotl(v1, 13), v1 ^= v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16), v3 ^= v2;
      v0 += v3, v3 = std::rotl(v3, 21), v3 ^= v0;
      v2 += v1, v1 = std::rotl(v1, 17), v1 ^= v2, v2 = std::rotl(v2, 32);
    }
  };
  constexpr uint64_t length = uint64_t{sizeof word} << 56;
  for (const uint64_t block : {word, length}) v3 ^= block, rounds(2), v0 ^= block;
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

class PairKeys {
 public:
  PairKeys() = default;
  // `self`: the number of this process, of `size`.
  PairKeys(const JobSecret& secret, int self, int size) : secret_(secret) {
    for (int other = 0; other < size; ++other) to_.push_back(key(self, other, 0)), from_.push_back(key(other, self, 0));
  }

  int size() const { return static_cast<int>(to_.size()); }
  uint64_t to(int other) const { return to_[static_cast<size_t>(other)]; }
  uint64_t from(int other) const { return from_[static_cast<size_t>(other)]; }
  // Another one for each `use`; to() and from() are those of use 0.
  uint64_t key(int from, int to, uint32_t use) const {
    constexpr int rank_bits = 17;
    return keyed_hash(secret_, uint64_t{use} << 2 * rank_bits | static_cast<uint64_t>(from) << rank_bits |
                                   static_cast<uint64_t>(to));
  }

 private:
  JobSecret secret_ = {};
  // Kept, because a hash takes a few percent of the time of a small message.
  std::vector<uint64_t> to_, from_;
};

}  // namespace hiroba
