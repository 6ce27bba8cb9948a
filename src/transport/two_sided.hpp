// Messages with data that its receiver places, for ranks whose memory this process does not reach. Up to the eager
// limit the message contains the data. Above it, data moves by rendezvous: the sender starts the transfer and sends its
// number in a message; the receiver provides the destination.
//
// Owner: the transport. Any thread may call. send() blocks while there is no room, driving progress; nothing else
// blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hiroba {

// Counts pending operations that were started and are awaited together. Must outlive them.
struct Completion {
  std::atomic<uint32_t> left{0};
};

class TwoSided {
 public:
  // Returns the maximum size of a message, head and data together.
  virtual size_t eager_limit() const = 0;
  // Sends head and data; the handler receives them contiguously.
  virtual void send(int rank, int handler, std::span<const char> head, std::span<const char> data) = 0;
  // Returns the number of the transfer; empty if there is no room now. `from` is memory that cannot fault and must not
  // change until the completion.
  virtual std::optional<uint32_t> start_send(int rank, const void* from, size_t bytes, Completion& sent) = 0;
  // Receives as many bytes as are sent.
  virtual void start_receive(int rank, uint32_t number, void* to, size_t bytes, Completion& received) = 0;

 protected:
  ~TwoSided() = default;
};

}  // namespace hiroba
