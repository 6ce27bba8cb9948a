// A record of one rank for options report and stats: tables of bounded size, which are filled while the program runs.
// The record lies in memory that outlives the process, so the launcher can read that of a rank that was killed.
// docs/report.md describes what is made of it.
//
// Owner: the rank that writes it. note_...() are for any thread, also in the fault handler: they allocate nothing, take
// no lock and make no system call, but for those that find a line of Python; they require recording(). What finds no
// room is counted in `lost`.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/record/timeline.hpp"
#include "base/shown.hpp"

namespace hiroba {

// region: of OpenMP, with all that is done in it. copy: of a task's data between nodes. coherence: at barriers, locks
// and flushes. preload: its start, the wait for it, and faults on pages that one brings or has brought.
enum class SiteKind : uint32_t { none, fault, barrier, collective, lock, task, region, copy, coherence, preload };
inline constexpr size_t site_kinds = 10;

// A place of the program, and what has been done there. amount: of faults, pages; of collective operations, bytes.
struct SiteRecord {
  static constexpr uint32_t no_detail = UINT32_MAX;
  std::atomic<uint64_t> key;
  uint64_t code;    // the address of the instruction that faults, or that follows the call; 0: `text` has the place
  uint32_t kind;    // SiteKind
  uint32_t detail;  // faults, preloads: the array's number; locks: the lock's; collective calls: their size and way
  std::atomic<uint64_t> count, amount, nanoseconds;
  std::atomic<uint64_t> ordered, next;  // faults that continue where the last one ended; the page after it
  std::atomic<uint64_t> low, high;      // faults: the first and the last address that was accessed
  std::atomic<uint64_t> held;           // locks: nanoseconds until they were given back
  std::atomic<uint64_t> before;  // collective operations: nanoseconds that the thread computed since the one before
  struct Waited {
    uint64_t nanoseconds;
    int32_t rank;
  } waited[3];  // barriers: for the ranks that came last
  // Nanoseconds on the critical path. Barriers: where this rank came last, what it did since the barrier before, by
  // TimeKind; in place of tasks, all else. Tasks: the last one, in the longest chains of tasks.
  std::atomic<uint64_t> critical[Timeline::kinds];
  char call[40];
  char way[40];  // collective operations: by which algorithm
  char text[120];
};

struct ArrayRecord {
  static constexpr int cells = 64, count_names = 15;
  std::atomic<uint32_t> used;
  uint32_t freed;
  uint64_t pages, bytes, element_bytes;
  int64_t dims[8];
  int32_t ndims, policy;
  char name[160];
  uint64_t counts[count_names], before[count_names];  // before: of freed arrays that this record had
  uint64_t alone;                                     // pages on other nodes that this rank alone has written for long
  int32_t home[cells];                                // the rank that has the first page of the cell
  std::atomic<uint64_t> faults[cells], writes[cells], both[cells];  // pages; both: another rank wrote it as well
};
// In the order of counts. Pages that homes_kept counts were not moved, because the table of moves was full.
enum class ArrayCount {
  faults,
  fetched,
  preloaded,
  bytes_fetched,
  diffed,
  bytes_sent,
  evicted,
  invalidated,
  refreshed,
  notices,
  cached,
  home_faults,
  homes_moved,
  homes_moved_again,
  homes_kept
};
extern const char* const array_count_names[ArrayRecord::count_names];
inline uint64_t count_of(const ArrayRecord& array, ArrayCount count) {
  const auto i = static_cast<size_t>(count);
  return array.counts[i] + array.before[i];
}

// An object that the program has allocated in an array that has many. It stays here when it is freed.
struct ObjectRecord {
  std::atomic<uint64_t> begin;
  uint64_t bytes, code;  // code: the address after the program's call; 0: not known
};

// A share of the machine's energy, by what it was spent on (option power).
struct EnergyRecord {
  char name[64];
  double seconds, joules;  // not a number: the joules are not known
};

struct RunRecord {
  static constexpr uint64_t magic_value = 0x3174726f706572;
  static constexpr uint32_t most_sites = 4096, most_arrays = 256, most_objects = 1024, most_ranks = 1024,
                            most_pages = 65536, most_energies = 32;

