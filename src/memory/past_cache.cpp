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

uint64_t PastCache::changes() const { return parts_.arrays.changes(); }

bool PastCache::is_view(const Place& place) const { return place.here && !parts_.races.on(); }

char* PastCache::reach(const Place& place) const {
  if (is_view(place)) return parts_.space.base() + place.offset;
  return parts_.transport->local_address(place.rank, place.offset);
}

void PastCache::changed(const Place& place) const {
  if (parts_.races.on()) {
    parts_.races.recorder().blur(place.offset >> page_shift);
    parts_.consistency.note_order();
  }
  if (parts_.cache == nullptr || is_view(place)) return;
  parts_.cache->writeback.note(place.offset >> page_shift);
  if (!place.here)
    parts_.cache->writeback.flush_and_drop(*parts_.table.live(place.offset >> page_shift), place.offset >> page_shift);
}

void PastCache::synchronise() const {
  if (parts_.cache != nullptr) parts_.consistency.drop_copies();
}

}  // namespace hiroba
