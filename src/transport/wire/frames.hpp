// The messages of ranks over a wire: a head, and its payload in the same frame. README.md describes the protocol.
#pragma once

#include <cstdint>
#include <cstring>

#include "section/section.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

// The head of a strided message: the blocks at the side that it goes to.
using RemoteBox = SectionOf<4>;

enum class Frame : uint8_t {
  message,        // payload for handler `handler`, when my puts up to number `count` have arrived
  put,            // payload for memory at `offset`; `expected`: the put's number; with a `count`, a flush too
  put_bulk,       // `bytes` for memory at `offset` come as bulk data with tag `tag`
  packed,         // packed pieces; this and the next ones are numbered, too
  packed_bulk,    // `bytes` of pieces come as bulk data with tag `tag`
  strided,        // a box, and its blocks for memory at `offset`
  strided_bulk,   // the same; `bytes` of both come as bulk data with tag `tag`
  flush,          // answer when my puts up to number `count` have arrived
  flushed,        // your puts up to `count` have arrived
  get,            // send `bytes` from `offset` in a frame; payload: a Piggyback, if `handler` is not none
  got,            // payload for memory at `address` of the requester
  get_bulk,       // send `bytes` from `offset` as bulk data with tag `tag`; payload: as for get
  get_strided,    // send the blocks of a box, the payload, at `offset`: in a frame, if they fit into one, else as bulk
                  // data
  atomic,         // operation `handler` on the word at `offset` with `operand`, `expected`
  result,         // `operand` is the previous value
  ask_key,        // send the key to your memory at `offset`
  key,            // payload: for RemoteMemory::learn
  watch,          // answer when the word at `offset` is no longer `expected`, or after `operand` microseconds
  wake,           // the word at `offset` has changed
  barrier_round,  // part of a barrier of all: split_barrier.hpp
  owner,          // my library works on your memory: poll until I have sent as many with `expected` 0 as with 1
  group_arrival,  // I have arrived at the group barrier, after my put number `count` to you
  ask_place,      // send your current call
  place,          // payload: RankBoard::where; `operand`: calls, `expected`: waiting
  alive,          // only a sign of life
  farewell,       // the last sign of life
};

// A head and one word, as for a put, fit into the small messages of every library (64 bytes with AMMPI).
struct Head {
  uint64_t key;  // of sender and receiver; frames without it are dropped
  Frame frame;
  uint8_t handler;
  uint16_t payload;  // bytes that follow the head; another head may follow them
  uint32_t epoch;    // of a get: number of barriers that its home must have passed
  uint32_t bytes;
  uint32_t tag;
  uint64_t offset;
  uint64_t completion;  // the requester's, returned to it
  union {
    uint64_t address;  // the requester's
    uint64_t operand;
    uint64_t count;
  };
  uint64_t expected;
};
static_assert(sizeof(Head) == 56);

constexpr uint8_t no_handler = 255;

inline Head head_of(Frame frame) {
  Head head = {};
  head.frame = frame;
  head.handler = no_handler;
  return head;
}

// Calls visit(head, payload) for each frame of a message. Returns false if a frame is incomplete or not of this
// sender.
template <typename Visit>
bool for_each_frame(const void* bytes, size_t size, uint64_t key, const Visit& visit) {
  const char* const message = static_cast<const char*>(bytes);
  Head head;
  for (size_t at = 0; at < size; at += sizeof head + head.payload) {
    if (size - at < sizeof head) return false;
    std::memcpy(&head, message + at, sizeof head);
    if (head.key != key || head.payload > size - at - sizeof head) return false;
    visit(head, message + at + sizeof head);
  }
  return true;
}

constexpr size_t max_inline = Wire::max_frame - sizeof(Head);
static_assert(Wire::max_bulk <= UINT32_MAX);
static_assert(Wire::most_in_frame <= UINT16_MAX);  // Head::payload

}  // namespace hiroba
