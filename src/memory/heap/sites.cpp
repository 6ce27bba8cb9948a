#include "memory/heap/sites.hpp"

#include <algorithm>
#include <cstring>

namespace hiroba {

void HeapSites::start(const Layout& layout, const Job& job, char* base, Transport* transport) {
  layout_ = layout, base_ = base, transport_ = transport, rank_ = job.rank;
  number("places without a name");
}

std::atomic_ref<uint64_t> HeapSites::count() const {
  return std::atomic_ref(*reinterpret_cast<uint64_t*>(base_ + layout_.heap_control(rank_) + table_at));
}

uint32_t HeapSites::number(std::string_view place) {
  const std::lock_guard<std::mutex> guard(lock_);
  const auto known = numbers_.find(std::string(place));
  if (known != numbers_.end()) return known->second;
  const auto site = static_cast<uint32_t>(numbers_.size());
  if (site == most) return 0;
  numbers_.emplace(place, site);
  Entry& entry = own(site);
  // A long name is cut to its end, which has the line.
  const std::string_view end = place.substr(place.size() - std::min(place.size(), sizeof entry.place - 1));
  std::memcpy(entry.place, end.data(), end.size());
  count().store(site + 1, std::memory_order_release);
  return site;
}

void HeapSites::add(uint32_t site, int64_t bytes, int64_t objects) {
  std::atomic_ref(own(site).bytes).fetch_add(bytes, std::memory_order_relaxed);
  std::atomic_ref(own(site).objects).fetch_add(objects, std::memory_order_relaxed);
}

std::string HeapSites::name(int rank, uint32_t site) const {
  Entry entry;
  transport_->get(&entry, rank, entry_at(rank, std::min(site, most - 1)), sizeof entry);
  entry.place[sizeof entry.place - 1] = '\0';
  return entry.place;
}

std::vector<HeapSites::Holding> HeapSites::holdings(int first, int count) const {
  std::vector<Holding> out;
  for (int rank = first; rank < first + count; ++rank) {
    uint64_t sites = 0;
    transport_->get(&sites, rank, layout_.heap_control(rank) + table_at, sizeof sites);
    std::vector<Entry> entries(std::min<uint64_t>(sites, most));
    if (entries.empty()) continue;
    transport_->get(entries.data(), rank, entry_at(rank, 0), entries.size() * sizeof entries[0]);
    for (Entry& entry : entries) {
      entry.place[sizeof entry.place - 1] = '\0';
      if (entry.bytes > 0) out.push_back({rank, entry.place, entry.bytes, entry.objects});
    }
  }
  std::sort(out.begin(), out.end(), [](const Holding& a, const Holding& b) { return a.bytes > b.bytes; });
  return out;
}

}  // namespace hiroba
