// One-sided puts and gets of bulk data, over wires that do not need the owner for them. Their home cannot defer such
// gets, so a barrier fences first if they are usable.
//
// Owner: Net. Any thread may call, except those that require the wire. The box forms and accumulate() block until
// done.
#pragma once

#include <vector>

#include "transport/wire/channel.hpp"
#include "transport/wire/remote_memory.hpp"

namespace hiroba {

class WireAccess {
 public:
  void start(int self, Channel* channel) {
    self_ = self, channel_ = channel;
    memory_.start(&channel->wire());
  }
  bool usable() const { return memory_.usable(); }
  // Requires the wire. Returns the memory that others may access.
  RemoteMemory& memory() { return memory_; }

  // Return false, without effect, if the wire lacks the operation, or if a frame is faster.
  bool put(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent);
  bool get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion);
  bool put(int rank, uint64_t to, const void* from, const Walk& walk);
  bool get(void* to, int rank, uint64_t from, const Walk& walk);
  bool accumulate(int rank, uint64_t to, const void* from, Number type, size_t numbers);
  // Blocks until all puts of this rank are visible.
  void await_puts();

  // These require the wire.
  void serve_ask_key(int source, const Head& head) { askers_.push_back({source, head.completion, head.offset}); }
  void serve_key(int source, const Head& head, std::span<const char> key);
  void serve_owner(const Head& head);
  // Requires a poll before it. Returns true if it did anything.
  bool answer_keys();

 private:
  struct Asker {
    int source;
    uint64_t completion, offset;
  };
  template <typename Work>
  void with_owner(int rank, size_t bytes, const Work& work);
  template <typename Move>
  bool move_box(int rank, uint64_t offset, const Walk& walk, bool is_put, const Move& move);
  RemoteMemory::Place place_of(int rank, uint64_t offset, size_t bytes);
  uint64_t add_put(Completion& done);

  int self_ = 0;
  Channel* channel_ = nullptr;
  RemoteMemory memory_;            // wire state
  std::vector<Asker> askers_;      // wire state
  std::atomic<uint32_t> puts_{0};  // our puts that are not visible yet
};

}  // namespace hiroba
