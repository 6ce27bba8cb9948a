// Changes the homes of pages of arrays: their bytes, their mapping in every rank, and the records of their copies.
// README.md, "Homes that move", has the order of steps and why no rank asks a former home.
//
// Owner: MemoryParts. Collective. Requires that no thread of any rank touches the arrays and no operation on them is
// under way.
#pragma once

#include <span>
#include <vector>

#include "memory/homes/home_runs.hpp"

namespace hiroba {

struct MemoryParts;

// The homes that an array will have.
struct NewHomes {
  Array* array;
  std::vector<HomeRun> homes;
};

class HomeMoves {
 public:
  explicit HomeMoves(MemoryParts& parts) : parts_(parts) {}

  // Requires the same arguments in all ranks, and a barrier before which all writes have gone home and all fetches have
  // ended.
  Status apply(std::span<NewHomes> all, const char* call);

 private:
  struct Moved {
    Array* array;
    std::vector<HomeChange> changes;
  };
  bool is_here(int rank) const;
  bool crosses(const HomeChange& change) const;
  void forget_copies(const Moved& moved);
  Status take_over(Moved& moved, std::vector<HomeRun>& homes);
  Status map(const Moved& moved);
  template <typename Visit>
  void for_each_share(const Moved& moved, const Visit& visit) const;
  Status prepare(std::span<const Moved> all, const char* call);
  Status push(const Moved& moved);
  Status push(const HomeChange& change, uint64_t begin, uint64_t end);
  Status send(int rank, uint64_t offset, const char* from, uint64_t bytes);
  void give_back(const Moved& moved);

  MemoryParts& parts_;
};

}  // namespace hiroba
