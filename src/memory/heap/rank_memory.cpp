#include "memory/heap/rank_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "base/text.hpp"
#include "memory/heap/space.hpp"
#include "memory/parts.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

namespace {

uint64_t bytes_of_rank(const Layout& layout) {
  constexpr uint64_t most = uint64_t{64} << 30, of_all = 128 * most;
  return std::min({most, std::bit_floor(of_all / static_cast<uint64_t>(layout.nranks)), std::bit_floor(layout.space)});
}

uint64_t begin_after(const Layout& layout) {
  return (layout.extent() + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
}

}  // namespace

uint64_t RankMemory::end_of(const Layout& layout) {
  return begin_after(layout) + static_cast<uint64_t>(layout.nranks) * bytes_of_rank(layout);
}

void RankMemory::place(const Layout& layout) {
  begin_ = begin_after(layout), bytes_ = bytes_of_rank(layout), end_ = end_of(layout);
}

// A network card may pin a whole attached range, so a range is not larger than those of the heap.
Status RankMemory::start() {
  if (started_) return {};
  const MemoryParts& p = parts_;
  for (int r = 0; r < p.job.nranks; ++r) {
    const uint64_t begin = begin_ + static_cast<uint64_t>(r) * bytes_;
    for (uint64_t done = 0; done < bytes_; done += HeapSpace::attached_bytes)
      HIROBA_TRY(p.transport->attach(begin + done, std::min(bytes_ - done, HeapSpace::attached_bytes), r));
    if (p.is_here(r)) HIROBA_TRY(map_of_node(p, begin, bytes_));
  }
  free_.add(begin_ + static_cast<uint64_t>(p.job.rank) * bytes_, bytes_);
  started_ = true;
  return {};
}

// Large memory is in whole huge pages. The kernel makes all pages now, in a fraction of the time of as many faults.
Status RankMemory::allocate(uint64_t bytes, const char* what, void*& out) {
  const bool large = bytes >= 2 * huge_page_bytes;
  const uint64_t unit = large ? huge_page_bytes : page_bytes, whole = (bytes + unit - 1) / unit * unit;
  const uint64_t machine = machine_memory();
  if (whole > machine || in_use_ > machine - whole)
    return Status::error("no memory for %s of %s: this rank has %s already, and this machine has %s",
                         show_bytes(bytes).c_str(), what, show_bytes(in_use_).c_str(), show_bytes(machine).c_str());
  uint64_t begin = 0;
  if (!free_.take(whole, unit, begin))
    return Status::error(
        "no room for %s of %s: this rank has %s of at most %s (64 GiB, or option space if that is less); distribute "
        "over more nodes, or free arrays before",
        show_bytes(bytes).c_str(), what, show_bytes(in_use_).c_str(), show_bytes(bytes_).c_str());
  taken_[begin] = whole, in_use_ += whole;
  char* const at = parts_.space.base() + begin;
  if (large) parts_.huge_pages.make_whole(begin, begin + whole, begin);
  madvise(at, whole, MADV_POPULATE_WRITE);
  out = at;
  return {};
}

void RankMemory::free(void* address) {
  const auto found = taken_.find(parts_.space.offset(address));
  const auto [begin, bytes] = *found;
  taken_.erase(found);
  in_use_ -= bytes;
  punch_hole(parts_.node_fd(), begin, bytes);
  free_.add(begin, bytes);
}

}  // namespace hiroba
