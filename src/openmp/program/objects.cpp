#include "openmp/program/objects.hpp"

#include <unwind.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/addresses.hpp"
#include "base/debug/symbols.hpp"
#include "base/record/record.hpp"
#include "openmp/program/libraries.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

Status Objects::begin(Memory& memory, const Program& program) {
  program_ = program;
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
  if (words::checked) note(out, bytes);
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
  // A program that allocates more than the machine has uses its objects in parts only.
  if (fresh && begin + room <= machine_memory()) memory_->affinity().expect_use(part + begin, room);
  const auto at = reinterpret_cast<uintptr_t>(part + begin + sizeof(Head) + alignment - 1) / alignment * alignment;
  char* const object = reinterpret_cast<char*>(at);
  *(reinterpret_cast<Head*>(object) - 1) = {begin, bytes, room, rank};
  if (zeroed && !fresh) std::memset(object, 0, bytes);
  if (recording()) note_object(object, bytes);
  if (words::checked) note(object, bytes);
  return object;
}

// Returns the source line of the program's code that has called for an object.
const char* Objects::place_of_caller() {
  struct Walk {
    const Program& program;
    uintptr_t code = 0;
  } walk{program_};
  const auto look = [](_Unwind_Context* frame, void* argument) {
    Walk& walk = *static_cast<Walk*>(argument);
    const uintptr_t code = _Unwind_GetIP(frame);
    if (!walk.program.has(code) && !instance<Libraries>().has(code)) return _URC_NO_REASON;
    walk.code = code;
    return _URC_NORMAL_STOP;
  };
  _Unwind_Backtrace(look, &walk);
  const auto* const code = reinterpret_cast<const char*>(walk.code);  // NOLINT(performance-no-int-to-ptr)
  const auto [found, fresh] = places_.try_emplace(code);
  if (fresh) found->second = code == nullptr ? Heap::unnamed_place : source_location(code - 1);
  return found->second.c_str();
}

void Objects::note(const void* object, size_t bytes) {
  const auto* const begin = static_cast<const char*>(object);
  const std::lock_guard guard(known_lock_);
  // An object that another rank has freed may be known here still.
  for (auto known = known_.upper_bound(begin); known != known_.end() && known->second.begin < begin + bytes;)
    known = known_.erase(known);
  known_[begin + bytes] = {begin, bytes, place_of_caller()};
}

Objects::Known Objects::find(const void* address) {
  const auto* const at = static_cast<const char*>(address);
  const std::lock_guard guard(known_lock_);
  const auto known = known_.upper_bound(at);
  return known == known_.end() || known->second.begin > at ? Known{} : known->second;
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
