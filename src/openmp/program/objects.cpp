#include "openmp/program/objects.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/addresses.hpp"
#include "base/record/record.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

Status Objects::begin(Memory& memory) {
  const Job& job = memory.job();
  constexpr uint64_t whole = uint64_t{1} << 41;  // addresses, of all ranks together
  part_bytes_ = whole / static_cast<uint64_t>(job.nranks) / huge_page_bytes * huge_page_bytes;
  large_bytes_ = part_bytes_ * static_cast<uint64_t>(job.nranks);
  Arrays::Request request = array_of_ranks(job, "large objects", 1, static_cast<int64_t>(part_bytes_));
  request.watched = request.sparse = true;
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(request, at));
  large_ = static_cast<char*>(at);
  HIROBA_TRY(memory.homes().set_policy(at, HomePolicy::migrating, request.call));
  HIROBA_TRY(memory.arrays().allocate(array_of_ranks(job, "freed objects", sizeof(Returns), 1), at));
  returns_ = static_cast<Returns*>(at);
  memory_ = &memory, heap_ = memory.heap().addresses();
  return {};
}

bool Objects::is_large(const void* object) const {
  const char* const at = static_cast<const char*>(object);
  return at >= large_ && at < large_ + large_bytes_;
}

bool Objects::has(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  return is_large(at) || (at >= heap_.data() && at < heap_.data() + heap_.size());
}

void* Objects::allocate(size_t bytes, size_t alignment, bool zeroed) {
  if (bytes > PTRDIFF_MAX) return nullptr;
  if (bytes >= least_large) return allocate_large(bytes, std::max(alignment, size_t{64}), zeroed);
  Heap::Request request;
  request.bytes = std::max<size_t>(bytes, 1), request.alignment = alignment, request.zeroed = zeroed;
  request.place = Heap::unnamed_place;
  if (alignment <= alignof(max_align_t) && !zeroed)
    if (void* const kept = Heap::allocate_kept(request.bytes); kept != nullptr) return kept;
  void* out = nullptr;
  require(memory_->heap().allocate(request, out));
  return out;
}

void* Objects::allocate_large(size_t bytes, size_t alignment, bool zeroed) {
  const uint64_t room = (bytes + sizeof(Head) + alignment - 1 + page_bytes - 1) / page_bytes * page_bytes;
  const int rank = memory_->job().rank;
  uint64_t begin = 0;
  bool fresh = false;
  {
    const std::lock_guard guard(lock_);
    take_returns();
    const auto fits = std::find_if(free_.begin(), free_.end(), [room](const auto& run) { return run.second >= room; });
    if (fits != free_.end()) {
      begin = fits->first;
      const uint64_t rest = fits->second - room;
      free_.erase(fits);
      if (rest > 0) free_[begin + room] = rest;
    } else {
      if (used_ + room > part_bytes_) return nullptr;
      begin = used_, used_ += room, fresh = true;
    }
  }
  char* const part = large_ + part_bytes_ * static_cast<uint64_t>(rank);
  const auto at = reinterpret_cast<uintptr_t>(part + begin + sizeof(Head) + alignment - 1) / alignment * alignment;
  char* const object = reinterpret_cast<char*>(at);
  *(reinterpret_cast<Head*>(object) - 1) = {begin, bytes, room, rank};
  if (zeroed && !fresh) std::memset(object, 0, bytes);
  if (recording()) note_object(object, bytes);
  return object;
}

void Objects::give(uint64_t begin, uint64_t room) {
  const auto after = free_.lower_bound(begin);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) begin = before->first, room += before->second, free_.erase(before);
  }
  if (const auto next = free_.find(begin + room); next != free_.end()) room += next->second, free_.erase(next);
  free_[begin] = room;
}

// An object that another rank has freed is known by its address + 1. Its head is as this rank has written it.
void Objects::take_returns() {
  Returns& mine = returns_[memory_->job().rank];
  for (;; ++returned_) {
    int64_t* const entry = &mine.object[static_cast<uint64_t>(returned_) % most_returned];
    const uint64_t value = words::load(entry);
    if (value == 0) return;
    words::swap(entry, value, 0);
    const Head& head = *(reinterpret_cast<const Head*>(value - 1) - 1);
    give(head.begin, head.room);
  }
}

// If the list of the owner is full, the object is lost to it.
void Objects::free(void* object) {
  if (memory_ == nullptr) return;
  if (!is_large(object)) {
    if (!Heap::keep(object)) require(memory_->heap().free(object, Heap::unnamed_place));
    return;
  }
  const Head head = *(static_cast<const Head*>(object) - 1);
  if (head.rank == memory_->job().rank) {
    const std::lock_guard guard(lock_);
    return give(head.begin, head.room);
  }
  Returns& owner = returns_[head.rank];
  const uint64_t number = words::add(&owner.count, 1);
  words::swap(&owner.object[number % most_returned], 0, reinterpret_cast<uint64_t>(object) + 1);
}

size_t Objects::size(const void* object) const {
  if (is_large(object)) return (static_cast<const Head*>(object) - 1)->bytes;
  return memory_ == nullptr ? 0 : memory_->heap().size(object);
}

}  // namespace hiroba::openmp
