// One dimension of a template, divided among pieces: as a whole, block-cyclic, or by cuts.
//
// Block is block-cyclic with one turn: piece k has the indices g with g mod cycle div width = k, where cycle = width *
// pieces. Indices count from 0. Values; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/division.hpp"

namespace hiroba {

class Axis {
 public:
  Axis() = default;
  static Axis whole(int64_t extent) { return Axis(extent, 1, extent < 1 ? 1 : extent); }
  static Axis block(int64_t extent, int pieces) { return Axis(extent, pieces, block_width(extent, pieces)); }
  // Each piece has `width` indices, and the last one also those that are left.
  static Axis block(int64_t extent, int pieces, int64_t width);
  static Axis cyclic(int64_t extent, int pieces, int64_t width) {
    Axis out(extent, pieces, width);
    out.turns_ = true;
    return out;
  }
  // Piece k has [cuts[k], cuts[k + 1]).
  static Axis cut(std::vector<int64_t> cuts);

  int64_t extent() const { return extent_; }
  int pieces() const { return pieces_; }
  int64_t width() const { return width_; }
  int64_t cycle() const { return width_ * pieces_; }
  // True if a piece may have several runs, which lie one after the other in its memory.
  bool turns() const { return turns_; }
  int owner(int64_t g) const;
  // The consecutive indices around g, [begin, end), that its owner has.
  void run_of(int64_t g, int64_t& begin, int64_t& end) const;
  // The number of g in the memory of its piece: g itself, unless the axis turns.
  int64_t local(int64_t g) const { return turns_ ? g / cycle() * width_ + g % width_ : g; }
  // Finds the first run [begin, end) of a piece that ends after `from`; false if there is none.
  bool next_run(int piece, int64_t from, int64_t& begin, int64_t& end) const;

 private:
  Axis(int64_t extent, int pieces, int64_t width) : extent_(extent), pieces_(pieces), width_(width) {}

  int64_t extent_ = 0;
  int pieces_ = 1;
  int64_t width_ = 1;
  bool turns_ = false;
  std::vector<int64_t> cuts_;
};

}  // namespace hiroba
