// A record of one rank for option report: tables of bounded size, which are filled while the program runs. The record
// lies in memory that outlives the process, so the launcher can read that of a rank that was killed. docs/report.md
// describes what is made of it.
//
// Owner: the rank that writes it. note_...() are for any thread, also in the fault handler: they allocate nothing, take
// no lock and make no system call; they do nothing without option report. What finds no room is counted in `lost`.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace hiroba {

enum class SiteKind : uint32_t { none, fault, barrier, collective, lock, task };

// A place of the program, and what has been done there. amount: of faults, pages; of collective operations, bytes.
struct SiteRecord {
  std::atomic<uint64_t> key;
  uint64_t code;    // the address of the instruction that faults, or that follows the call; 0: `text` has the place
  uint32_t kind;    // SiteKind
  uint32_t detail;  // faults: the array's number; locks: the lock's
  std::atomic<uint64_t> count, amount, nanoseconds;
  std::atomic<uint64_t> ordered, next;  // faults that continue where the last one ended; the page after it
  struct Waited {
    uint64_t nanoseconds;
    int32_t rank;
  } waited[3];  // barriers: for the ranks that came last
  char call[40];
  char text[120];
};

struct ArrayRecord {
  static constexpr int cells = 64;
  std::atomic<uint32_t> used;
  uint32_t freed;
  uint64_t pages, bytes, element_bytes;
  int64_t dims[8];
  int32_t ndims, policy;
  char name[160];
  uint64_t counts[12], before[12];  // see array_count_names; before: of freed arrays that this record had
  uint64_t alone;                   // pages on other nodes that this rank alone has written for long
  int32_t home[cells];              // the rank that has the first page of the cell
  std::atomic<uint64_t> faults[cells], writes[cells], both[cells];  // pages; both: another rank wrote it as well
};
extern const char* const array_count_names[12];

struct RunRecord {
  static constexpr uint64_t magic_value = 0x3174726f706572;
  static constexpr uint32_t most_sites = 4096, most_arrays = 256, most_ranks = 1024, most_pages = 65536;

  std::atomic<uint64_t> magic;
  int32_t rank, nranks, node, nnodes, pid;
  uint32_t complete;  // the rank has reached the end of the job
  char host[64], executable[512], cpus[128];
  uint64_t code_begin, code_end, code_bias;  // of the executable
  double began, seconds, collective, locks, faults;
  double processor, queued;  // on a processor; ready, but without one
  std::atomic<uint64_t> tasks, task_nanoseconds, barriers;
  uint64_t messages, message_bytes;
  std::atomic<uint64_t> lost;
  double waited_for[most_ranks];
  std::atomic<uint64_t> fetched_from[most_ranks], sent_to[most_ranks];
  std::atomic<uint32_t> arrays_used;
  ArrayRecord arrays[most_arrays];
  SiteRecord sites[most_sites];
  std::atomic<uint64_t> written[most_pages];  // page << 20 | the barrier before it, by the page's hash
};
static_assert(sizeof(RunRecord) <= uint64_t{16} << 20);

// This rank's record; null without option report.
extern RunRecord* run_record;
inline bool recording() { return run_record != nullptr; }

// The place of the call of the library that this thread of the program is in; null: it is not known.
extern thread_local const void* record_caller;
class RecordedCall {
 public:
  [[gnu::always_inline]] RecordedCall() {
    if (recording()) record_caller = __builtin_return_address(0);
  }
  RecordedCall(const RecordedCall&) = delete;
  ~RecordedCall() {
    if (recording()) record_caller = nullptr;
  }
};

// `code`: with a text, the text's address; it identifies the site. Null if the table is full.
SiteRecord* site_of(SiteKind kind, const void* code, uint32_t detail, const char* call, const char* text = nullptr);
void note_time(SiteRecord* site, uint64_t amount, double seconds);
void note_barrier(const char* call, double seconds, int last);
void note_lock(int lock, const char* call, double seconds);
void note_fault(const void* code, uint32_t array, uint64_t page, uint64_t pages, double seconds);
// This rank has written pages since the last barrier; another rank has written a page before it. Returns whether both
// have.
void note_written(uint64_t page, uint64_t pages);
bool both_wrote(uint64_t page);
void note_moved(std::atomic<uint64_t>* by_rank, int rank, uint64_t bytes);

// Fills in what is known at the start, and begins to record.
void start_record(RunRecord& record);
// Names places outside of the executable, which cannot be found in it afterwards; measures the processor's time.
void seal_record(RunRecord& record);

}  // namespace hiroba
