#include "coarray/mover.hpp"

#include <algorithm>

namespace hiroba {

namespace {

// Pieces of at least this size are sent separately, not packed.
constexpr size_t large_block = size_t{16} << 10;

// Returns the innermost dimensions that fit, as a box of the transport; the others stay in `outer`.
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

void Mover::start_get(char* to, const Place& from, const Walk& walk, Completion& completion) const {
  Transport& transport = *world_->transport;
  if (from.here != nullptr) return copy(to, from.here, walk);
  if (walk.contiguous() || walk.block >= large_block)
    return walk.for_each_block([&](int64_t at_to, int64_t at_from) {
      transport.start_get(to + at_to, from.rank, from.offset + static_cast<uint64_t>(at_from), walk.block, completion,
                          nullptr);
    });
  if (const char* const seen = transport.local_address(from.rank, from.offset)) return copy(to, seen, walk);
  Walk outer;
  const Strided box = box_of(walk, false, outer);
  outer.for_each_block([&](int64_t at_to, int64_t at_from) {
    transport.get_strided(to + at_to, from.rank, from.offset + static_cast<uint64_t>(at_from), box);
  });
}

void Mover::put(const Place& to, const char* from, const Walk& walk) const {
  if (to.here == nullptr && walk.contiguous()) return world_->transport->put(to.rank, to.offset, from, walk.block);
  Completion sent;
  start_put(to, from, walk, sent);
  await(sent);
}

void Mover::start_put(const Place& to, const char* from, const Walk& walk, Completion& completion) const {
  Transport& transport = *world_->transport;
  if (to.here != nullptr) return copy(to.here, from, walk);
  if (walk.contiguous() || walk.block >= large_block)
    return walk.for_each_block([&](int64_t at_to, int64_t at_from) {
      transport.start_put(to.rank, to.offset + static_cast<uint64_t>(at_to), from + at_from, walk.block, completion);
    });
  if (char* const seen = transport.local_address(to.rank, to.offset)) return copy(seen, from, walk);
  Walk outer;
  const Strided box = box_of(walk, true, outer);
  outer.for_each_block([&](int64_t at_to, int64_t at_from) {
    transport.put_strided(to.rank, to.offset + static_cast<uint64_t>(at_to), from + at_from, box);
  });
}

std::unique_ptr<char[]> Mover::get_packed(const Place& from, const Box& box, size_t element) const {
  auto packed = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(box.elements()) * element);
  Completion under_way;
  start_get(packed.get(), from, walk_packed(box, element), under_way);
  await(under_way);
  return packed;
}

void Mover::put_packed(const Place& to, const Box& box, const char* packed, size_t element) const {
  Walk walk;
  pair_up(box, box.packed(element), element, walk);
  put(to, packed, walk);
}

}  // namespace hiroba
