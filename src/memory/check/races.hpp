// With option check: races on shared arrays and objects of the heap. Two ranks touch the same bytes between two
// barriers, one of them writes, and no lock orders them. README.md beside this file says how they are found, and which
// are not.
//
// Owner: MemoryParts, whose synchronisation calls it. Works where all ranks are on one machine, on one node or several
// virtual ones, because they compare what they have recorded in memory that all of them map. Elsewhere on() is false.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/job.hpp"
#include "collective/collective.hpp"
#include "memory/check/access_recorder.hpp"
#include "memory/check/race_order.hpp"
#include "memory/check/stray_pointers.hpp"

namespace hiroba {

// A race as it travels between ranks: two sides, of which each rank knows the places of its own.
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
  char object[200];  // of the heap; "": not known
};

class RaceChecker {
 public:
  struct Config {
    Job job;
    Layout layout;
    char* base = nullptr;
    const ArrayTable* arrays = nullptr;
    Collective* collective = nullptr;
    int shared_fd = -1;  // of a file that all ranks have
    uint64_t at = 0;     // where in it is room for AccessLog::bytes()
  };
  Status start(const Config& config);
  // Names the object of the heap at an address, if this rank has allocated it; else "".
  void name_objects(std::function<std::string(uint64_t address)> name) { object_name_ = std::move(name); }
  bool on() const { return recorder_ != nullptr; }
  AccessRecorder& recorder() { return *recorder_; }
  RecordingTime& time() { return time_; }
  uint64_t epoch() const { return epoch_; }
  // In this epoch freed memory of the heap is handed out again: accesses to it cannot be told from those before.
  void heap_reused() { log_.of(config_.job.rank).blind = true; }
  // Until the end of the piece, which refuses what has changed besides, it may write only these bytes.
  void begin_piece(NamedBytes&& bytes, NamedWrites::Refuse refuse, const void* context);
  void end_piece();

  // Before a barrier of the program: all ranks compare what they have touched since the last one, and name the races.
  // begin_epoch() follows after it. Nothing unless on(). Collective.
  Status find(const char* call);
  void begin_epoch();

  // While it lives, this rank synchronises with others within an epoch; a new segment begins at its end.
  class Segment {
   public:
    Segment(RaceChecker& races, SyncEvent::Kind kind, int lock = 0, uint32_t ticket = 0);
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
  // Between two barriers, when no rank touches shared memory: the races in which this rank has a part that no other
  // rank finds. Each pair of places once.
  std::vector<Race> compare();
  std::vector<Item> in_conflict() const;
  bool blind_to_heap() const;
  void open_named();
  uint64_t end_of_value(uint64_t byte) const;
  void compare_records(const std::vector<Item>& items, Order& order, std::vector<Race>& out);
  void compare_twins(const std::vector<Item>& items, std::vector<Race>& out);
  void add(const Item& a, const Item& b, uint64_t address, bool near, std::vector<Race>& out);
  // Writes down the places of this rank's sides.
  void describe(Race& race) const;
  // Prints what has not been printed before.
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
  std::set<std::string> reported_;                                  // messages
  std::function<std::string(uint64_t)> object_name_;
  bool heap_told_ = false;
};

}  // namespace hiroba
