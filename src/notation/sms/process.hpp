// The one Memory of this process, for the other notations.
#pragma once

#include <cstring>
#include <vector>

#include "base/log.hpp"
#include "coarray/coarray.hpp"
#include "memory/memory.hpp"

namespace hiroba {

// Ends the job with a message that names the call if sms_startup has not been called, or sms_shutdown has.
Memory& process_memory(const char* call);
bool process_started();
[[noreturn]] void not_started(const char* call, const char* begin, const char* end);

// The one Coarrays of this process, which listens from sms_startup on; notation/xmp starts it.
Coarrays& process_coarrays();

// Called at the end of sms_startup, by every rank.
void at_start(void (*hook)());
// Called at the end of sms_shutdown.
void at_end(void (*hook)());
// Called at the beginning of each barrier of the program, by every rank.
void at_barrier(void (*hook)());
// That, with option check. Collective.
void begin_barrier();

// Combines one value per rank, in rank order, so that every rank gets the same bits. Collective.
template <typename T, typename Combine>
T reduce_over_ranks(T value, const char* call, int op, const Combine& combine) {
  Memory& memory = process_memory(call);
  std::vector<uint64_t> words(static_cast<size_t>(memory.job().nranks));
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  const Status status = memory.exchange(word, words, format("%s(op %d)", call, op).c_str());
  if (!status.ok()) end_job(1, "%s", status.message().c_str());
  T result{};
  for (size_t r = 0; r < words.size(); ++r) {
    T other;
    std::memcpy(&other, &words[r], sizeof other);
    result = r == 0 ? other : combine(result, other);
  }
  return result;
}

}  // namespace hiroba
