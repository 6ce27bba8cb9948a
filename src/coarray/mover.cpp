#include "coarray/mover.hpp"

#include <algorithm>

namespace hiroba {

namespace {

// Pieces of at least this size are sent separately, not packed.
constexpr size_t large_block = size_t{16} << 10;

}  // namespace

void Mover::start_get(char* to, const RemoteAddress& from, const Walk& walk, Completion& completion) const {
  Transport& transport = *world_->transport;
  if (from.here != nullptr) return copy(to, from.here, walk);
  if (walk.contiguous() || walk.block >= large_block)
    return walk.for_each_block([&](int64_t at_to, int64_t at_from) {
      transport.one_sided().start_get(to + at_to, from.rank, from.offset + static_cast<uint64_t>(at_from), walk.block,
                                      completion, nullptr);
    });
  if (const char* const seen = transport.local_address(from.rank, from.offset)) return copy(to, seen, walk);
  transport.one_sided().get_strided(to, from.rank, from.offset, walk);
}

void Mover::put(const RemoteAddress& to, const char* from, const Walk& walk) const {
  if (to.here == nullptr && walk.contiguous()) return world_->transport->put(to.rank, to.offset, from, walk.block);
  Completion sent;
  start_put(to, from, walk, sent);
  await(sent);
}

void Mover::start_put(const RemoteAddress& to, const char* from, const Walk& walk, Completion& completion) const {
  Transport& transport = *world_->transport;
  if (to.here != nullptr) return copy(to.here, from, walk);
  if (walk.contiguous() || walk.block >= large_block)
    return walk.for_each_block([&](int64_t at_to, int64_t at_from) {
      transport.one_sided().start_put(to.rank, to.offset + static_cast<uint64_t>(at_to), from + at_from, walk.block,
                                      completion);
    });
  if (char* const seen = transport.local_address(to.rank, to.offset)) return copy(seen, from, walk);
  transport.one_sided().put_strided(to.rank, to.offset, from, walk);
}

std::unique_ptr<char[]> Mover::get_packed(const RemoteAddress& from, const Section& section) const {
  auto packed = std::make_unique_for_overwrite<char[]>(section.total());
  Completion under_way;
  start_get(packed.get(), from, walk_packed(section), under_way);
  await(under_way);
  return packed;
}

void Mover::put_packed(const RemoteAddress& to, const Section& section, const char* packed) const {
  put(to, packed, walk_packed(section).turned());
}

}  // namespace hiroba
