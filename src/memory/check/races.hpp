// Finds races on shared arrays and objects of the heap, with option check: two ranks touch the same bytes between two
// barriers, one of them writes, and no lock orders them. README.md in src/memory says how they are found, and which are
// not.
//
// Owner: MemoryParts, whose synchronisation calls it. Requires all ranks on one machine, on one node or several virtual
// ones, because they compare their records in memory that all of them map. Elsewhere on() is false.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/job.hpp"
#include "collective/collective.hpp"
#include "memory/check/access_recorder.hpp"
#include "memory/check/race_order.hpp"
#include "memory/check/race_report.hpp"
#include "memory/check/stray_pointers.hpp"

namespace hiroba {

// A race as ranks exchange it: two sides; each rank knows the code locations of its own.
struct Race {
  struct Side {
    int32_t rank, kind;  // AccessRecord::Kind
    const void* place;   // null: not known
    char text[160];      // the place in the source
  };
  uint64_t address;  // an offset from the start of the address range
  bool near;         // the first side's place is the nearest known write to the page
  bool apart;        // they write different bytes of one value
  Side side[2];
  char object[200], element[200];  // as ElementName
};

class RaceChecker {
 public:
  struct Config {
    Job job;
    Layout layout;
    char* base = nullptr;
    const ArrayTable* arrays = nullptr;
    Collective* collective = nullptr;
    int shared_fd = -1;          // of a file that all ranks have
    uint64_t at = 0;             // offset of the room for AccessLog::bytes()
    double recording_share = 0;  // of the program's time
  };
  Status start(const Config& config);
  // Sets a function that names the object of the heap at an address, if this rank has allocated it; else "".
  void name_objects(std::function<std::string(uint64_t address)> name) { object_name_ = std::move(name); }
  // Sets a function that names what lies at an address as the program does, if this rank knows.
  using Naming = std::function<ElementName(const void* address)>;
  void name_elements(Naming name) { element_name_ = std::move(name); }
  bool on() const { return recorder_ != nullptr; }
  AccessRecorder& recorder() { return *recorder_; }
  uint64_t epoch() const { return epoch_; }
  // Returns a number that changes whenever this rank synchronises after an access; for any thread.
  uint64_t segment() {
    return epoch_ << 32 | std::atomic_ref(log_.of(config_.job.rank).events).load(std::memory_order_relaxed);
  }
  // Freed memory of the heap is allocated again in this epoch: accesses to it cannot be distinguished from earlier
  // ones.
  void heap_reused() { log_.of(config_.job.rank).blind = true; }
  // Allows writes to these bytes only, until the end of the piece, which refuses other changes.
  void begin_piece(NamedBytes&& bytes, NamedWrites::Refuse refuse, const void* context);
  void end_piece();

  // Called before a barrier of the program: all ranks compare their accesses since the last one, and report races.
  // begin_epoch() follows the barrier. Does nothing unless on(). Collective.
  Status find(const char* call);
  void begin_epoch();

  // This rank synchronises with others within an epoch while the object lives; a new segment begins at its end.
  class Segment {
   public:
    Segment(RaceChecker& races, SyncEvent::Kind kind, uint32_t lock = 0, uint64_t ticket = 0);
    ~Segment();

   private:
    RaceChecker& races_;
    SyncEvent event_;
  };

 private:
  struct Item {
    AccessRecord record;
    int rank;
  };
  // Requires that no rank touches shared memory, as between two barriers. Returns the races of this rank that no other
  // rank finds; each pair of code locations once.
  std::vector<Race> compare();
  std::vector<Item> in_conflict() const;
  void open_named();
  uint64_t end_of_value(uint64_t byte) const;
  using Run = std::span<const Item>;
  static std::vector<Run> runs_of(const std::vector<Item>& items);
  void compare_records(const std::vector<Item>& items, RaceOrder& order, std::vector<Race>& out);
  void compare_runs(Run a, Run b, RaceOrder& order, std::vector<Race>& out);
  void compare_twins(const std::vector<Item>& items, std::vector<Race>& out);
  void add(const Item& a, const Item& b, uint64_t address, bool near, std::vector<Race>& out);
  // Stores the code locations of this rank's sides.
  void describe(Race& race) const;
  // Prints races that have not been printed before.
  void report(const Race& race, const Array& array);
  void say_heap_left();

  Config config_;
  RecordingTime time_;
  AccessLog log_;
  std::unique_ptr<AccessRecorder> recorder_;
  Piece piece_;
  StrayPointers stray_pointers_;
  uint64_t epoch_ = 0;
  std::set<std::tuple<uint64_t, const void*, const void*>> found_;  // array and places
  RaceReports reports_;
  std::function<std::string(uint64_t)> object_name_;
  Naming element_name_;
  bool heap_told_ = false;
};

}  // namespace hiroba
