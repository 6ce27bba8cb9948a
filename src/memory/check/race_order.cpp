#include "memory/check/race_order.hpp"

#include <algorithm>
#include <utility>

namespace hiroba {

RaceOrder::RaceOrder(const AccessLog& log, int nranks)
    : log_(log),
      nranks_(nranks),
      after_(static_cast<size_t>(nranks)),
      turns_(static_cast<size_t>(nranks)),
      first_any_(static_cast<size_t>(nranks), UINT32_MAX),
      first_open_(static_cast<size_t>(nranks), UINT32_MAX) {
  for (int r = 0; r < nranks; ++r) {
    const RankLog& of = log.of(r);
    const auto rank = static_cast<size_t>(r);
    unknown_ = unknown_ || of.too_many_events;
    for (uint32_t i = 0; i < of.events; ++i) {
      const SyncEvent& event = of.event[i];
      // Threads of a rank may have transactions at the same time, whose tickets are then not in order: the first turn
      // after a ticket is the first one that exceeds it.
      if (event.kind == SyncEvent::acquire) {
        std::vector<Turn>& turns = turns_[rank][event.lock];
        turns.push_back({turns.empty() ? event.ticket : std::max(turns.back().ticket, event.ticket), i});
      }
      if (event.kind == SyncEvent::any) first_any_[rank] = std::min(first_any_[rank], i);
      if (event.kind == SyncEvent::any || event.is_of_word()) first_open_[rank] = std::min(first_open_[rank], i);
    }
  }
}

uint32_t RaceOrder::first_after(int rank, const SyncEvent& event) const {
  const auto r = static_cast<size_t>(rank);
  if (event.kind == SyncEvent::any) return first_open_[r];
  if (event.kind != SyncEvent::release) return UINT32_MAX;
  const uint32_t any = event.is_of_word() ? first_any_[r] : UINT32_MAX;
  const auto turns = turns_[r].find(event.lock);
  if (turns == turns_[r].end()) return any;
  const auto next = std::upper_bound(turns->second.begin(), turns->second.end(), event.ticket,
                                     [](uint64_t ticket, const Turn& turn) { return ticket < turn.ticket; });
  return next == turns->second.end() ? any : std::min(any, next->event);
}

// A segment comes before all that the next one comes before, and before all that the event between them leads to. So
// each event is followed once for a rank, however many segments are asked for.
const RaceOrder::Reach& RaceOrder::after(int rank, uint32_t segment) {
  const auto self = static_cast<size_t>(rank);
  std::vector<Reach>& known = after_[self];
  const auto events = static_cast<uint32_t>(log_.of(rank).events);
  if (known.empty()) known.emplace_back(static_cast<size_t>(nranks_), UINT32_MAX)[self] = events;
  while (known.size() <= events - segment) {
    Reach reach = known.back(), followed = reach;
    for (size_t r = 0; r < followed.size(); ++r)
      followed[r] = std::min(followed[r], static_cast<uint32_t>(log_.of(static_cast<int>(r)).events));
    reach[self] = std::min(reach[self], events - static_cast<uint32_t>(known.size()));
    follow(reach, followed);
    known.push_back(std::move(reach));
  }
  return known[events - segment];
}

void RaceOrder::follow(Reach& reach, Reach& followed) const {
  for (bool any = true; any;) {
    any = false;
    for (size_t r = 0; r < followed.size(); ++r) {
      const uint32_t end = followed[r];
      if (reach[r] >= end) continue;
      followed[r] = reach[r], any = true;
      for (uint32_t i = reach[r]; i < end; ++i)
        for (size_t other = 0; other < followed.size(); ++other) {
          if (other == r) continue;
          const uint32_t event = first_after(static_cast<int>(other), log_.of(static_cast<int>(r)).event[i]);
          if (event != UINT32_MAX) reach[other] = std::min(reach[other], event + 1);
        }
    }
  }
}

bool RaceOrder::before(int rank_a, uint32_t segment_a, int rank_b, uint32_t segment_b) {
  return unknown_ || after(rank_a, segment_a)[static_cast<size_t>(rank_b)] <= segment_b;
}

}  // namespace hiroba
