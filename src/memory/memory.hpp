// The contract of this floor: one job-wide address space of shared arrays, with release consistency.
//
// A Memory object is one rank's part of the job's memory; it owns the address range, the page cache and the arrays.
// Addresses are the same in every rank. Within a node arrays are mapped; pages of other nodes are cached and kept
// consistent as docs/memory-model.md says.
//
// Collective calls are made by one thread of each rank, in the same order with the same arguments, while no other
// thread of the rank touches shared memory; they block until all have come. Everything else is thread-safe.
// Errors come back as a status; the caller (src/notation) ends the job with it.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/whereabouts.hpp"
#include "collective/collective.hpp"
#include "memory/array.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class Space;

class Memory {
 public:
  // Joins the job; from there on messages carry the rank. Before the transport starts, `listen` may set its handlers.
  // Collective.
  static Status start(const Options& options, const std::function<void(Transport&)>& listen,
                      std::unique_ptr<Memory>& out);
  Status stop();  // collective
  ~Memory();

  const Job& job() const { return job_; }
  Board& board() const { return *board_; }
  Transport& transport() const { return *transport_; }
  Collective& collective() { return collective_; }
  const Collective& collective() const { return collective_; }
  bool checking() const { return check_; }  // option check
  bool finds_races() const;
  double timeout() const { return timeout_; }  // option timeout
  // Which ways to see accesses are in use, for people.
  std::string tracking() const;

  // ---- arrays (collective) ----
  struct Request {
    std::vector<int64_t> dim, div;
    uint64_t element_bytes = 0;
    int first = 0, count = 1;
    const char* call = "";    // for messages: "sms_alloc(8, 100, 0)"
    const char* place = "";   // "main.c:12"
    bool watched = true;      // option check finds races on it
    GuardedParts parts = {};  // if each rank has one of its own
  };
  Status allocate(const Request& request, void*& out);
  Status free(void* data, const char* call);
  enum class Twin { by_option, at_fetch, at_write };
  Status set_twin(void* data, Twin twin, const char* call);
  // This rank touches pages of other nodes only after it has preloaded them since the last synchronisation.
  Status preload_only(const void* data);

  // ---- synchronisation ----
  Status barrier(const char* call);    // collective
  Status sync_drop(const char* call);  // collective
  // The same in two halves. In between this rank may use what no other does, be it before its start or behind its end.
  Status start_sync_drop(const char* call, bool halves = true);
  Status end_sync_drop();  // after a start
  // The same, but waits only for `others`, each of which names this rank in turn: only what they have written is
  // visible after it. Until the next sync_drop with all, no rank may use what a rank has written that it has not met
  // since. All that a rank then reads of other nodes, it must preload first. `home_writes`: since the last such call
  // this rank has written nothing but what lives on its node.
  Status sync_drop(const char* call, std::span<const int> others, bool home_writes);
  // That in two halves, by the split barrier of some (collective.hpp): in between a rank may use what lives on its node
  // and none of `others` uses before it arrives. A rank with home_writes may first arrive with a part of its work, and
  // do the rest of it, which must use nothing but what lives on its node, before it arrives with all.
  using Work = Collective::Work;
  void arrive(const char* call, bool home_writes, Work done);
  Status await(const char* call, std::span<const int> others, Work needed);
  void sync();
  // Option check: something that this floor does not see may order what this rank did before and does after.
  void note_order();
  Status lock(int id);
  Status try_lock(int id, bool& taken);
  Status unlock(int id);

