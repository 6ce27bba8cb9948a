// Elements of aligned arrays by their numbers: an element's number is its position in the whole array, in C's order,
// from 0 on. The members of a team read and write any elements of arrays whose nodes are all in the team.
//
// Owner: the caller. All members make the same calls in the same order; each call exchanges numbers, then data. Calls
// block. Not thread-safe.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "collective/collective.hpp"
#include "template/layout.hpp"

namespace hiroba {

// A rank's part of an aligned array.
struct AlignedPart {
  const AlignedLayout* layout;
  char* data;  // the first byte of its memory
};

// An index that a node owns in one dimension, and where it is in the node's memory.
struct OwnIndex {
  int64_t index, at;  // bytes
};
// Those of a rank in each dimension, in the order of its memory; none in all dimensions if it has no part.
std::vector<std::vector<OwnIndex>> own_indices(const AlignedLayout& layout, int rank);

// An element that a node owns: its number, and where it is in the node's memory, in bytes.
struct OwnElement {
  int64_t number, at;
};
// Those of a rank in the order of its memory.
std::vector<OwnElement> own_elements(const AlignedLayout& layout, int rank);

int64_t count_elements(const AlignedLayout& layout);
// True for one of the nodes that have copies of the same elements.
bool has_first_copy(const AlignedLayout& layout, int rank);

class ElementExchange {
 public:
  ElementExchange(TeamOperations& teams, const Team& team, int me, const Call& call);

  int me() const { return me_; }
  const Team& team() const { return team_; }
  TeamOperations& teams() const { return teams_; }
  const Call& call() const { return call_; }

  // Reads the elements with these numbers into `values`, one after the other.
  Status get(const AlignedPart& from, std::span<const int64_t> numbers, char* values);
  // Writes them, in all copies. If several go to one element, that with the greatest order stays.
  Status put(const AlignedPart& to, std::span<const int64_t> numbers, std::span<const int64_t> orders,
             const char* values);
  // Replaces each number by how many different ones of all members are less. All are less than `limit`. `all`: how many
  // different ones there are.
  Status count_before(std::vector<int64_t>& numbers, int64_t limit, int64_t& all);
  // The sum of the members before this one, and of all.
  Status sums(int64_t own, int64_t& before, int64_t& all);

  // Sends out[m] to each member m. `in` has what all send to this one, `counts[m]` of them from member m.
  template <typename T>
  Status exchange(const std::vector<std::vector<T>>& out, std::vector<T>& in, std::vector<size_t>& counts) {
    std::vector<std::span<const char>> given;
    for (const std::vector<T>& each : out)
      given.push_back({reinterpret_cast<const char*>(each.data()), each.size() * sizeof(T)});
    std::vector<size_t> bytes;
    HIROBA_TRY(agree_on_sizes(given, bytes));
    counts.clear();
    for (const size_t each : bytes) counts.push_back(each / sizeof(T));
    in.resize(std::accumulate(counts.begin(), counts.end(), size_t{0}));
    return move(given, bytes, reinterpret_cast<char*>(in.data()));
  }

 private:
  // Finds how many bytes each member sends to this one.
  Status agree_on_sizes(std::span<const std::span<const char>> given, std::vector<size_t>& taken);
  Status move(std::span<const std::span<const char>> given, std::span<const size_t> taken, char* in);

  TeamOperations& teams_;
  const Team team_;
  const int me_;
  const Call call_;
};

}  // namespace hiroba
