#include "memory/heap/heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/tables/phrases.hpp"
#include "base/text.hpp"
#include "memory/heap/arenas.hpp"
#include "memory/heap/checker.hpp"
#include "memory/heap/packs.hpp"
#include "memory/heap/thread_cache.hpp"
#include "memory/parts.hpp"

namespace hiroba {

namespace {

// Bytes that a thread allocates between two samples of the places.
constexpr int64_t sample_bytes = 512 << 10;

}  // namespace

struct HeapParts {
  HeapSpace space;
  HeapArenas arenas;
  HeapPacks packs;  // option heap-pack
  HeapThreadCaches caches;
  HeapReturns returns;
  HeapSites sites;
  HeapObjects objects;
  std::unique_ptr<HeapChecker> checker;  // option check
  int self = 0;

  std::mutex draining;
  std::vector<FreedObject> arrived;  // guarded by draining

  void forget(const HeapObject& object) { sites.add(object.site, -object.weight, -1); }
  // Notes the size of a new object. `kept`: threads may keep it when it is freed.
  void note_size(const void* object, uint64_t bytes, bool kept) {
    const uint64_t position = space.position(object);
    space.set_size(position, bytes);
    caches.set_size(position, kept ? bytes : 0);
  }
  void free_small(void* object) {
    if (packs.has(space.position(object))) packs.put(object);
    else arenas.free(self, object);
  }
};

Heap::Heap(MemoryParts& parts) : parts_(parts), heap_(std::make_unique<HeapParts>()) {}
Heap::~Heap() = default;

// ---- start and end -------------------------------------------------------------------------------------------------

Status Heap::part_size(const Options& options, int nranks, uint64_t space, uint64_t& bytes) {
  constexpr uint64_t usual = uint64_t{64} << 30, least = uint64_t{64} << 20;
  const uint64_t ranks = static_cast<uint64_t>(nranks), wanted = options.bytes("heap");
  const uint64_t fits = std::bit_floor(space / 2 / ranks);
  if (wanted == 0) {
    bytes = std::min(usual, fits / 2);
    if (bytes < least) bytes = 0;
    return {};
  }
  bytes = std::bit_ceil(std::max(wanted, least));
  if (bytes <= std::min(fits, HeapSpace::most_bytes)) return {};
  return Status::error("option heap=%s: for %d ranks that is more than half of the address range of %s (option space)",
                       options.text("heap").c_str(), nranks, show_bytes(space).c_str());
}

void Heap::listen(Transport& transport) { heap_->returns.listen(transport); }

Status Heap::start(const Options& options) {
  HeapParts& h = *heap_;
  const MemoryParts& p = parts_;
  h.self = p.job.rank;
  const uint64_t given = options.bytes("heap");
  const uint64_t limit = given != 0 ? given : std::min(p.layout.heap_bytes, machine_memory());
  HIROBA_TRY(h.space.start({p.layout, p.job, p.space.base(), p.transport.get(), limit}));
  if (p.layout.heap_bytes == 0) return {};
  HIROBA_TRY(h.objects.start(h.space.bytes()));
  h.sites.start(p.layout, p.job, p.space.base(), p.transport.get());
  HIROBA_TRY(add_arrays());
  h.arenas.start(p.job.rank, p.job.nranks,
                 {[&h](int home, uint64_t bytes, uint64_t alignment) { return h.space.take(home, bytes, alignment); },
                  [this](void* address, uint64_t bytes) { give_back(address, bytes); }});
  h.returns.start({p.layout, p.job, p.space.base(), p.transport.get(),
                   [this](std::span<const FreedObject> objects) { publish_writes(objects); }});
  if (options.flag("heap-pack") && !p.check && p.job.ranks_on(p.job.node) > 1)
    HIROBA_TRY(h.packs.start(
        {p.layout, p.job, p.space.base(), &h.space, [this](void* page, uint64_t bytes) { give_back(page, bytes); }}));
  HIROBA_TRY(h.caches.start({h.space.address(0), h.space.bytes(), [this](size_t bytes) { return fetch_small(bytes); },
                             [&h](void* object) { h.free_small(object); }, sample_bytes}));
  if (!p.check) return {};
  h.checker = std::make_unique<HeapChecker>(
      HeapChecker::Config{&h.space, &h.sites, &h.objects, h.self, p.races.on() ? &parts_.races : nullptr,
                          [this](uint64_t position, uint64_t bytes) { refresh(position, bytes); },
                          [&h](uint64_t position) { return HeapArenas::size(h.space.address(position)); },
                          [&h](uint64_t position) {
                            h.arenas.free(h.space.home(position), h.space.address(position));
                          }});
  parts_.races.name_objects([&h, first = p.layout.heap(0)](uint64_t at) { return h.checker->object_at(at - first); });
  return {};
}

// A rank's part is an array like others, whole on the rank, so that faults, diffs, atomics and locks find it.
Status Heap::add_arrays() {
  MemoryParts& p = parts_;
  for (int rank = 0; rank < p.job.nranks; ++rank) {
    const uint64_t offset = p.layout.heap(rank), bytes = p.layout.heap_bytes;
    auto array = std::make_unique<Array>();
    const std::vector<int64_t> dim = {static_cast<int64_t>(bytes)}, div = {1};
    HIROBA_TRY(Distribution::make(dim, div, 1, rank, 1, p.job.nranks, array->distribution));
    array->first_page = offset >> page_shift, array->end_page = (offset + bytes) >> page_shift;
    array->homes = {{array->first_page, bytes >> page_shift, rank}};
    array->data = p.space.base() + offset;
    array->is_heap = true;
    array->watched = p.races.on() && p.job.nranks > 1;
    array->freed_by = phrases().free_object;
    std::strncpy(array->name, format("the heap of rank %d", rank).c_str(), sizeof array->name - 1);
    for (uint64_t done = 0; done < bytes; done += HeapSpace::attached_bytes)
      HIROBA_TRY(p.transport->attach(offset + done, std::min(bytes - done, HeapSpace::attached_bytes), rank));
    const uint64_t sizes = p.layout.heap_classes(rank), sizes_bytes = bytes >> page_shift;
    HIROBA_TRY(p.transport->attach(sizes, sizes_bytes, rank));
    if (p.is_here(rank)) {
      HIROBA_TRY(map_of_node(p, offset, bytes));
      HIROBA_TRY(map_of_node(p, sizes, sizes_bytes));
    }
    if (p.cache != nullptr) HIROBA_TRY(p.cache->copies.add(*array, p.twin_at_fetch));
    const Array& inserted = *array;
    p.table.insert(std::move(array));
    if (p.races.on()) p.races.recorder().add(inserted);
  }
  return {};
}

Status Heap::at_barrier() {
  if (parts_.layout.heap_bytes == 0) return {};
  heap_->returns.send_all();
  return drain();
}

// Only the checker needs the objects that others have freed last.
Status Heap::finish() {
  if (heap_->checker == nullptr) return {};
  HIROBA_TRY(drain());
  return heap_->checker->finish();
}

// ---- allocation ----------------------------------------------------------------------------------------------------

void* Heap::allocate_kept(size_t bytes) { return HeapThreadCache::allocate(bytes); }

std::span<const char> Heap::addresses() const {
  const Layout& layout = parts_.layout;
  return {parts_.space.base() + layout.heap(0), layout.space - layout.heap(0)};
}

bool Heap::contains(const void* address) const { return heap_->space.position(address) < heap_->space.bytes(); }

uint64_t Heap::size(const void* object) const { return heap_->space.size(heap_->space.position(object)); }

Status Heap::allocate(const Request& request, void*& out) {
  HeapParts& h = *heap_;
  const int home = request.home == caller ? h.self : request.home;
  if (home < 0 || home >= parts_.job.nranks)
    return Status::error("rank %d does not exist: the job has ranks 0..%d", request.home, parts_.job.nranks - 1);
  if (parts_.layout.heap_bytes == 0)
    return Status::error("this job has no heap: options heap and space leave no room for it");
  if (h.returns.any()) HIROBA_TRY(drain());
  place(request, home, out);
  if (out != nullptr) return {};
  // Objects that others have freed, and those that option check keeps, may make room.
  HIROBA_TRY(drain());
  if (h.checker != nullptr) HIROBA_TRY(h.checker->give_up(0));
  place(request, home, out);
  return out != nullptr ? Status() : exhausted(request, home);
}

// Sets `out` to null if there is no room. The size of a sampled object is rounded up to pages, so that the others'
// frees need not look for samples.
void Heap::place(const Request& request, int home, void*& out) {
  HeapParts& h = *heap_;
  const size_t bytes = std::max<size_t>(request.bytes, 1);
  const bool checked = h.checker != nullptr;
  int64_t& until_sample = h.caches.mine().until_sample;
  until_sample -= static_cast<int64_t>(std::min<size_t>(bytes, std::numeric_limits<int64_t>::max() / 2));
  const bool sampled = !checked && until_sample < 0;
  const bool may_keep = !checked && home == h.self;
  const bool any_of_node = request.home == caller || !h.packs.on();  // objects that threads keep may have another home
  if (may_keep && any_of_node && !sampled && bytes <= HeapThreadCache::largest &&
      request.alignment <= HeapArenas::natural_alignment(bytes)) {
    out = h.caches.take(bytes);
    if (out != nullptr && request.zeroed) std::memset(out, 0, bytes);
    return;
  }
  const size_t alignment = sampled ? std::max<size_t>(request.alignment, page_bytes) : request.alignment;
  const size_t wanted = bytes + (checked ? HeapChecker::margin : 0);
  out = h.arenas.allocate(home, wanted, alignment, request.zeroed);
  if (out == nullptr) return;
  const uint64_t position = h.space.position(out);
  const bool natural = alignment <= HeapArenas::natural_alignment(wanted);
  h.note_size(out, natural ? HeapArenas::rounded(wanted) : HeapArenas::size(out), may_keep);
  if (checked) return h.checker->allocated(position, bytes, request.place);
  if (!sampled) return;
  const HeapObject object = {bytes, sample_bytes - until_sample, h.sites.number(request.place)};
  until_sample = sample_bytes;
  h.sites.add(object.site, object.weight, 1);
  h.objects.add(position, object);
}

// Fetches objects for the caches of threads. An object that another rank of the node has freed may be used again before
// this rank has seen that rank's writes: README.md, "Heap", has the reason for the notice.
void* Heap::fetch_small(size_t bytes) {
  HeapParts& h = *heap_;
  if (void* const packed = h.packs.on() ? h.packs.take(HeapArenas::rounded(bytes)) : nullptr; packed != nullptr) {
    const uint64_t position = h.space.position(packed);
    const PageRun run = {h.space.page(position), 1};
    h.note_size(packed, h.packs.size(position), true);
    if (parts_.cache == nullptr || parts_.cache->writeback.note({&run, 1})) return packed;
    h.packs.put(packed);
  }
  void* const object = h.arenas.allocate(h.self, bytes, 1, false);
  if (object != nullptr) h.note_size(object, HeapArenas::rounded(bytes), true);
  return object;
}

Status Heap::exhausted(const Request& request, int home) const {
  const HeapParts& h = *heap_;
  const std::vector<uint64_t> taken = h.space.taken(home);
  std::string holders, places;
  for (size_t rank = 0; rank < taken.size(); ++rank)
    if (taken[rank] > 0)
      holders += format("%srank %zu has taken %s", holders.empty() ? "" : ", ", rank, show_bytes(taken[rank]).c_str());
  constexpr size_t most = 4;
  const std::vector<HeapSites::Holding> holdings = h.sites.holdings(0, parts_.job.nranks);
  for (size_t i = 0; i < std::min(most, holdings.size()); ++i)
    places += format("%s%s (rank %d): %s", places.empty() ? "" : ", ", holdings[i].place.c_str(), holdings[i].rank,
                     show_bytes(static_cast<uint64_t>(holdings[i].bytes)).c_str());
  return Status::error(
      "no room for %s in the heap of rank %d, which may have %s (option heap): %s; objects are%s from %s; free some, "
      "or give --heap a larger size",
      show_bytes(request.bytes).c_str(), home, show_bytes(h.space.limit(home)).c_str(),
      holders.empty() ? "nobody has taken any" : holders.c_str(), h.checker != nullptr ? "" : ", by samples,",
      places.empty() ? "no place yet" : places.c_str());
}

// ---- frees ---------------------------------------------------------------------------------------------------------

std::string Heap::explain(const void* address) const {
  const HeapParts& h = *heap_;
  if (!contains(address)) return parts_.arrays.explain(address);
  std::string inside = h.checker != nullptr ? h.checker->explain(h.space.position(address)) : "";
  if (!inside.empty()) return inside;
  return format("address %p in the heap of rank %d, where no object is", address,
                h.space.home(h.space.position(address)));
}

bool Heap::keep(void* object) { return HeapThreadCache::free(object); }

namespace {

// Returns the size of a live object. Asking its home may take a message, so the answer serves for the next object on
// the page, too, unless this rank has synchronised: the object then may be a new one of another size.
uint64_t size_for_recorder(const HeapSpace& space, RaceChecker& races, uint64_t position) {
  static thread_local uint64_t page = 0, segment = 0, bytes = 0;
  const uint64_t now = races.segment();
  if (page != space.page(position) || segment != now)
    bytes = space.size(position), page = space.page(position), segment = now;
  return bytes;
}

}  // namespace

Status Heap::free(void* object, const char* place) {
  HeapParts& h = *heap_;
  const uint64_t position = h.space.position(object);
  if (position >= h.space.bytes()) {
    const Array* const array = parts_.arrays.at(object);
    return Status::error("%p is not from the heap: %s", object,
                         array != nullptr
                             ? format("it is in array %s, which %s gives back", array->name, array->freed_by).c_str()
                             : parts_.arrays.explain(object).c_str());
  }
  const int owner = h.space.owner(position);
  if (owner < 0 || reinterpret_cast<uintptr_t>(object) % sizeof(uint64_t) != 0)
    return Status::error("%p is in the heap of rank %d, but no object begins there", object, h.space.home(position));
  const FreedObject freed = {position, h.self, h.checker != nullptr ? h.sites.number(place) : 0};
  if (parts_.races.on())
    parts_.races.recorder().access(static_cast<const char*>(object), size_for_recorder(h.space, parts_.races, position),
                                   AccessRecord::write | AccessRecord::frees, place);
  if (owner == h.self || h.packs.has(position)) return free_own(object, freed);
  h.returns.add(owner, freed);
  return h.returns.any() ? drain() : Status();
}

Status Heap::free_own(void* object, const FreedObject& freed) {
  HeapParts& h = *heap_;
  if (h.checker != nullptr) return h.checker->freed(freed);
  if (h.objects.may_have(freed.position))
    if (const auto noted = h.objects.take(freed.position); noted) h.forget(*noted);
  if (h.packs.has(freed.position)) h.caches.set_size(freed.position, h.packs.size(freed.position));
  if (!h.caches.put(object)) h.arenas.free(h.space.home(freed.position), object);
  return {};
}

// Frees this rank's objects that others have freed. Returns at once if another thread does it.
Status Heap::drain() {
  HeapParts& h = *heap_;
  const std::unique_lock<std::mutex> guard(h.draining, std::try_to_lock);
  if (!guard.owns_lock()) return {};
  h.returns.take(h.arrived);
  if (h.arrived.empty() || !publish_reuse(h.arrived)) return {};
  Status status;
  for (const FreedObject& freed : h.arrived)
    if (status.ok()) status = free_own(h.space.address(freed.position), freed);
  h.arrived.clear();
  return status;
}

Status Heap::reallocate(void* object, const Request& request, void*& out) {
  HeapParts& h = *heap_;
  const uint64_t position = h.space.position(object);
  if (position >= h.space.bytes() || h.space.owner(position) < 0) return free(object, request.place);  // free() fails
  const bool own = h.space.owner(position) == h.self && !h.packs.has(position);
  const uint64_t room = own ? HeapArenas::size(object) : h.space.size(position);
  uint64_t bytes = room;
  if (own && h.checker != nullptr) {
    const auto known = h.objects.find(position);
    if (!known) return free(object, request.place);
    bytes = known->bytes;
  } else if (own && HeapArenas::rounded(std::max<size_t>(request.bytes, 1)) == room) {
    out = object;
    return {};
  }
  Request fresh = request;
  fresh.home = h.space.home(position);
  HIROBA_TRY(allocate(fresh, out));
  std::memcpy(out, object, std::min<uint64_t>(bytes, request.bytes));
  return free(object, request.place);
}

// ---- consistency: README.md, "Heap" --------------------------------------------------------------------------------

// Ensures that this rank's writes to objects that it has freed are at their homes before the objects can be used again.
void Heap::publish_writes(std::span<const FreedObject> objects) {
  if (parts_.cache == nullptr) return;
  std::vector<int> homes;
  for (const FreedObject& freed : objects)
    if (const int home = heap_->space.home(freed.position); !parts_.is_here(home)) homes.push_back(home);
  std::sort(homes.begin(), homes.end());
  homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
  for (const int home : homes)
    parts_.cache->writeback.flush(*parts_.table.live(parts_.layout.heap(home) >> page_shift));
}

// Called before objects that others have freed are used again: drops stale copies of their pages and names the pages in
// the next release. Returns false if the notices have no room for them before the next barrier.
bool Heap::publish_reuse(const std::vector<FreedObject>& objects) {
  if (parts_.cache == nullptr) return true;
  HeapParts& h = *heap_;
  std::vector<uint64_t> positions;
  for (const FreedObject& freed : objects) positions.push_back(freed.position);
  std::sort(positions.begin(), positions.end());
  std::vector<PageRun> runs;
  uint64_t bytes = 0, known = 0;  // the size of the objects that begin on this page; asking its home may take a message
  for (const uint64_t position : positions) {
    const uint64_t first = h.space.page(position);
    if (first != known) bytes = std::max<uint64_t>(h.space.size(position), 1), known = first;
    runs.push_back({first, h.space.page(position + bytes - 1) + 1 - first});
  }
  size_t last = 0;
  for (size_t i = 1; i < runs.size(); ++i) {
    const uint64_t end = runs[last].first + runs[last].pages;
    if (runs[i].first <= end) runs[last].pages = std::max(end, runs[i].first + runs[i].pages) - runs[last].first;
    else runs[++last] = runs[i];
  }
  runs.resize(last + 1);
  if (!parts_.cache->writeback.note(runs)) return false;
  for (const PageRun& run : runs) refresh((run.first << page_shift) - parts_.layout.heap(0), run.pages << page_shift);
  return true;
}

// Drops copies of these pages, after this rank's writes to them are at the home.
void Heap::refresh(uint64_t position, uint64_t bytes) {
  if (parts_.cache == nullptr) return;
  const uint64_t first = heap_->space.page(position), end = heap_->space.page(position + bytes - 1) + 1;
  for (uint64_t page = first; page < end; ++page)
    if (Array& array = *parts_.table.live(page); !parts_.is_here(array.home(page).rank))
      parts_.cache->writeback.flush_and_drop(array, page);
}

// Returns the memory of free pages of this rank's objects to the system; they read as zero afterwards. Memory of
// another machine is kept, because only that machine could return it.
void Heap::give_back(void* address, uint64_t bytes) {
  const uint64_t position = heap_->space.position(address);
  const int fd = parts_.job.node_fds[parts_.job.node_of(heap_->space.home(position))];
  if (fd < 0) return;
  if (parts_.cache != nullptr) {
    const PageRun run = {heap_->space.page(position), bytes >> page_shift};
    if (!parts_.cache->writeback.note({&run, 1})) return;
    refresh(position, bytes);
  }
  punch_hole(fd, parts_.space.offset(address), bytes);
}

Status Heap::statistics(Statistics& out, bool exact) {
  const HeapParts& h = *heap_;
  if (exact) HIROBA_TRY(drain());
  const HeapArenas::Use use = h.arenas.use();
  const int64_t live = static_cast<int64_t>(use.live) + h.packs.taken() - static_cast<int64_t>(h.caches.kept());
  const bool counts_packs = h.packs.on() && h.self == parts_.job.first_rank_of(parts_.job.node);
  out = {static_cast<uint64_t>(std::max<int64_t>(0, live)), use.used + (counts_packs ? h.packs.used() : 0),
         h.returns.counts().objects.load(), h.returns.counts().batches.load()};
  return {};
}

}  // namespace hiroba
