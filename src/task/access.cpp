#include "task/access.hpp"

#include <algorithm>

#include "base/division.hpp"

namespace hiroba {

namespace {

constexpr size_t at(int d) { return static_cast<size_t>(d); }

// Two boxes over one list of strides, outermost first; a dimension that a section does not have has one block.
struct Boxes {
  int dims = 0;
  int64_t stride[2 * TaskSection::most_dims], a[2 * TaskSection::most_dims], b[2 * TaskSection::most_dims];
  void add(int64_t step, int64_t of_a, int64_t of_b) { stride[dims] = step, a[dims] = of_a, b[dims++] = of_b; }
};

Boxes common(const TaskSection& a, const TaskSection& b) {
  Boxes out;
  for (int i = 0, k = 0; i < a.dims || k < b.dims;) {
    const int64_t of_a = i < a.dims ? a.stride[at(i)] : 0, of_b = k < b.dims ? b.stride[at(k)] : 0;
    out.add(std::max(of_a, of_b), of_a >= of_b ? a.count[at(i)] : 1, of_b >= of_a ? b.count[at(k)] : 1);
    i += of_a >= of_b ? 1 : 0, k += of_b >= of_a ? 1 : 0;
  }
  return out;
}

// Returns true if blocks of the boxes overlap, b's being `distance` bytes after a's, from dimension d on. Inner
// dimensions are shorter than a stride, so only two differences of indices can bring blocks together.
bool overlap(const Boxes& boxes, int d, int64_t distance, const TaskSection& a, const TaskSection& b) {
  if (d == boxes.dims) return distance < static_cast<int64_t>(a.bytes) && -distance < static_cast<int64_t>(b.bytes);
  const int64_t low = floor_div(distance, boxes.stride[d]);
  for (int64_t step = low; step <= low + 1; ++step)  // index of a minus index of b
    if (step < boxes.a[d] && -step < boxes.b[d] && overlap(boxes, d + 1, distance - step * boxes.stride[d], a, b))
      return true;
  return false;
}

// Returns true if the inner dimensions are within a stride of the outer ones.
bool nested(const Boxes& boxes, size_t bytes) {
  auto extent = static_cast<int64_t>(bytes);
  for (int d = boxes.dims - 1; d >= 0; --d) {
    if (extent > boxes.stride[d]) return false;
    extent += (std::max(boxes.a[d], boxes.b[d]) - 1) * boxes.stride[d];
  }
  return true;
}

}  // namespace

bool TaskSection::same_blocks(const TaskSection& other) const {
  for (int d = 0; d < dims; ++d)
    if (count[at(d)] != other.count[at(d)] || stride[at(d)] != other.stride[at(d)]) return false;
  return true;
}

const char* TaskSection::end() const {
  const char* last = address + bytes;
  for (int d = 0; d < dims; ++d) last += (count[at(d)] - 1) * stride[at(d)];
  return last;
}

size_t TaskSection::total() const {
  size_t out = bytes;
  for (int d = 0; d < dims; ++d) out *= static_cast<size_t>(count[at(d)]);
  return out;
}

TaskSection TaskSection::simplified() const {
  TaskSection out(address, bytes);
  int64_t count_of[most_dims], stride_of[most_dims];
  int n = 0;  // counted from the innermost
  for (int d = dims - 1; d >= 0; --d) {
    if (count[at(d)] == 1) continue;
    if (n == 0 && stride[at(d)] == static_cast<int64_t>(out.bytes)) out.bytes *= static_cast<size_t>(count[at(d)]);
    else if (n > 0 && stride[at(d)] == stride_of[n - 1] * count_of[n - 1]) count_of[n - 1] *= count[at(d)];
    else count_of[n] = count[at(d)], stride_of[n++] = stride[at(d)];
  }
  out.dims = n;
  for (int d = 0; d < n; ++d) out.count[at(d)] = count_of[n - 1 - d], out.stride[at(d)] = stride_of[n - 1 - d];
  return out;
}

bool overlap(const TaskSection& a, const TaskSection& b) {
  if (a.end() <= b.address || b.end() <= a.address) return false;
  const Boxes boxes = common(a, b);
  if (!nested(boxes, std::max(a.bytes, b.bytes))) return true;
  return overlap(boxes, 0, b.address - a.address, a, b);
}

bool covers(const TaskSection& outer, const TaskSection& inner) {
  if (outer == inner) return true;
  if (outer.dims == 0) return outer.address <= inner.address && inner.end() <= outer.end();
  const Boxes boxes = common(outer, inner);
  if (!nested(boxes, std::max(outer.bytes, inner.bytes))) return false;
  int64_t distance = inner.address - outer.address;
  if (distance < 0) return false;
  for (int d = 0; d < boxes.dims; ++d) {
    const int64_t index = distance / boxes.stride[d];
    if (index + boxes.b[d] > boxes.a[d]) return false;
    distance -= index * boxes.stride[d];
  }
  return distance + static_cast<int64_t>(inner.bytes) <= static_cast<int64_t>(outer.bytes);
}

}  // namespace hiroba
