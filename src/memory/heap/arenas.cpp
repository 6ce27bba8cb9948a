#include "memory/heap/arenas.hpp"

#include <jemalloc/jemalloc.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <string>

#include "base/status.hpp"
#include "base/text.hpp"

// cmake/HirobaJemalloc.cmake gives the functions these names.
extern "C" {
#define HIROBA_INNER __attribute__((visibility("hidden")))
HIROBA_INNER void* hiroba_je_malloc(size_t bytes);
HIROBA_INNER void hiroba_je_free(void* object);
HIROBA_INNER void* hiroba_je_mallocx(size_t bytes, int flags);
HIROBA_INNER void hiroba_je_dallocx(void* object, int flags);
HIROBA_INNER size_t hiroba_je_sallocx(const void* object, int flags);
HIROBA_INNER int hiroba_je_mallctl(const char* name, void* old, size_t* old_bytes, void* fresh, size_t fresh_bytes);
// jemalloc's own arena serves nothing here; free memory is given back after a while (see purge_lazy below). Its thread
// caches are small, because HeapThreadCache is in front of them.
HIROBA_INNER extern const char* hiroba_je_malloc_conf;
const char* hiroba_je_malloc_conf =
    "narenas:1,retain:true,dirty_decay_ms:250,muzzy_decay_ms:0,tcache_max:8192,"
    "tcache_nslots_small_min:8,tcache_nslots_small_max:32";
}

namespace hiroba {

struct HeapArenas::Arena {
  extent_hooks_t hooks = {};  // the first member, so that hooks find the rest
  HeapArenas* owner = nullptr;
  int home = 0;
  unsigned index = 0;

