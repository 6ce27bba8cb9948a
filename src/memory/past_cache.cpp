#include "memory/past_cache.hpp"

#include "memory/parts.hpp"

namespace hiroba {

Status PastCache::locate(const void* address, Place& out) const {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(address, array));
  const int rank = array->home(parts_.page_of(address)).rank;
  out = {rank, parts_.space.offset(address), parts_.is_here(rank)};
  return {};
}

uint64_t PastCache::changes() const {
  return parts_.arrays.changes() +
         (parts_.cache == nullptr ? 0 : parts_.cache->fetches.begun.load(std::memory_order_relaxed));
}

void PastCache::settle(const Place& place) const {
  const uint64_t page = place.offset >> page_shift;
  if (parts_.cache == nullptr || place.here || parts_.states.state(page) < PageState::valid) return;
  parts_.cache->writeback.flush_and_drop(*parts_.table.live(page), page);
}

bool PastCache::is_view(const Place& place) const { return place.here && !parts_.races.on(); }

char* PastCache::reach(const Place& place) const {
  if (is_view(place)) return parts_.space.base() + place.offset;
  return parts_.transport->local_address(place.rank, place.offset);
}

void PastCache::changed(const Place& place) const {
  if (parts_.cache == nullptr || is_view(place)) return;
  parts_.cache->writeback.note(place.offset >> page_shift);
  if (!place.here)
    parts_.cache->writeback.flush_and_drop(*parts_.table.live(place.offset >> page_shift), place.offset >> page_shift);
}

void PastCache::record(uint64_t word, uint64_t mask, bool writes) const {
  if (!parts_.races.on()) return;
  for (unsigned byte = 0; byte < 8;) {
    unsigned end = byte;
    while (end < 8 && (mask >> (8 * end) & 0xff) != 0) ++end;
    const auto* const at = reinterpret_cast<const char*>(word + byte);  // NOLINT(performance-no-int-to-ptr)
    if (end > byte) PastViewAccesses(parts_.races.recorder()).access(at, end - byte, writes);
    byte = end + 1;
  }
}

uint32_t PastCache::begin_turn() const {
  return parts_.races.on() ? PastViewAccesses(parts_.races.recorder()).begin_turn() : 0;
}
void PastCache::end_turn(uint32_t turn, uint64_t position) const {
  if (!parts_.races.on()) return;
  PastViewAccesses(parts_.races.recorder()).end_turn(turn, static_cast<uint32_t>(position));
}
void PastCache::order() const { parts_.consistency.note_order(); }

void PastCache::synchronise() const {
  if (parts_.cache != nullptr) parts_.consistency.drop_copies();
}

}  // namespace hiroba
