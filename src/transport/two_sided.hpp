// Messages with data that its receiver places, for ranks whose memory this process does not reach. Up to the eager
// limit data travels in the message. Above it, by rendezvous: the sender starts the transfer and sends its number in a
// message; the receiver says where the data goes.
//
// Owner: the transport. Threads: any. send() blocks while there is no room, driving progress; nothing else blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hiroba {

// Counts what is still under way of operations that were started and are awaited together. Must outlive them.
struct Completion {
  std::atomic<uint32_t> left{0};
};

class TwoSided {
 public:
  // Most bytes of a message, head and data together.
  virtual size_t eager_limit() const = 0;
  // The handler has both, one after the other.
  virtual void send(int rank, int handler, std::span<const char> head, std::span<const char> data) = 0;
  // The number of the transfer; nothing if there is no room now. `from` is memory that cannot fault, and stays as it is
  // until the completion.
  virtual std::optional<uint32_t> start_send(int rank, const void* from, size_t bytes, Completion& sent) = 0;
  // Of as many bytes as are sent.
  virtual void start_receive(int rank, uint32_t number, void* to, size_t bytes, Completion& received) = 0;

 protected:
  ~TwoSided() = default;
};

}  // namespace hiroba
