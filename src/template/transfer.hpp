// Data that all ranks of a team move together: which of its elements each gives to which, packed, in one exchange of
// the collective floor. A gmove is one, and so is a reflect.
//
// Every rank makes its own Transfer from the same description, and computes alone what it gives and takes. It may be
// performed again, and started. Owner: the caller, which keeps it until a started one is done. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collective/collective.hpp"
#include "template/layout.hpp"

namespace hiroba {

// A section of an aligned array, or of memory of each rank.
struct TransferSide {
  struct Dim {
    int64_t base = 0, step = 1, count = 1;  // indices
    int64_t stride = 0;                     // of memory, in bytes
  };
  const AlignedLayout* layout = nullptr;  // null: memory
  char* data = nullptr;                   // the first byte of this rank's memory of the array; of memory: of index 0
  std::vector<Dim> dims;
  std::vector<int> order = {};  // of its dimensions, the outermost first; empty: as they are
};

class Transfer {
 public:
  // Both sides must have the same counts, but for dimensions of count 1. `me`: this rank.
  static Transfer of_sections(const Team& team, int me, const TransferSide& to, const TransferSide& from,
                              size_t element);
  // Fills the shadow of an array. `widths`, of each dimension, in elements: before and after a node's own.
  struct Width {
    int64_t low = 0, high = 0;
    bool periodic = false;
  };
  static Transfer of_shadow(const Team& team, int me, const AlignedLayout& layout, char* data,
                            std::span<const Width> widths);

  // The same in the opposite direction: shadows go to the owners' elements, which `combine` adds them to.
  using Combine = void (*)(char* to, int64_t stride, const char* from, int64_t count);
  void reverse(Combine combine);

  Status perform(TeamOperations& teams, const Call& call);
  // Packs, and starts the exchange; done with finish() after it is complete.
  Status start(TeamOperations& teams, const Call& call, Started& out);
  void finish();

 private:
  // Elements in this rank's memory: the runs of each dimension, from `data` on.
  struct Box {
    char* data;
    std::vector<std::vector<Run>> dims;
  };
  class Builder;
  // The blocks for all members: packed one after the other, or where they lie, which is then not null.
  struct Packed {
    std::vector<char> room;
    std::vector<char*> direct;
    BlockTable table;  // from room.data() on
  };

  void set_room(bool started = false);
  Plan plan();
  static char* consecutive(const Box& box, size_t element);
  static void pack(const Box& box, size_t element, char*& packed);
  void unpack(const Box& box, const char*& packed) const;

  std::vector<int> ranks_;  // the team
  size_t element_ = 1;
  std::vector<std::vector<Box>> give_, take_;  // for each member
  Packed out_, in_;
  bool packs_all_ = false;     // what it gives
  Combine combine_ = nullptr;  // null: elements are replaced
};

}  // namespace hiroba
