// Looking addresses up, preloading sections, and atomics on shared integers.
#include <algorithm>
#include <atomic>

#include "base/log.hpp"
#include "base/text.hpp"
#include "memory/parts.hpp"
#include "memory/space.hpp"

namespace hiroba {

bool Memory::contains(const void* address) const { return space_->contains(address); }
uint64_t Memory::offset(const void* address) const { return space_->offset(address); }

bool Memory::is_guard(const void* address) const {
  const Array* const array = arrays_.live(page_of(address));
  if (array == nullptr || array->parts.stride == 0) return false;
  const auto at = static_cast<uint64_t>(static_cast<const char*>(address) - array->data);
  return at % array->parts.stride >= array->parts.stride - array->parts.guard;
}

bool Memory::may_need_pages(const void* address, size_t bytes) const {
  if (bytes == 0 || (parts_->cache == nullptr && !parts_->races.on())) return false;
  return space_->contains(address) || space_->contains(static_cast<const char*>(address) + bytes - 1);
}

bool Memory::finds_races() const { return parts_->races.on(); }
void Memory::note_order() {
  if (parts_->races.on()) parts_->races.recorder().note(SyncEvent::any, 0, 0);
}
bool Memory::record_fault(const void* address, ucontext_t& context) {
  return parts_->races.on() && parts_->races.recorder().on_fault(address, context);
}
bool Memory::record_trap(ucontext_t& context) {
  return parts_->races.on() && parts_->races.recorder().on_trap(context);
}

Status Memory::find(const void* address, Array*& out) const {
  if (space_->contains(address)) {
    Array* const array = arrays_.live(page_of(address));
    const char* const at = static_cast<const char*>(address);
    if (array != nullptr && at >= array->data && at < array->data + array->distribution.bytes()) {
      out = array;
      return {};
    }
  }
  return Status::error(explain(address));
}

std::string element_name(const Array& array, int64_t byte) {
  const Distribution& d = array.distribution;
  std::string indices;
  int64_t element = byte / static_cast<int64_t>(d.element_bytes());
  for (int i = d.dims() - 1; i >= 0; element /= d.dim(i--))
    indices.insert(0, format("[%lld]", static_cast<long long>(i == 0 ? element : element % d.dim(i))));
  return array.name + indices;
}

// An address beside a coarray's part.
std::string Memory::explain_part(const Array& array, const char* address) const {
  const GuardedParts& parts = array.parts;
  const auto distance = address - array.data, stride = static_cast<int64_t>(parts.stride);
  const int64_t part = std::max<int64_t>(0, distance) / stride;
  const auto element = static_cast<int64_t>(parts.element);
  const int64_t byte = distance - part * stride - static_cast<int64_t>(parts.gap);
  const int64_t index = byte < 0 ? -((-byte + element - 1) / element) : byte / element;
  return format("out of range: element %lld of image %lld's part of coarray %s, which has %llu elements of %llu bytes",
                static_cast<long long>(index), static_cast<long long>(part), parts.name.c_str(),
                static_cast<unsigned long long>(parts.bytes / parts.element),
                static_cast<unsigned long long>(parts.element));
}

// What an address is, for somebody who used it wrongly. Also called in the fault handler, just before the end.
std::string Memory::explain(const void* address) const {
  if (!space_->contains(address)) return format("address %p is not in a shared array", address);
  const uint64_t page = page_of(address);
  const Array* before = arrays_.find(page);
  if (const Array* const live = arrays_.live(page); live != nullptr && live->parts.stride != 0)
    return explain_part(*live, static_cast<const char*>(address));
  const Array* after = nullptr;
  arrays_.for_each_live([&](const Array& a) {
    if (a.first_page > page && (after == nullptr || a.first_page < after->first_page)) after = &a;
  });
  const char* const at = static_cast<const char*>(address);
  const auto describe = [](const Array& a) {
    return format("array %s (%llu elements of %llu bytes)", a.name,
                  static_cast<unsigned long long>(a.distribution.elements()),
                  static_cast<unsigned long long>(a.distribution.element_bytes()));
  };
  if (before != nullptr && before->freed && page < before->end_page)
    return format("use after sms_free of %s, index %lld", describe(*before).c_str(),
                  static_cast<long long>((at - before->data) /
                                         static_cast<int64_t>(before->distribution.element_bytes())));
  const uint64_t past =
      before == nullptr ? UINT64_MAX : static_cast<uint64_t>(at - (before->data + before->distribution.bytes()));
  const uint64_t short_of = after == nullptr ? UINT64_MAX : static_cast<uint64_t>(after->data - at);
  if (after != nullptr && short_of < past && short_of < Space::unit)
    return format("out of range: %llu bytes before the start of %s", static_cast<unsigned long long>(short_of),
                  describe(*after).c_str());
  if (before == nullptr) return format("address %p belongs to no shared array", address);
  if (at < before->data)
    return format("out of range: %llu bytes before the start of %s", static_cast<unsigned long long>(before->data - at),
                  describe(*before).c_str());
  return format("out of range: index %llu, %llu bytes past the end of %s",
                static_cast<unsigned long long>(static_cast<uint64_t>(at - before->data) /
                                                before->distribution.element_bytes()),
                static_cast<unsigned long long>(past), describe(*before).c_str());
}

bool Memory::may_fault(const void* address, size_t bytes) const {
  if (parts_->cache == nullptr || bytes == 0) return false;
  const char* const last = static_cast<const char*>(address) + bytes - 1;
  if (!space_->contains(address) && !space_->contains(last)) return false;
  const Array* const array = space_->contains(address) ? arrays_.live(page_of(address)) : nullptr;
  if (array == nullptr || !space_->contains(last)) return true;
  for (uint64_t page = page_of(address); page <= page_of(last);) {
    if (page >= array->end_page) return true;
    const HomeRun& run = array->home(page);
    if (job_.node_of(run.rank) != job_.node) return true;
    page = run.first + run.pages;
  }
  return false;
}

bool Memory::serve_fault(void* address) {
  Array* const array = arrays_.live(page_of(address));
  if (array == nullptr || parts_->cache == nullptr) return false;
  transport_->faulting(true);
  if (check_ && array->preloaded.load()) {
    const char* const at = std::max<const char*>(static_cast<char*>(address), array->data);
    end_job(1,
            "element %zu of array %s has not been preloaded since the last synchronisation, as sms_promise_preload "
            "promises; preload it, or leave out the promise",
            static_cast<size_t>(at - array->data) / array->distribution.element_bytes(), array->name);
  }
  const double begin = times_.on ? seconds_now() : 0;
  const bool served = parts_->cache->fault(*array, page_of(address));
  if (times_.on) times_.faults.fetch_add(seconds_now() - begin, std::memory_order_relaxed);
  transport_->faulting(false);
  return served;
}

Status Memory::start_preload_bytes(const void* address, size_t bytes) {
  if (bytes == 0) return {};
  Array* array = nullptr;
  HIROBA_TRY(find(address, array));
  const char* const last = static_cast<const char*>(address) + bytes - 1;
  if (last < static_cast<const char*>(address) || last >= array->data + array->distribution.bytes())
    return Status::error("preload of " + show_bytes(bytes) + " is " + explain(last));
  if (parts_->cache != nullptr && parts_->cache->start_preload(*array, page_of(address), page_of(last) + 1))
    transport_->linger();
  return {};
}

// Under --check nothing is promised, so what breaks the promise faults. What may lie in huge pages from now on is
// gathered at once if it has been filled: the loop that the promise is for should not begin with it.
Status Memory::preload_only(const void* data) {
  Array* array = nullptr;
  HIROBA_TRY(find(data, array));
  array->preloaded.store(true);
  if (array->barriers > 0) use_huge_pages(*array);
  return {};
}

size_t Memory::most_to_bring() const {
  return parts_->cache == nullptr ? SIZE_MAX : static_cast<size_t>(parts_->cache->most_at_once()) * page_bytes;
}

void Memory::bring_pages(const char* address, size_t bytes, bool to_write) {
  if (parts_->races.on()) parts_->races.recorder().access(address, bytes, to_write, calling_place());
  if (parts_->cache == nullptr) return;
  if (start_preload_bytes(address, bytes).ok()) parts_->cache->finish_preloads();
  // An access by this thread, as the program would make it, where the preload found no room or the page is watched.
  for (size_t at = 0; at < bytes; at += page_bytes) (void)*static_cast<const volatile char*>(address + at);
  (void)*static_cast<const volatile char*>(address + bytes - 1);
}

Status Memory::bring_all_pages(const void* address, size_t bytes, bool to_write) {
  const char* const begin = static_cast<const char*>(address);
  // A quarter of the cache: the same call may have another buffer, and the program's own pages need some.
  const size_t most =
      parts_->cache == nullptr ? SIZE_MAX : static_cast<size_t>(parts_->cache->limit_pages()) * page_bytes / 4;
  size_t away = 0;
  for (size_t at = 0; bytes > most && at < bytes; at += page_bytes) away += may_fault(begin + at, 1) ? page_bytes : 0;
  if (away > most)
    return Status::error(
        format("%s of shared memory of other nodes, but the cache has room for %s in one buffer; move it in parts, use "
               "private "
               "memory, or start the program with --cache %zuM",
               show_bytes(away).c_str(), show_bytes(most).c_str(), (4 * away >> 20) + 1));
  for (size_t done = 0, piece; done < bytes; done += piece) {
    piece = std::min(bytes - done, most_to_bring());
    bring_pages(begin + done, piece, to_write);
  }
  return {};
}

std::vector<PageRun> Memory::cached_pages() {
  return parts_->cache == nullptr ? std::vector<PageRun>{} : parts_->cache->here();
}

void Memory::start_preload(std::span<const PageRun> runs) {
  bool any = false;
  for (const PageRun& run : runs) {
    Array* const array = arrays_.live(run.first);  // may have been freed since
    if (array == nullptr || parts_->cache == nullptr) continue;
    any = parts_->cache->start_preload(*array, run.first, std::min(array->end_page, run.first + run.pages)) || any;
  }
  if (any) transport_->linger();
}

void Memory::preload_wait() {
  if (parts_->cache != nullptr) parts_->cache->finish_preloads();
}

void Memory::preload_wait(const PageRun& run) {
  if (parts_->cache != nullptr && run.pages > 0) parts_->cache->finish_preloads(run.first, run.first + run.pages);
}

Status Memory::start_preload(const void* data, std::span<const Range> section, PageRun* run) {
  Array* array = nullptr;
  HIROBA_TRY(find(data, array));
  const Distribution& d = array->distribution;
  bool empty = false;
  for (int i = 0; i < d.dims(); ++i) {
    const Range& r = section[static_cast<size_t>(i)];
    empty = empty || r.length == 0;
    // Compared without multiplying, so that nothing overflows.
    const bool fits = r.base >= 0 && r.length >= 0 && r.step >= 1 && r.base <= d.dim(i) &&
                      (r.length == 0 || (r.base < d.dim(i) && (r.length - 1) <= (d.dim(i) - 1 - r.base) / r.step));
    if (!fits)
      return Status::error(
          format("section %lld:%lld:%lld of dimension %d of array %s is outside 0..%lld (base:length:step)",
                 static_cast<long long>(r.base), static_cast<long long>(r.length), static_cast<long long>(r.step), i,
                 array->name, static_cast<long long>(d.dim(i) - 1)));
  }
  PageRun pages = {0, 0};
  if (parts_->cache != nullptr && !empty && preload_box(*array, section, pages)) transport_->linger();
  if (run != nullptr) *run = pages;
  return {};
}

// Dimensions that are taken whole and lie inside are one run of bytes with the next outer one. True if anything is on
// its way.
bool Memory::preload_box(Array& array, std::span<const Range> section, PageRun& run_of_all) {
  const Distribution& d = array.distribution;
  int inner = d.dims() - 1;
  int64_t stride = static_cast<int64_t>(d.element_bytes());  // bytes from one index of `inner` to the next
  while (inner > 0 && section[static_cast<size_t>(inner)].length == d.dim(inner)) stride *= d.dim(inner--);
  const Range& run = section[static_cast<size_t>(inner)];
  const bool solid = run.step == 1 || run.step * stride <= static_cast<int64_t>(page_bytes);
  const int outer = solid ? inner : inner + 1;  // dimensions [0, outer) are walked index by index
  const int64_t run_bytes = solid ? ((run.length - 1) * run.step + 1) * stride : stride;
  std::array<int64_t, Distribution::max_dims> index{};
  uint64_t next = 0;  // pages below this are done
  bool any = false;
  for (;;) {
    int64_t offset = solid ? run.base * stride : 0, step = stride;
    for (int i = inner; i >= 0; --i) {
      const Range& r = section[static_cast<size_t>(i)];
      if (i < outer) offset += (r.base + index[static_cast<size_t>(i)] * r.step) * step;
      step *= d.dim(i);
    }
    const uint64_t first = page_of(array.data + offset), end = page_of(array.data + offset + run_bytes - 1) + 1;
    if (end > next) any = parts_->cache->start_preload(array, std::max(first, next), end) || any;
    if (next == 0) run_of_all.first = first;
    next = std::max(next, end);
    run_of_all.pages = next - run_of_all.first;
    int i = outer - 1;
    while (i >= 0 && ++index[static_cast<size_t>(i)] == section[static_cast<size_t>(i)].length)
      index[static_cast<size_t>(i--)] = 0;
    if (i < 0) return any;
  }
}

// ---- atomics --------------------------------------------------------------------------------------------------------

Status Memory::locate(void* address, unsigned bytes, AtomicPlace& out) const {
  Array* array = nullptr;
  HIROBA_TRY(find(address, array));
  if (reinterpret_cast<uintptr_t>(address) % bytes != 0)
    return Status::error(format("atomic on %u bytes at %p, which is not a multiple of %u, in array %s", bytes, address,
                                bytes, array->name));
  const int rank = array->home(page_of(address)).rank;
  out = {rank, space_->offset(address), array, job_.node_of(rank) == job_.node};
  return {};
}

// The home has changed by our doing: others must hear of it at the next barrier, and our own copy is out of date.
void Memory::forget_atomic(const AtomicPlace& place) {
  if (parts_->cache == nullptr) return;
  parts_->cache->note(place.offset >> page_shift);
  if (!place.mapped) parts_->cache->flush_and_drop(*place.array, place.offset >> page_shift);
}

// Atomics reach the home by another mapping then, so that they do not count as plain accesses to the page.
void Memory::record_atomic(const AtomicPlace& place, bool writes) {
  if (!parts_->races.on()) return;
  if (writes) parts_->races.recorder().blur(place.offset >> page_shift);
  note_order();
}

Status Memory::atomic_add(void* address, unsigned bytes, uint64_t value, uint64_t& old) {
  AtomicPlace place = {};
  HIROBA_TRY(locate(address, bytes, place));
  record_atomic(place, value != 0);
  if (place.mapped && !parts_->races.on()) {
    old = bytes == 8 ? std::atomic_ref(*static_cast<uint64_t*>(address)).fetch_add(value)
                     : std::atomic_ref(*static_cast<uint32_t*>(address)).fetch_add(static_cast<uint32_t>(value));
    return {};
  }
  old = bytes == 8 ? transport_->fetch_add64(place.rank, place.offset, value)
                   : transport_->fetch_add32(place.rank, place.offset, static_cast<uint32_t>(value));
  if (value != 0) forget_atomic(place);
  return {};
}

Status Memory::atomic_swap(void* address, unsigned bytes, uint64_t expected, uint64_t desired, uint64_t& old) {
  AtomicPlace place = {};
  HIROBA_TRY(locate(address, bytes, place));
  record_atomic(place, true);
  if (place.mapped && !parts_->races.on()) {
    if (bytes == 8) {
      old = expected;
      std::atomic_ref(*static_cast<uint64_t*>(address)).compare_exchange_strong(old, desired);
    } else {
      uint32_t found = static_cast<uint32_t>(expected);
      std::atomic_ref(*static_cast<uint32_t*>(address)).compare_exchange_strong(found, static_cast<uint32_t>(desired));
      old = found;
    }
    return {};
  }
  old = bytes == 8 ? transport_->compare_swap64(place.rank, place.offset, expected, desired)
                   : transport_->compare_swap32(place.rank, place.offset, static_cast<uint32_t>(expected),
                                                static_cast<uint32_t>(desired));
  if (old == expected) forget_atomic(place);
  return {};
}

}  // namespace hiroba
