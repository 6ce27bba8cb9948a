// Data that all ranks of a team move together: which of its elements each gives to which. A gmove is one, and so is a
// reflect. Where the members reach each other's parts, each copies what it takes out of them between two barriers;
// otherwise, and if it is started, what moves is packed, and is one exchange of the collective floor.
//
// Every rank makes its own Transfer from the same description, and computes alone what it gives and takes. It may be
// performed again, and started. Owner: the caller, which keeps it until a started one is done. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collective/collective.hpp"
#include "template/sides.hpp"

namespace hiroba {

class Transfer {
 public:
  // Both sides must have the same counts, but for dimensions of count 1. `me`: this rank. All members have parts of the
  // arrays, or none has.
  static Transfer of_sections(const Team& team, int me, const TransferSide& to, const TransferSide& from,
                              size_t element);
  // Fills the shadow of an array; with `combine` in the opposite direction: shadows go to the owners' elements, which
  // it adds them to. `widths`, of each dimension, in elements: before and after a node's own.
  struct Width {
    int64_t low = 0, high = 0;
    bool periodic = false;
  };
  using Combine = void (*)(char* to, int64_t stride, const char* from, int64_t from_stride, int64_t count);
  static Transfer of_shadow(const Team& team, int me, const TransferSide& array, std::span<const Width> widths,
                            Combine combine = nullptr);

  Status perform(TeamOperations& teams, const Call& call);
  // Packs, and starts the exchange; done with finish() after it is complete.
  Status start(TeamOperations& teams, const Call& call, Started& out);
  void finish();

 private:
  // Elements of two memories.
  struct Copy {
    char* to;
    const char* from;
    std::vector<std::vector<PairedRuns>> dims;
  };
  class Shadow;
  // The blocks for all members: packed one after the other, or where they lie, which is then not null.
  struct Packed {
    std::unique_ptr<char[]> room;
    std::vector<char*> direct;
    BlockTable table;  // from room.data() on
  };

  void add_copies(const std::vector<Box>& to, const std::vector<Box>& from);
  void copy_all(const Copy& copy, size_t d, int64_t to, int64_t from) const;
  // Replaces the elements at `to`, or combines them.
  void move(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) const;
  void set_room(bool started);
  Plan plan(bool started);
  static char* consecutive(const Box& box, size_t element);
  void pack(const Box& box, char*& packed) const;
  void unpack(const Box& box, const char*& packed) const;

  std::vector<int> ranks_;  // the team
  size_t element_ = 1;
  std::vector<std::vector<Box>> give_, take_;  // for each member
  bool reaches_ = false;                       // the parts of others
  std::vector<Copy> copies_;                   // out of these
  Packed out_, in_;
  enum class Packs { nothing, needed, all } packs_ = Packs::nothing;  // what it gives
  Combine combine_ = nullptr;                                         // null: elements are replaced
};

}  // namespace hiroba
