#include "memory/heap/space.hpp"

#include <algorithm>
#include <bit>

namespace hiroba {

Status HeapSpace::start(const Config& config) {
  config_ = config;
  const uint64_t parts = static_cast<uint64_t>(config_.job.nranks);
  bytes_ = parts * config_.layout.heap_bytes;
  if (bytes_ == 0) return {};
  begin_ = config_.base + config_.layout.heap(0);
  first_page_ = config_.layout.heap(0) >> page_shift;
  part_shift_ = std::countr_zero(config_.layout.heap_bytes);
  HIROBA_TRY(owner_copies_.create("hiroba-heap-owners", (bytes_ >> chunk_shift) * sizeof(int32_t)));
  HIROBA_TRY(class_copies_.create("hiroba-heap-sizes", bytes_ >> page_shift));
  owners_ = owner_copies_.as<std::atomic<int32_t>>();
  auto& limit = *reinterpret_cast<uint64_t*>(config_.base + limit_at(config_.job.rank));
  limit = (config_.limit + chunk_bytes - 1) >> chunk_shift;
  return {};
}

// The first rank to ask gets the chunks. The owners are written before any pointer into the chunks exists.
char* HeapSpace::take(int home, uint64_t bytes, uint64_t alignment) {
  Transport& transport = *config_.transport;
  if (bytes > config_.layout.heap_bytes) return nullptr;
  const uint64_t chunks = (bytes + chunk_bytes - 1) >> chunk_shift, limit = this->limit(home) >> chunk_shift;
  const uint64_t unit = std::max<uint64_t>(1, alignment >> chunk_shift);
  uint64_t next = transport.words().fetch_add64(home, next_chunk(home), 0), first;
  for (uint64_t seen;; next = seen) {
    first = (next + unit - 1) / unit * unit;
    if (first + chunks > limit) return nullptr;
    seen = transport.words().compare_swap64(home, next_chunk(home), next, first + chunks);
    if (seen == next) break;
  }
  const std::vector<int32_t> owners(chunks, config_.job.rank + 1);
  transport.put(home, owner_at(home, first), owners.data(), chunks * sizeof owners[0]);
  transport.fence();
  const uint64_t position = (static_cast<uint64_t>(home) << part_shift_) + (first << chunk_shift);
  for (uint64_t i = 0; i < chunks; ++i)
    owners_[(position >> chunk_shift) + i].store(owners[i], std::memory_order_relaxed);
  return address(position);
}

int HeapSpace::learn_owner(uint64_t position) {
  int32_t owner = 0;
  const int rank = home(position);
  config_.transport->get(&owner, rank, owner_at(rank, position_in_part(position) >> chunk_shift), sizeof owner);
  owners_[position >> chunk_shift].store(owner, std::memory_order_relaxed);
  return owner - 1;
}

uint64_t HeapSpace::limit(int home) const {
  return config_.transport->words().fetch_add64(home, limit_at(home), 0) << chunk_shift;
}

std::vector<uint64_t> HeapSpace::taken(int home) const {
  std::vector<uint64_t> out(static_cast<size_t>(config_.job.nranks));
  std::vector<int32_t> owners(config_.transport->words().fetch_add64(home, next_chunk(home), 0));
  if (owners.empty()) return out;
  config_.transport->get(owners.data(), home, owner_at(home, 0), owners.size() * sizeof owners[0]);
  for (const int32_t owner : owners)
    if (owner > 0) out[static_cast<size_t>(owner) - 1] += chunk_bytes;
  return out;
}

void HeapSpace::publish_size(uint64_t position, std::atomic_ref<uint8_t>& known, uint8_t wanted) const {
  known.store(wanted, std::memory_order_relaxed);
  const int rank = home(position);
  if (is_here(rank)) return;
  // The size is at the home before any pointer to the object, because the publication of that pointer is a fence.
  config_.transport->put(rank, config_.layout.heap_classes(rank) + (position_in_part(position) >> page_shift), &wanted,
                         sizeof wanted);
}

uint64_t HeapSpace::size(uint64_t position) const {
  uint8_t number = 0;
  const int rank = home(position);
  config_.transport->get(&number, rank, config_.layout.heap_classes(rank) + (position_in_part(position) >> page_shift),
                         sizeof number);
  return size_of(number);
}

}  // namespace hiroba
