#include "coarray/section.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/status.hpp"

namespace hiroba {

int64_t Box::elements() const {
  int64_t product = 1;
  for (int d = 0; d < dims; ++d) product *= count[d];
  return product;
}

void Box::bounds(size_t element, int64_t& low, int64_t& high) const {
  low = 0, high = static_cast<int64_t>(element);
  for (int d = 0; d < dims; ++d) {
    const int64_t span = (count[d] - 1) * stride[d];
    (span < 0 ? low : high) += span;
  }
}

Box Box::packed(size_t element) const {
  Box box = *this;
  int64_t bytes = static_cast<int64_t>(element);
  for (int d = dims - 1; d >= 0; --d) {
    box.stride[d] = bytes;
    bytes *= count[d];
  }
  return box;
}

std::string Box::shape() const {
  if (dims == 0) return "a single element";
  std::string text;
  for (int d = 0; d < dims; ++d) text += format("[%lld]", static_cast<long long>(count[d]));
  return text;
}

namespace {

Box without_ones(const Box& box) {
  Box out;
  for (int d = 0; d < box.dims; ++d)
    if (box.count[d] != 1) out.count[out.dims] = box.count[d], out.stride[out.dims++] = box.stride[d];
  return out;
}

// Adds a dimension around the present ones, innermost first: neighbours are joined into one block, and the dimension is
// merged with the last one if it follows that in memory on both sides.
void surround(Walk& walk, int64_t count, int64_t to, int64_t from) {
  const int last = walk.dims - 1;
  const auto bytes = static_cast<int64_t>(walk.block);
  if (walk.dims == 0 && to == bytes && from == bytes) {
    walk.block *= static_cast<size_t>(count);
  } else if (walk.dims > 0 && to == walk.to[last] * walk.count[last] && from == walk.from[last] * walk.count[last]) {
    walk.count[last] *= count;
  } else {
    assert(walk.dims < Walk::max_dims);
    walk.count[walk.dims] = count, walk.to[walk.dims] = to, walk.from[walk.dims++] = from;
  }
}

}  // namespace

int64_t Walk::blocks() const {
  int64_t product = 1;
  for (int d = 0; d < dims; ++d) product *= count[d];
  return product;
}

bool conform(const Box& to, const Box& from) {
  const Box a = without_ones(to), b = without_ones(from);
  return a.dims == b.dims ? std::equal(a.count, a.count + a.dims, b.count) : a.elements() == b.elements();
}

bool pair_up(const Box& to, const Box& from, size_t element, Walk& walk) {
  Box a = without_ones(to), b = without_ones(from);
  walk.dims = 0, walk.block = element;
  int i = a.dims - 1, j = b.dims - 1;
  while (i >= 0 && j >= 0) {
    // The dimension with more elements is divided in two, if possible.
    const int64_t count = std::min(a.count[i], b.count[j]);
    if (count == 0) return walk.dims = 0, walk.block = 0, true;
    if (a.count[i] % count != 0 || b.count[j] % count != 0) return false;
    surround(walk, count, a.stride[i], b.stride[j]);
    a.count[i] /= count, a.stride[i] *= count;
    b.count[j] /= count, b.stride[j] *= count;
    if (a.count[i] == 1) --i;
    if (b.count[j] == 1) --j;
  }
  std::reverse(walk.count, walk.count + walk.dims);
  std::reverse(walk.to, walk.to + walk.dims);
  std::reverse(walk.from, walk.from + walk.dims);
  return true;
}

Walk walk_packed(const Box& from, size_t element) {
  Walk walk;
  pair_up(from.packed(element), from, element, walk);
  return walk;
}

}  // namespace hiroba
