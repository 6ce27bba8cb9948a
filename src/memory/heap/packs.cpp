#include "memory/heap/packs.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

namespace hiroba {

Status HeapPacks::start(Config config) {
  config_ = std::move(config);
  keeper_ = config_.job.first_rank_of(config_.job.node);
  HIROBA_TRY(known_.create("hiroba-heap-packs", (config_.space->bytes() >> HeapSpace::chunk_shift) * sizeof(uint16_t)));
  table_ = reinterpret_cast<Table*>(config_.base + config_.layout.heap_control(keeper_) + table_at);
  return {};
}

// A chunk enters the table before it has an object, and stays, so known entries stay true.
uint32_t HeapPacks::chunk_of(uint64_t position) {
  const uint64_t begin = position & ~(HeapSpace::chunk_bytes - 1);
  const std::atomic_ref<uint16_t> known(known_.as<uint16_t>()[position >> HeapSpace::chunk_shift]);
  if (const uint16_t number = known.load(std::memory_order_relaxed); number != 0) return number - 1U;
  const std::atomic<uint64_t>*const first = table_->chunk, *const end = first + most_chunks;
  const auto* const found =
      std::find_if(first, end, [=](const auto& chunk) { return chunk.load(std::memory_order_acquire) == begin + 1; });
  const uint32_t number = found == end ? 0 : static_cast<uint32_t>(found - first) + 1;
  known.store(static_cast<uint16_t>(number + 1), std::memory_order_relaxed);
  return number;
}

uint64_t HeapPacks::position_of(uint32_t number) const {
  const uint64_t chunk = table_->chunk[(number - 1) / pages_per_chunk].load(std::memory_order_relaxed) - 1;
  return chunk + ((number - 1) % pages_per_chunk << page_shift);
}

void HeapPacks::link(uint32_t number) {
  Page& page = table_->page[number - 1];
  uint32_t& first = table_->with_room[page.size_class];
  page.next = first;
  first = number;
}

// Returns 0 if there is none. A page keeps its class: ranks know the size of its objects without reading the table.
uint32_t HeapPacks::fresh_page(uint8_t size_class) {
  if (table_->chunks == 0 || table_->pages == pages_per_chunk) {
    if (table_->chunks == most_chunks) return 0;
    const char* const chunk = config_.space->take(keeper_, HeapSpace::chunk_bytes, 1);
    if (chunk == nullptr) return 0;
    table_->chunk[table_->chunks++].store(config_.space->position(chunk) + 1, std::memory_order_release);
    table_->pages = 0;
  }
  const auto number = static_cast<uint32_t>((table_->chunks - 1) * pages_per_chunk + ++table_->pages);
  table_->page[number - 1].size_class = size_class;
  ++table_->empty;
  link(number);
  return number;
}

void* HeapPacks::take(size_t bytes) {
  const uint64_t size = std::max<uint64_t>(bytes, least), room = page_bytes / size;
  const uint8_t size_class = HeapSpace::class_of(size);
  const std::lock_guard<SignalSafeLock> guard(table_->lock);
  uint32_t number = table_->with_room[size_class];
  if (number == 0) number = fresh_page(size_class);
  if (number == 0) return nullptr;
  Page& page = table_->page[number - 1];
  uint64_t* const word =
      std::find_if(std::begin(page.places), std::end(page.places), [](uint64_t w) { return ~w != 0; });
  const auto bit = static_cast<uint64_t>(std::countr_one(*word));
  *word |= uint64_t{1} << bit;
  if (page.taken++ == 0) --(std::exchange(page.given_back, false) ? table_->given_back : table_->empty);
  if (page.taken == room) table_->with_room[size_class] = page.next;  // it was the first
  taken_.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
  return config_.space->address(position_of(number) + (static_cast<uint64_t>(word - page.places) * 64 + bit) * size);
}

// If more than a few pages are wholly free, further ones give their memory back.
void HeapPacks::put(void* object) {
  const uint64_t position = config_.space->position(object);
  Page& page = page_at(position);
  const auto number = static_cast<uint32_t>(&page - table_->page) + 1;
  const uint64_t size = HeapSpace::size_of(page.size_class), room = page_bytes / size;
  const uint64_t place = position % page_bytes / size;
  const std::lock_guard<SignalSafeLock> guard(table_->lock);
  page.places[place / 64] &= ~(uint64_t{1} << place % 64);
  if (page.taken-- == room) link(number);
  taken_.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
  if (page.taken != 0) return;
  page.given_back = table_->empty == most_empty;
  ++(page.given_back ? table_->given_back : table_->empty);
  if (page.given_back) config_.give_back(config_.space->address(position & ~(page_bytes - 1)), page_bytes);
}

uint64_t HeapPacks::used() const {
  const std::lock_guard<SignalSafeLock> guard(table_->lock);
  if (table_->chunks == 0) return 0;
  return ((table_->chunks - 1) * pages_per_chunk + table_->pages - table_->given_back) << page_shift;
}

}  // namespace hiroba
