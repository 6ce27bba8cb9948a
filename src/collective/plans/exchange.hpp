// The exchange of blocks: each member of a team gives each member a block, and copies or combines the blocks that it
// takes in the order of members. All collective operations on data are one or more exchanges (plans.hpp).
//
// A block moves in one of five forms, which the giver chooses. Eager: in a parcel. Direct: it is shared memory whose
// home is here, so the taker reads it in place. Peeked: it is private memory of a process of the same machine, and the
// kernel copies it. Sent: the network moves it to another machine, by rendezvous. Staged: the giver copies it, piece by
// piece, to memory that all can read. README.md of this folder describes the protocol and why it cannot deadlock.
//
// Owner: Collective. Exchanges are operations (operation.hpp): any thread that advances operations runs them.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ranges.hpp"
#include "collective/plans/call_log.hpp"
#include "collective/plans/one_report.hpp"
#include "collective/plans/parcels.hpp"
#include "collective/plans/plans.hpp"
#include "collective/plans/questions.hpp"
#include "collective/team.hpp"

namespace hiroba {

// Memory of this rank that all ranks can read, for staged blocks. The operations' lock protects it.
class Staging {
 public:
  void start(uint64_t offset, uint64_t bytes) { first_ = next_ = offset, free_.add(offset, bytes); }
  // Returns false if there is no room now.
  bool allocate(uint64_t bytes, uint64_t& offset);
  void release(uint64_t offset, uint64_t bytes) { free_.add(offset, bytes); }

 private:
  static constexpr uint64_t turn = uint64_t{4} << 20;
  uint64_t first_ = 0, next_ = 0;
  FreeRanges free_;
};

class Lanes;

// A started operation with its data.
struct Running {
  Sequence sequence;
  std::string what, place;  // `place` may be empty
  int rank = 0;             // this rank
  Board* board = nullptr;
  const CallLog* log = nullptr;
  const Lanes* lanes = nullptr;
  const Questions* questions = nullptr;
  OneReport* report = nullptr;
  Suspicion suspicion;
  std::optional<Questions::Inquiry> inquiry;  // if it is of all ranks
  Status differs;                             // an error if another rank's call differs
  std::vector<Step> phases;
  std::vector<char> data;                  // the operation's data, if it works on a copy
  std::atomic<const char*> way = nullptr;  // how it moves data, for the record; null: this rank has given nothing yet
  Words words;
  Join join = nullptr;
  std::shared_ptr<void> token;  // its use count shows whether any started operation exists
  bool stages = false;          // others wait for blocks that this rank copies as it advances
  // The first operation ends last. Operations are added while other threads read them.
  static constexpr size_t most = 1 + 2 * Plan::most_phases;
  std::array<std::optional<Operation>, most> operations;
  std::atomic<size_t> count{1};
  void add(Operation operation) {
    operations[count.load(std::memory_order_relaxed)].emplace(std::move(operation));
    count.fetch_add(1, std::memory_order_release);
  }
};
// An operation releases its pointer at its end, because Running owns the operation.
using RunningPtr = std::shared_ptr<Running>;

class Exchange {
 public:
  void start(const World& world, Parcels& parcels, Operations& operations, uint64_t staging, uint64_t bytes);
  // Starts the operations of all phases, and ends after them.
  Operation run(RunningPtr running);

 private:
  enum Form : uint64_t { eager, direct, peeked, sent, staged };
  struct Here;
  struct Taking;
  // Chooses the form in which the block goes to that rank.
  Here here_of(int rank, const char* block, size_t bytes) const;
  Operation give(RunningPtr running, size_t phase);
  Operation take(RunningPtr running, size_t phase);
  void start_phase(const RunningPtr& running, size_t phase);
  Parcels::Receive receive_taken(const Running& running, size_t phase, int member, size_t round);
  void send_taken(const Running& running, size_t phase, int member, size_t round);
  void send_here(Running& running, size_t phase, int member, size_t round, const Here& here,
                 std::span<const char> data = {});

  const World* world_ = nullptr;
  Parcels* parcels_ = nullptr;
  Operations* operations_ = nullptr;
  Staging staging_;
};

}  // namespace hiroba