  static Arena& of(extent_hooks_t* hooks) { return *reinterpret_cast<Arena*>(hooks); }
};

namespace {

// True in threads whose jemalloc cache belongs to the arena of their own rank.
thread_local bool bound __attribute__((tls_model("initial-exec"))) = false;

template <typename T>
T read(const std::string& name) {
  T value = {};
  size_t bytes = sizeof value;
  return hiroba_je_mallctl(name.c_str(), &value, &bytes, nullptr, 0) == 0 ? value : T{};
}

}  // namespace

HeapArenas::HeapArenas() = default;
HeapArenas::~HeapArenas() = default;  // jemalloc's arenas live as long as the process

void HeapArenas::start(int rank, int nranks, Source source) {
  rank_ = rank;
  source_ = std::move(source);
  arenas_ = std::vector<std::atomic<Arena*>>(static_cast<size_t>(nranks));
}

// The hooks refuse (true) all that would take addresses away. Only the lazy purge gives memory back: after it jemalloc
// takes the pages for dirty, so that calloc writes its zeros itself. Ranks that have copies of the pages do not see the
// system's zeros.
unsigned HeapArenas::make(Arena& arena) const {
  unsigned index = 0;
  size_t bytes = sizeof index;
  if (hiroba_je_mallctl("arenas.create", &index, &bytes, nullptr, 0) != 0) return 0;
  arena.hooks.alloc = [](extent_hooks_t* hooks, void* at, size_t size, size_t alignment, bool* zero, bool* commit,
                         unsigned) -> void* {
    Arena& self = Arena::of(hooks);
    if (at != nullptr) return nullptr;
    *zero = *commit = true;
    return self.owner->source_.take(self.home, size, alignment);
  };
  arena.hooks.dalloc = [](extent_hooks_t*, void*, size_t, bool, unsigned) { return true; };
  arena.hooks.commit = [](extent_hooks_t*, void*, size_t, size_t, size_t, unsigned) { return false; };
  arena.hooks.decommit = [](extent_hooks_t*, void*, size_t, size_t, size_t, unsigned) { return true; };
  arena.hooks.purge_lazy = [](extent_hooks_t* hooks, void* at, size_t, size_t offset, size_t length, unsigned) {
    Arena::of(hooks).owner->source_.give_back(static_cast<char*>(at) + offset, length);
    return false;
  };
  arena.hooks.purge_forced = [](extent_hooks_t*, void*, size_t, size_t, size_t, unsigned) { return true; };
  arena.hooks.split = [](extent_hooks_t*, void*, size_t, size_t, size_t, bool, unsigned) { return false; };
  arena.hooks.merge = [](extent_hooks_t*, void*, size_t, void*, size_t, bool, unsigned) { return false; };
  // Set after the creation, so that the arena's own data is taken from private memory.
  extent_hooks_t* hooks = &arena.hooks;
  const std::string name = format("arena.%u.extent_hooks", index);
  return hiroba_je_mallctl(name.c_str(), nullptr, nullptr, static_cast<void*>(&hooks), sizeof(void*)) == 0 ? index : 0;
}

HeapArenas::Arena* HeapArenas::arena(int home) {
  std::atomic<Arena*>& known = arenas_[home];
  if (Arena* const arena = known.load(std::memory_order_acquire); arena != nullptr) return arena;
  const std::lock_guard<std::mutex> guard(making_);
  if (known.load(std::memory_order_relaxed) != nullptr) return known.load(std::memory_order_relaxed);
  auto fresh = std::make_unique<Arena>();
  fresh->owner = this, fresh->home = home;
  fresh->index = make(*fresh);
  if (fresh->index == 0) return nullptr;
  known.store(fresh.release(), std::memory_order_release);  // never freed, like jemalloc's arena
  return known.load(std::memory_order_relaxed);
}

void* HeapArenas::allocate(int home, size_t bytes, size_t alignment, bool zeroed) {
  Arena* const arena = this->arena(home);
  if (arena == nullptr) return nullptr;
  if (home == rank_ && !bound) {
    unsigned index = arena->index;
    bound = hiroba_je_mallctl("thread.arena", nullptr, nullptr, &index, sizeof index) == 0;
  }
  if (home == rank_ && bound && alignment <= natural_alignment(bytes) && !zeroed) return hiroba_je_malloc(bytes);
  int flags = zeroed ? MALLOCX_ZERO : 0;
  if (alignment > natural_alignment(bytes)) flags |= static_cast<int>(std::countr_zero(alignment));
  // The cache of a thread has objects of its own rank's home only.
  if (home != rank_ || !bound) flags |= MALLOCX_ARENA(arena->index) | MALLOCX_TCACHE_NONE;
  return hiroba_je_mallocx(bytes, flags);
}

void HeapArenas::free(int home, void* object) {
  if (home == rank_) hiroba_je_free(object);
  else hiroba_je_dallocx(object, MALLOCX_TCACHE_NONE);
}

uint64_t HeapArenas::size(const void* object) { return hiroba_je_sallocx(object, 0); }

HeapArenas::Use HeapArenas::use() const {
  for (const std::atomic<Arena*>& known : arenas_)
    if (const Arena* const arena = known.load(std::memory_order_acquire); arena != nullptr)
      hiroba_je_mallctl(format("arena.%u.decay", arena->index).c_str(), nullptr, nullptr, nullptr, 0);
  uint64_t epoch = 1;
  size_t bytes = sizeof epoch;
  hiroba_je_mallctl("epoch", &epoch, &bytes, &epoch, sizeof epoch);
  Use sum;
  for (const std::atomic<Arena*>& known : arenas_) {
    const Arena* const arena = known.load(std::memory_order_acquire);
    if (arena == nullptr) continue;
    const std::string of = format("stats.arenas.%u.", arena->index);
    sum.live += read<size_t>(of + "small.allocated") + read<size_t>(of + "large.allocated");
    constexpr size_t page = 4096;
    sum.used += (read<size_t>(of + "pactive") + read<size_t>(of + "pdirty") + read<size_t>(of + "pmuzzy")) * page;
  }
  return sum;
}

}  // namespace hiroba
