#include "memory/heap/thread_cache.hpp"

#include <pthread.h>

#include <algorithm>

#include "memory/heap/arenas.hpp"

namespace hiroba {

namespace {

// The caches of the process, for threads that end: null before the start and after the end.
std::mutex of_process;
HeapThreadCaches* caches_of_process = nullptr;

constexpr std::array<uint8_t, HeapThreadCache::largest / 8 + 1> make_classes() {
  std::array<uint8_t, HeapThreadCache::largest / 8 + 1> out = {};
  for (size_t units = 1; units < out.size(); ++units) out[units] = HeapSpace::class_of(HeapArenas::rounded(units * 8));
  return out;
}

}  // namespace

constinit thread_local HeapThreadCache* HeapThreadCache::current = nullptr;
const std::array<uint8_t, HeapThreadCache::largest / 8 + 1> HeapThreadCache::class_of_units = make_classes();

// One object lives in each thread that has a cache.
struct HeapThreadEnd {
  HeapThreadCache* cache = nullptr;
  ~HeapThreadEnd() {
    const std::lock_guard<std::mutex> guard(of_process);
    HeapThreadCache::current = nullptr;
    if (cache != nullptr && caches_of_process != nullptr) caches_of_process->end_of_thread(cache);
  }
  static HeapThreadEnd& mine() {
    static thread_local HeapThreadEnd end;
    return end;
  }
  // A forked child has copies of the objects that its parent has, too, so it must not reuse them.
  static void in_child() { HeapThreadCache::current = nullptr; }
};

Status HeapThreadCaches::start(Config config) {
  config_ = std::move(config);
  HIROBA_TRY(classes_.create("hiroba-heap-classes", config_.bytes >> page_shift));
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, HeapThreadEnd::in_child); });
  const std::lock_guard<std::mutex> guard(of_process);
  caches_of_process = this;
  return {};
}

// Other threads still have the addresses of their caches, so the caches stay, empty.
HeapThreadCaches::~HeapThreadCaches() {
  const std::lock_guard<std::mutex> guard(of_process);
  if (caches_of_process == this) caches_of_process = nullptr;
  for (std::unique_ptr<HeapThreadCache>& cache : caches_) {
    cache->bytes_ = 0;
    for (HeapThreadCache::Bin& bin : cache->bins_) bin.count = 0, bin.most = 0;
    (void)cache.release();
  }
}

HeapThreadCache& HeapThreadCaches::make() {
  auto fresh = std::make_unique<HeapThreadCache>();
  fresh->begin_ = config_.begin, fresh->bytes_ = config_.bytes;
  fresh->classes_ = classes_.as<std::atomic<uint8_t>>();
  fresh->until_sample = config_.sample;
  for (HeapThreadCache::Bin& bin : fresh->bins_) bin.most = HeapThreadCache::most_objects;
  HeapThreadCache& cache = *fresh;
  HeapThreadEnd::mine().cache = HeapThreadCache::current = &cache;
  const std::lock_guard<std::mutex> guard(lock_);
  caches_.push_back(std::move(fresh));
  return cache;
}

void* HeapThreadCaches::take(size_t bytes) {
  HeapThreadCache::Bin& bin = mine().bins_[HeapThreadCache::class_of(bytes)];
  if (bin.count == 0) {
    for (uint32_t n = 0; n < bin.load; ++n)
      if (void* const object = config_.allocate(bytes); object == nullptr || !bin.push(object)) break;
    bin.load = std::min(2 * bin.load, bin.most / 2);
  }
  return bin.count == 0 ? nullptr : bin.object[bin.pop()];
}

bool HeapThreadCaches::put(void* object) {
  HeapThreadCache& cache = mine();
  const auto position = static_cast<uint64_t>(static_cast<char*>(object) - config_.begin);
  const uint8_t number = cache.classes_[position >> page_shift].load(std::memory_order_relaxed);
  if (number == 0) return false;
  HeapThreadCache::Bin& bin = cache.bins_[number];
  if (bin.count == bin.most) release(bin, bin.most / 2);
  return bin.push(object);
}

// Releases the oldest, because the latest are in the processor's caches.
void HeapThreadCaches::release(HeapThreadCache::Bin& bin, uint32_t left) const {
  const uint32_t count = bin.count, gone = count - left;
  for (uint32_t n = 0; n < gone; ++n) config_.free(bin.object[n]);
  std::copy(bin.object.begin() + gone, bin.object.begin() + count, bin.object.begin());
  bin.count = left;
}

void HeapThreadCaches::end_of_thread(HeapThreadCache* cache) {
  const std::lock_guard<std::mutex> guard(lock_);
  const auto found = std::find_if(caches_.begin(), caches_.end(), [=](const auto& one) { return one.get() == cache; });
  if (found == caches_.end()) return;
  for (HeapThreadCache::Bin& bin : cache->bins_) release(bin, 0);
  caches_.erase(found);
}

uint64_t HeapThreadCaches::kept() const {
  const std::lock_guard<std::mutex> guard(lock_);
  uint64_t sum = 0;
  for (const auto& cache : caches_)
    for (size_t number = 0; number < HeapThreadCache::classes; ++number)
      sum +=
          cache->bins_[number].count.load(std::memory_order_relaxed) * HeapSpace::size_of(static_cast<uint8_t>(number));
  return sum;
}

}  // namespace hiroba
