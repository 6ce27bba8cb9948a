#include "coarray/mover.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

namespace hiroba {

namespace {

// From this size on a piece is worth a message of its own.
constexpr size_t big_block = 1024;

struct GatherRequest {
  char* to;  // at the asker
  std::atomic<uint32_t>* left;
  uint64_t offset;
  int64_t first, blocks;
  uint64_t block;
  int32_t dims, unused;
  int64_t count[Walk::max_dims], stride[Walk::max_dims];
};
struct GatherReply {
  char* to;
  std::atomic<uint32_t>* left;
};
constexpr size_t most_gathered = Transport::max_message - sizeof(GatherReply);

// The innermost dimensions that fit, as a box of the transport; the others stay in `outer`.
Strided box_of(const Walk& walk, bool remote_is_to, Walk& outer) {
  Strided box;
  box.block_bytes = walk.block;
  box.dims = std::min(walk.dims, Strided::max_dims);
  outer = walk;
  outer.dims = walk.dims - box.dims;
  for (int i = 0; i < box.dims; ++i) {
    const int d = outer.dims + i;
    box.count[i] = static_cast<size_t>(walk.count[d]);
    box.remote_stride[i] = remote_is_to ? walk.to[d] : walk.from[d];
    box.local_stride[i] = remote_is_to ? walk.from[d] : walk.to[d];
  }
  return box;
}

}  // namespace

void Mover::listen(Transport& transport) {
  transport.set_handler(
      on_gather,
      [](void* self, int source, const void* payload, size_t) {
        static_cast<Mover*>(self)->serve_gather(source, payload);
      },
      this);
  transport.set_handler(
      on_gathered,
      [](void*, int, const void* payload, size_t bytes) {
        GatherReply reply;
        std::memcpy(&reply, payload, sizeof reply);
        std::memcpy(reply.to, static_cast<const char*>(payload) + sizeof reply, bytes - sizeof reply);
        reply.left->fetch_sub(1, std::memory_order_release);
      },
      this);
}

// ---- get -----------------------------------------------------------------------------------------------------------

void Mover::start_get(char* to, const Place& from, const Walk& walk, Fetch& fetch) {
  Transport& transport = *world_->transport;
  if (from.here != nullptr) return copy(to, from.here, walk);
  if (walk.contiguous()) return transport.start_get(to, from.rank, from.offset, walk.block, fetch.completion_, nullptr);
  if (world_->strided) return get_boxes(to, from, walk);
  if (const char* const seen = transport.reach(from.rank, from.offset)) return copy(to, seen, walk);
  if (walk.block < big_block) return gather_far(to, from, walk, fetch);
  walk.for_each_block([&](int64_t at_to, int64_t at_from) {
    transport.start_get(to + at_to, from.rank, from.offset + static_cast<uint64_t>(at_from), walk.block,
                        fetch.completion_, nullptr);
  });
}

void Mover::get_boxes(char* to, const Place& from, const Walk& walk) {
  Walk outer;
  const Strided box = box_of(walk, false, outer);
  outer.for_each_block([&](int64_t at_to, int64_t at_from) {
    world_->transport->get_strided(to + at_to, from.rank, from.offset + static_cast<uint64_t>(at_from), box);
  });
}

// Asks the target to pack; the answers come straight to where they belong if that is contiguous.
void Mover::gather_far(char* to, const Place& from, const Walk& walk, Fetch& fetch) {
  GatherRequest request = {};
  request.offset = from.offset, request.block = walk.block, request.dims = walk.dims, request.left = &fetch.gathering_;
  Walk packed = walk;  // the same blocks, lying one behind the other here
  int64_t bytes = static_cast<int64_t>(walk.block);
  bool together = true;
  for (int d = walk.dims - 1; d >= 0; --d) {
    request.count[d] = walk.count[d], request.stride[d] = walk.from[d];
    together = together && walk.to[d] == bytes;
    packed.from[d] = bytes;
    bytes *= walk.count[d];
  }
  if (!together) {
    fetch.landing_ = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(bytes));
    fetch.to_ = to, fetch.spread_ = packed;
  }
  char* const landing = together ? to : fetch.landing_.get();
  const int64_t all = walk.blocks(), most = static_cast<int64_t>(most_gathered / walk.block);
  static_assert(most_gathered >= big_block);
  for (int64_t first = 0; first < all; first += most) {
    request.first = first, request.blocks = std::min(most, all - first);
    request.to = landing + first * static_cast<int64_t>(walk.block);
    fetch.gathering_.fetch_add(1, std::memory_order_relaxed);
    world_->transport->send(from.rank, on_gather, &request, sizeof request);
  }
}

