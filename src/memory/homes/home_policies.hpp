// Decides which pages get other homes, because one rank has written them first or alone: at barriers, alike in all
// ranks. README.md, "Homes that move".
//
// Owner: MemoryParts. For the thread that makes collective calls; comments mark the collective functions.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/tables/options.hpp"
#include "memory/array.hpp"
#include "memory/homes/home_runs.hpp"
#include "memory/homes/write_tally.hpp"
#include "memory/notices/notices.hpp"

namespace hiroba {

struct MemoryParts;

class HomePolicies {
 public:
  explicit HomePolicies(MemoryParts& parts) : parts_(parts) {}

  // A page moves after this many intervals in which one rank alone wrote it, twice as many after each earlier move, and
  // at most most_moves times. All arrays together have at most most_exceptions more runs of pages with one home than
  // their distributions make.
  static constexpr uint32_t intervals = 3, most_moves = 4;
  static constexpr size_t most_exceptions = 8192;

  void start(const Options& options);
  void place_new(Array& array);               // by option homes; collective
  void set(Array& array, HomePolicy policy);  // collective

  // Called before a barrier with notices. It does nothing while every array has the policy fixed. Returns true if this
  // rank has proposals, which its word in the barrier tells the others.
  bool before_barrier();
  // Returns the nodes about whose pages saw() must be told, perhaps some of them twice.
  std::vector<int> nodes_of_interest() const;
  void saw(Notice written) {
    if (active_) others_.push_back({written.page(), written.pages()});
  }  // by another rank
  // `known`: the notices name all writes. `speakers`: the ranks that had proposals. Collective.
  Status after_barrier(bool known, std::span<const int> speakers, const char* call);
  // Restarts the counts, because not all ranks know what was written since the last barrier.
  void lose_track() { tally_.clear(), alone_.clear(); }
  void forget(const Array& array);  // which is being freed, or has got another distribution

  // Returns the number of the array's pages on other nodes that this rank alone has written for long.
  uint64_t pages_alone(const Array& array) const;

 private:
  enum Kind : uint32_t { moves, first_touch, touched, in_use };
  struct Proposal {
    uint64_t page;
    uint32_t pages, kind;
  };
  struct Accepted;

  Proposal* mine() const;
  bool can_move(const Array& array) const;
  void note_alone();
  void note_written(const PageRun& run);
  void say(uint64_t page, uint64_t pages, Kind kind);
  bool is_touched(const Array& array) const;
  void say_touched(const Array& array);
  void say_moves();
  std::vector<Proposal> read_proposals(int rank) const;
  Status decide(std::span<const int> speakers, const char* call);
  Status move(std::map<uint64_t, Accepted>& arrays, const char* call);
  void accept(Accepted& accepted, const Array& array, int rank) const;
  static void count_moves(Array& array, std::vector<HomeChange>& changes, size_t& room);
  size_t exceptions() const;

  MemoryParts& parts_;
  HomePolicy by_option_ = HomePolicy::fixed;
  bool watches_ = false, active_ = false;  // all arrays are watched, for their placement; or some
  uint64_t parity_ = 0, said_ = 0;
  std::vector<PageRun> alone_, others_;  // in the ending interval: by this rank, on other nodes; by others
  WriteTally tally_;
};

}  // namespace hiroba