  // ---- access ----
  // The live array that contains the address, or a status that explains what the address is.
  Status find(const void* address, Array*& out) const;
  std::string explain(const void* address) const;
  // Whether option check has closed the pages after a coarray's part there.
  bool is_guard(const void* address) const;
  // What names this address to the transport.
  uint64_t offset(const void* address) const;
  // Whether an access to these bytes may be a page fault, because they are shared memory of another node.
  bool may_fault(const void* address, size_t bytes) const;
  // Whether the system may find these bytes, or some, not here; and bringing them, at most most_to_bring() at a time,
  // so that it may read or write them. What is brought may go again when another thread fetches.
  bool may_need_pages(const void* address, size_t bytes) const;
  size_t most_to_bring() const;
  void bring_pages(const char* address, size_t bytes, bool to_write);
  // All at once, for calls that cannot move a part. An error: the cache has no room for them.
  Status bring_all_pages(const void* address, size_t bytes, bool to_write);
  // Begins to bring a section; preload_wait() waits for all that were begun, or for those with pages of `run`, which
  // start_preload() has set to where the section lies (no pages: nothing is on its way).
  Status start_preload(const void* array, std::span<const Range> section, PageRun* run = nullptr);
  void preload_wait();
  void preload_wait(const PageRun& run);
  // Pages of other nodes that are here; and bringing them again, without waiting.
  std::vector<PageRun> cached_pages();
  // Pages that this rank knows it has written since the last barrier: of other nodes, and those of its own that others
  // have copied. For diagnosis, while no other thread of the rank touches shared memory; a barrier must follow.
  std::vector<PageRun> written_pages();
  void start_preload(std::span<const PageRun> runs);
  Status start_preload_bytes(const void* address, size_t bytes);
  Status atomic_add(void* address, unsigned bytes, uint64_t value, uint64_t& old);
  Status atomic_swap(void* address, unsigned bytes, uint64_t expected, uint64_t desired, uint64_t& old);
  const ArrayTable& arrays() const { return arrays_; }

  // ---- option stats ----
  // Where the time of this rank goes, in seconds; of the threads of a rank together.
  struct Times {
    bool on = false;
    double began = 0;
    std::atomic<double> locks{0}, faults{0};
  };
  const Times& times() const { return times_; }

  // ---- for the fault handler ----
  bool contains(const void* address) const;
  // Serves an access to an absent page; false if it is no such thing.
  bool serve_fault(void* address);
  // Option check: serves an access to a page that is closed to see it, and the trap after it; false if it is no such
  // thing.
  bool record_fault(const void* address, ucontext_t& context);
  bool record_trap(ucontext_t& context);

 private:
  // Tags of barriers that may have other names in each rank.
  enum Tag : uint64_t { startup = 1, shutdown, at_barrier, at_sync_drop, at_check };
  struct AtomicPlace {
    int rank;
    uint64_t offset;
    Array* array;
    bool mapped;  // home on this node
  };

  struct Parts;

  Memory();
  void start_collective();
  Status start_races();
  Status find_races(const char* call);
  Status start_tracking(const Options& options);
  Status start_cache(const Options& options);
  Status attach_zones();
  void drop();
  void outdate(bool home_writes);
  Status map_homes(Array& array);
  Status close_guards(const Array& array) const;
  Status check_room(const Array& array) const;
  void use_huge_pages();
  void use_huge_pages(Array& array);
  Status check_canary(const Array& array) const;
  void read_notices(std::span<const uint64_t> words);
  Status check_lock(int id, bool held) const;
  TicketLock ticket_lock(int id) const;
  void took_lock(int id, uint32_t ticket);
  bool preload_box(Array& array, std::span<const Range> section, PageRun& run);
  Status locate(void* address, unsigned bytes, AtomicPlace& out) const;
  void forget_atomic(const AtomicPlace& place);
  std::string explain_part(const Array& array, const char* address) const;
  void record_atomic(const AtomicPlace& place, bool writes);
  uint64_t page_of(const void* address) const { return offset(address) >> page_shift; }

  Job job_;
  Board* board_ = nullptr;
  Layout layout_;
  double timeout_ = 0;
  int threads_ = 1;
  bool sparse_ = false, check_ = false, twin_at_fetch_ = false, huge_ = false;
  std::unique_ptr<Space> space_;
  std::unique_ptr<Transport> transport_;
  Collective collective_;
  ArrayTable arrays_;
  std::unique_ptr<Parts> parts_;
  Times times_;
  StillWatch still_watch_;              // where no launcher of ours looks after the ranks
  std::vector<uint64_t> words_;         // of exchanges
  std::vector<std::atomic<int>> held_;  // thread that holds each lock here, 0 if none
  std::vector<uint32_t> tickets_;       // of the locks held here
};

// What this machine offers to see accesses, the best first; why_not is empty for what works.
struct TrackingWay {
  const char* name;
  std::string why_not;
};
std::vector<TrackingWay> tracking_ways();

// SIGBUS and SIGSEGV: serves accesses to absent pages of `memory`, explains other accesses to its range, and reports
// crashes. Handlers that the program had installed are called for everything that is not ours. One Memory at a time.
void install_fault_handler(Memory* memory);
void remove_fault_handler();
Memory* served_memory();  // by the handler; null if none

}  // namespace hiroba