void Mover::serve_gather(int source, const void* payload) {
  GatherRequest request;
  std::memcpy(&request, payload, sizeof request);
  Walk walk;
  walk.dims = request.dims, walk.block = request.block;
  std::copy_n(request.count, request.dims, walk.count);
  std::copy_n(request.stride, request.dims, walk.from);
  char message[Transport::max_message];
  const GatherReply reply = {request.to, request.left};
  std::memcpy(message, &reply, sizeof reply);
  gather(message + sizeof reply, world_->base + request.offset, walk, request.first, request.blocks);
  world_->transport->send(source, on_gathered, message,
                          sizeof reply + static_cast<size_t>(request.blocks) * walk.block);
}

bool Mover::finished(const Fetch& fetch) const {
  world_->transport->progress();
  return fetch.completion_.left.load(std::memory_order_acquire) == 0 &&
         fetch.gathering_.load(std::memory_order_acquire) == 0;
}

void Mover::finish(Fetch& fetch) {
  world_->transport->await(fetch.completion_);
  while (fetch.gathering_.load(std::memory_order_acquire) != 0)
    if (!world_->transport->progress()) cpu_relax();
  if (fetch.landing_ == nullptr) return;
  copy(fetch.to_, fetch.landing_.get(), fetch.spread_);
  fetch.landing_.reset();
}

// ---- put -----------------------------------------------------------------------------------------------------------

void Mover::put(const Place& to, const char* from, const Walk& walk) {
  Transport& transport = *world_->transport;
  if (to.here != nullptr) return copy(to.here, from, walk);
  if (walk.contiguous()) return transport.put(to.rank, to.offset, from, walk.block);
  if (world_->strided) return put_boxes(to, from, walk);
  if (walk.block < big_block) return put_packed(to, from, walk);
  walk.for_each_block([&](int64_t at_to, int64_t at_from) {
    transport.put(to.rank, to.offset + static_cast<uint64_t>(at_to), from + at_from, walk.block);
  });
}

void Mover::put_boxes(const Place& to, const char* from, const Walk& walk) {
  Walk outer;
  const Strided box = box_of(walk, true, outer);
  outer.for_each_block([&](int64_t at_to, int64_t at_from) {
    world_->transport->put_strided(to.rank, to.offset + static_cast<uint64_t>(at_to), from + at_from, box);
  });
}

// Packs into one buffer while the other is on its way.
void Mover::put_packed(const Place& to, const char* from, const Walk& walk) {
  constexpr size_t most_words = size_t{64} << 10;
  const size_t words = 1 + (walk.block + 7) / 8;
  const size_t room = std::min(most_words, words * static_cast<size_t>(walk.blocks()));
  std::vector<PackedWord> buffer[2];
  Completion sent[2];
  int filling = 0;
  for (auto& b : buffer) b.reserve(room);
  const auto flush = [&] {
    world_->transport->start_put_packed(to.rank, buffer[filling], sent[filling]);
    filling = 1 - filling;
    world_->transport->await(sent[filling]);
    buffer[filling].clear();
  };
  walk.for_each_block([&](int64_t at_to, int64_t at_from) {
    std::vector<PackedWord>& pieces = buffer[filling];
    const size_t at = pieces.size();
    pieces.resize(at + words);
    pieces[at] = (to.offset + static_cast<uint64_t>(at_to)) << 16 | walk.block;
    std::memcpy(&pieces[at + 1], from + at_from, walk.block);
    if (pieces.size() + words > room) flush();
  });
  if (!buffer[filling].empty()) flush();
  for (Completion& c : sent) world_->transport->await(c);
}

}  // namespace hiroba
