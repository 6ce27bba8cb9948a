// Computes which rank has which elements of an array that is aligned with a template, and where in its memory.
//
// A Grid is a node array; a Template divides its axes over the dimensions of a grid; a AlignedLayout is an aligned
// array: the elements of each node are a box of memory, in C order, with a shadow around it. Everything is a formula of
// a node's coordinates, so each rank computes what any other has. Values; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "template/axis.hpp"

namespace hiroba {

constexpr int template_dims = 7;

// Ranks as an array; extents in C order, the last changes fastest.
struct Grid {
  std::vector<int> ranks, extent;
  // If the same node array has other ranks on some ranks, such as each its row: all sets of them, in the same order on
  // all ranks. No two have a rank in common.
  std::vector<std::vector<int>> sets = {};

  int dims() const { return static_cast<int>(extent.size()); }
  // Returns the number of the set that has a rank; -1: none.
  int set_of(int rank) const;
  // The same grid as the ranks of that set have it.
  Grid as_in(int set) const;
  // The coordinates of a rank; empty if it is not in the grid.
  std::vector<int> coordinates(int rank) const;
  int rank_at(const std::vector<int>& coordinates) const;
};

struct Template {
  std::vector<Axis> axes;
  std::vector<int> on;  // of each axis: the dimension of the grid that it is divided over; -1: none
  Grid grid;
};

// Consecutive elements: indices first, first + 1, ... at offsets at, at + stride, ...
struct Run {
  int64_t at, count, stride;
};

class AlignedLayout {
 public:
  struct Dim {
    int64_t extent = 1;
    int axis = -1;              // of the template; -1: each node has all
    int64_t shift = 0;          // index of the template (from 0) less that of the array
    int64_t low = 0, high = 0;  // shadow
    bool full = false;          // shadow: all of the dimension
  };
  // The elements of a node in one dimension.
  struct Part {
    int64_t first = 0, count = 0;        // the least index, and the number of elements that it owns
    int64_t memory_first = 0, size = 0;  // the least number in its memory (an index, or Axis::local), and how many
  };

  AlignedLayout() = default;
  AlignedLayout(const Template& of, std::vector<Dim> dims, size_t element);

  const Template& on() const { return template_; }
  int dims() const { return static_cast<int>(dims_.size()); }
  const Dim& dim(int d) const { return dims_[d]; }
  size_t element() const { return element_; }
  const Axis* axis(int d) const { return dims_[d].axis < 0 ? nullptr : &template_.axes[dims_[d].axis]; }
  // The dimension of the grid over which a dimension is divided; -1: none.
  int on_grid(int d) const { return dims_[d].axis < 0 ? -1 : template_.on[dims_[d].axis]; }
  // True if subscripts of this dimension are numbers of Axis::local.
  bool turns(int d) const { return on_grid(d) >= 0 && axis(d)->turns() && !dims_[d].full; }
  // The coordinate, in on_grid(d), of the node that owns index i; -1: all own it.
  int owner(int d, int64_t i) const { return on_grid(d) < 0 ? -1 : axis(d)->owner(i + dims_[d].shift); }
  int64_t number(int d, int64_t i) const { return turns(d) ? axis(d)->local(i + dims_[d].shift) : i; }
  // Returns the part of the node with that coordinate in on_grid(d); of any node for other dimensions.
  Part part(int d, int coordinate) const;
  // The same of a node with these coordinates.
  Part part(int d, const std::vector<int>& at) const { return part(d, on_grid(d) < 0 ? 0 : at[on_grid(d)]); }
  // The dimensions of the grid in which no dimension of the array is divided: there nodes have copies.
  std::vector<int> copied_over() const;
  // The same elements on the same nodes, without shadow, with elements of another size.
  AlignedLayout without_shadow(size_t element) const;
  // Bytes from one element of a node's memory to the next, per dimension.
  std::array<int64_t, template_dims> strides(const std::vector<int>& at) const;

 private:
  Template template_;
  std::vector<Dim> dims_;
  size_t element_ = 1;
};

}  // namespace hiroba
