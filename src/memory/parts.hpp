// The parts of one rank's memory, for the files that implement this floor. Owner: Memory, which creates them in start()
// and destroys them after stop(). Each part documents its thread-safety; the rest is set at the start.
#pragma once

#include <memory>

#include "base/debug/whereabouts.hpp"
#include "memory/cache/cache.hpp"
#include "memory/check/races.hpp"
#include "memory/homes/home_moves.hpp"
#include "memory/homes/home_policies.hpp"
#include "memory/memory.hpp"
#include "memory/notices/home_writes.hpp"
#include "memory/numa/huge_pages.hpp"
#include "memory/numa/touches.hpp"
#include "memory/record/preload_time.hpp"
#include "memory/space/space.hpp"
#include "memory/sync/barrier_notices.hpp"
#include "memory/sync/intervals.hpp"

namespace hiroba {

// Tags of barriers that may have another name in each rank.
enum BarrierTag : uint64_t {
  at_startup = 1,
  at_shutdown,
  at_last,
  at_barrier,
  at_sync_drop,
  at_check,
  at_new_homes,
  at_prepared_pages,
  at_moved_pages,
  at_end
};

struct MemoryParts {
  Job job;
  Board* board = nullptr;
  Layout layout;
  bool sparse = false, check = false, twin_at_fetch = false;
  bool checks_promises = false;  // option check, of preloads; a cache of limited size drops what was preloaded
  Space space;
  std::unique_ptr<Transport> transport;
  Collective collective;
  ArrayTable table;
  Userfaultfd uffd, view_uffd;
  Pagemap pagemap;
  PageStates states;
  NoticeLog notices;
  UnchangedWrites unchanged;
  std::unique_ptr<Cache> cache;  // null on a single node, where no page is cached
  Sharers sharers;
  HomeWrites home_writes;
  HomeMoves home_moves{*this};
  HomePolicies home_policies{*this};
  Intervals intervals;
  BarrierNotices barrier_notices{*this};
  HugePages huge_pages;
  PageDomains page_domains;
  MemoryPlace memory_place;  // by option memory
  Touches touches;
  RaceChecker races;
  Memory::Times times;
  StillWatch still_watch;  // if no launcher of ours watches the ranks

  Affinity affinity{*this};
  Arrays arrays{*this};
  Consistency consistency{*this};
  GroupSync group_sync{*this};
  Heap heap{*this};
  Homes homes{*this};
  Locks locks{*this};
  Conditions conditions{*this};
  Preloads preloads{*this};
  Atomics atomics{*this};
  SystemAccess system_access{*this};
  Replicas replicas{*this};
  RankMemory rank_memory{*this};
  PastCache past_cache{*this};
  NamedWrites named_writes{*this};
  RunReport run_report{*this};

  uint64_t page_of(const void* address) const { return space.offset(address) >> page_shift; }
  bool is_here(int rank) const { return job.is_here(rank); }
  int node_fd() const { return job.node_fds[job.node]; }
  // Drops every copy. No other thread of the rank touches shared memory.
  void drop() {
    if (cache == nullptr) return;
    cache->writeback.flush_and_drop(true);
    notices.clear();  // no rank keeps a copy that they could concern
    home_policies.lose_track();
    intervals.lose_track();
  }
};

// Maps memory of this node's file, at the same offset of the address range.
Status map_of_node(const MemoryParts& parts, uint64_t offset, uint64_t bytes);
// Describes the ways of detecting accesses that are in use, as text for people.
std::string describe_tracking(const MemoryParts& parts);

}  // namespace hiroba