  std::atomic<uint64_t> magic;
  int32_t rank, nranks, node, nnodes, pid;
  uint32_t complete;    // the rank has reached the end of the job
  uint32_t directives;  // 1: the program has some of SMint, or of XcalableMP
  char host[64], executable[512], cpus[128], machine[192];
  uint64_t code_begin, code_end, code_bias;  // of the executable
  double began, seconds, collective;
  double processor, queued;  // on a processor; ready, but without one
  std::atomic<uint64_t> tasks, task_nanoseconds, barriers;
  std::atomic<uint64_t> spent[Timeline::kinds];  // nanoseconds, by TimeKind
  // The last barrier of all ranks: when the last rank came, the seconds that this rank waited from then on, and `spent`
  // at its end.
  double barrier_came, barrier_wait;
  uint64_t barrier_spent[Timeline::kinds];
  // Tasks that wait for each other: the longest chains between waits for all tasks, together.
  std::atomic<uint64_t> chain_tasks, chain_nanoseconds;
  uint64_t messages, message_bytes;
  std::atomic<uint64_t> lost;
  double waited_for[most_ranks];
  std::atomic<uint64_t> fetched_from[most_ranks], sent_to[most_ranks];
  std::atomic<uint32_t> arrays_used;
  ArrayRecord arrays[most_arrays];
  SiteRecord sites[most_sites];
  ObjectRecord objects[most_objects];  // by the hash of begin; a later one replaces another
  Timeline timeline;
  // The first rank of a node has the joules of the machine; not a number: the reason is in energy_unknown.
  double machine_seconds, machine_joules, idle_watts;
  char energy_unknown[128];
  uint32_t energies;
  EnergyRecord energy[most_energies];
  std::atomic<uint64_t> written[most_pages];  // page << 20 | the barrier before it, by the page's hash
};
static_assert(sizeof(RunRecord) <= uint64_t{16} << 20);
inline double seconds_spent(const RunRecord& run, TimeKind kind) {
  return 1e-9 * static_cast<double>(run.spent[static_cast<size_t>(kind)].load());
}
// Returns what is left of this time. Tasks compute.
double seconds_computing(const RunRecord& run, double seconds, double collective);

// This rank's record; null without these options.
[[HIROBA_SHOWN]] extern RunRecord* run_record;
inline bool recording() { return run_record != nullptr; }

// The place at which this thread of the program has called the library: the address after the call, or "file:line";
// null: it is not known. Calls within the library leave it as it is.
[[HIROBA_SHOWN]] extern constinit thread_local const void* record_caller __attribute__((tls_model("initial-exec")));
[[HIROBA_SHOWN]] extern constinit thread_local const char* record_place __attribute__((tls_model("initial-exec")));
class RecordedCall {
 public:
  [[gnu::always_inline]] explicit RecordedCall(const void* caller = __builtin_return_address(0))
      : RecordedCall(caller, nullptr) {}
  // `place`: "file:line"; "": it is not known.
  static RecordedCall at(const char* place) { return RecordedCall(nullptr, *place == '\0' ? nullptr : place); }
  RecordedCall(const RecordedCall&) = delete;
  ~RecordedCall() {
    if (outermost_) record_caller = nullptr, record_place = nullptr;
  }

 private:
  RecordedCall(const void* caller, const char* place)
      : outermost_(recording() && record_caller == nullptr && record_place == nullptr) {
    if (outermost_) record_caller = caller, record_place = place;
  }
  bool outermost_;
};

// The text identifies the site, else the code, else the call; a barrier's call does, too. Null if the table is full.
[[HIROBA_SHOWN]] SiteRecord* site_of(SiteKind kind, const void* code, uint32_t detail, const char* call,
                                     const char* text = nullptr);
// Times are those of seconds_now().
[[HIROBA_SHOWN]] void note_time(SiteRecord* site, uint64_t amount, double seconds);
// `other`: the rank that was waited for; of tasks, the number of the site of the task that released this one. -1: none.
[[HIROBA_SHOWN]] void note_event(SiteRecord* site, double begin, double end, int other = -1);
inline int site_number(const SiteRecord* site) {
  return site == nullptr ? -1 : static_cast<int>(site - run_record->sites);
}
// A task has computed for so long, without other tasks that ran in it.
[[HIROBA_SHOWN]] void note_task(SiteRecord* site, double seconds);
// A collective operation with blocks of `bytes` bytes. `place`: null or "": it is where the library was called. A
// started one takes no time.
void note_operation(const char* call, const char* place, size_t bytes, const char* way, double begin, double end);
// `last` came last, at `came`; 0: it is not known of all ranks when they came.
void note_barrier(const char* call, double begin, double end, int last, double came);
// `lock`: -1: of what is called once. Returns the place at which it is taken, for note_held() at its end; null: it
// found no room.
[[HIROBA_SHOWN]] SiteRecord* note_lock(int lock, const char* call, double begin, double end);
void note_held(SiteRecord* site, double seconds);
void note_coherence(const char* call, double begin, double end);
// A preload of this array has started to bring pages, or was waited for.
void note_preload(uint32_t array, uint64_t pages, double begin, double end);
// `pages`: those that it has fetched; 0: it was there, or on its way by a preload.
void note_fault(const void* code, uint32_t array, const void* address, uint64_t pages, double begin, double end);
// Allocates nothing after its first call, which must not come from the fault handler.
[[HIROBA_SHOWN]] void note_object(const void* object, size_t bytes);
// This rank has written pages since the last barrier; another rank has written a page before it. Returns whether both
// have.
void note_written(uint64_t page, uint64_t pages);
bool both_wrote(uint64_t page);
void note_energy(const char* name, double seconds, double joules);
void note_moved(std::atomic<uint64_t>* by_rank, int rank, uint64_t bytes);

// Fills in what is known at the start, and begins to record.
void start_record(RunRecord& record);
// Names places outside of the executable, which cannot be found in it afterwards; measures the processor's time.
void seal_record(RunRecord& record);

}  // namespace hiroba
