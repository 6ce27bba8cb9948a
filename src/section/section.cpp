#include "section/section.hpp"

#include <cstdlib>

#include "base/division.hpp"
#include "base/status.hpp"
#include "section/walk.hpp"

namespace hiroba {

namespace {

// Two sections over one list of strides, outermost first; a dimension that one does not have has one block.
struct Boxes {
  int dims = 0;
  int64_t stride[2 * Section::most_dims], a[2 * Section::most_dims], b[2 * Section::most_dims];
  void add(int64_t step, int64_t of_a, int64_t of_b) { stride[dims] = step, a[dims] = of_a, b[dims++] = of_b; }
};

Boxes common(const SectionView& a, const SectionView& b) {
  Boxes out;
  for (int i = 0, k = 0; i < a.dims || k < b.dims;) {
    const int64_t of_a = i < a.dims ? a.stride[i] : 0, of_b = k < b.dims ? b.stride[k] : 0;
    out.add(std::max(of_a, of_b), of_a >= of_b ? a.count[i] : 1, of_b >= of_a ? b.count[k] : 1);
    i += of_a >= of_b ? 1 : 0, k += of_b >= of_a ? 1 : 0;
  }
  return out;
}

// True if blocks of the boxes overlap, b's being `distance` bytes after a's, from dimension d on. Within a dimension
// the inner ones are shorter than a stride, so only two differences of indices can bring blocks together.
bool overlap(const Boxes& boxes, int d, int64_t distance, const SectionView& a, const SectionView& b) {
  if (d == boxes.dims) return distance < static_cast<int64_t>(a.bytes) && -distance < static_cast<int64_t>(b.bytes);
  const int64_t low = floor_div(distance, boxes.stride[d]);
  for (int64_t step = low; step <= low + 1; ++step)  // index of a minus index of b
    if (step < boxes.a[d] && -step < boxes.b[d] && overlap(boxes, d + 1, distance - step * boxes.stride[d], a, b))
      return true;
  return false;
}

// True if inner dimensions lie within a stride of the outer ones.
bool nested(const Boxes& boxes, size_t bytes) {
  auto extent = static_cast<int64_t>(bytes);
  for (int d = boxes.dims - 1; d >= 0; --d) {
    if (extent > boxes.stride[d]) return false;
    extent += (std::max(boxes.a[d], boxes.b[d]) - 1) * boxes.stride[d];
  }
  return true;
}

// The same bytes with positive strides, the largest first, as in arrays of C.
Section upright(const SectionView& section) {
  Section out(section.address, section.bytes);
  for (int d = 0; d < section.dims; ++d) {
    const int64_t count = section.count[d], stride = section.stride[d];
    if (count == 1 || stride == 0) continue;
    if (stride < 0) out.address += (count - 1) * stride;
    out.add(count, std::abs(stride));
    for (auto e = static_cast<size_t>(out.dims) - 1; e > 0 && out.stride[e] > out.stride[e - 1]; --e)
      std::swap(out.stride[e], out.stride[e - 1]), std::swap(out.count[e], out.count[e - 1]);
  }
  return out;
}

// Returns the first byte of [at, at + bytes) that an upright section has; null if none.
const char* first_in(const Section& section, const char* at, int64_t bytes) {
  const char* base = section.address;  // the last block that begins at or before `at`, and the one after it
  for (size_t d = 0; d < static_cast<size_t>(section.dims); ++d) {
    const int64_t rest = at - base, stride = section.stride[d], last = section.count[d] - 1;
    const int64_t index = rest < 0 ? 0 : std::min(rest / stride, last);
    // If no smaller dimension contains it, the next index may begin inside the range.
    const char* const next = base + (index + 1) * stride;
    if (index < last && next >= at && next < at + bytes) return next;
    base += index * stride;
  }
  if (base >= at + bytes || base + section.bytes <= at) return nullptr;
  return std::max(base, at);
}

bool is_upright(const SectionView& s) {
  for (int d = 0; d < s.dims; ++d)
    if (s.stride[d] <= 0 || (d > 0 && s.stride[d] >= s.stride[d - 1])) return false;
  return true;
}

bool overlap_upright(const SectionView& a, const SectionView& b) {
  if (a.address + a.bounds().high <= b.address || b.address + b.bounds().high <= a.address) return false;
  const Boxes boxes = common(a, b);
  if (!nested(boxes, std::max(a.bytes, b.bytes))) return true;
  return overlap(boxes, 0, b.address - a.address, a, b);
}

}  // namespace

std::string SectionView::shape() const {
  if (dims == 0) return "a single element";
  std::string text;
  for (int d = 0; d < dims; ++d) text += format("[%ld]", count[d]);
  return text;
}

bool overlap(const SectionView& a, const SectionView& b) {
  if (is_upright(a) && is_upright(b)) return overlap_upright(a, b);
  return overlap_upright(upright(a), upright(b));
}

const char* common_byte(const SectionView& a, const SectionView& b) {
  const Section other = upright(b);
  Walk walk;
  pair_up(a, Section(a).repeated(), a.bytes, walk);  // on the other side of the walk, so that blocks stay single
  const char* found = nullptr;
  walk.for_each_block([&](int64_t at, int64_t) {
    if (found == nullptr) found = first_in(other, a.address + at, static_cast<int64_t>(walk.block));
  });
  return found;
}

bool covers(const SectionView& outer, const SectionView& inner) {
  const auto end = [](const SectionView& s) { return s.address + s.bounds().high; };
  if (outer == inner) return true;
  if (outer.dims == 0) return outer.address <= inner.address && end(inner) <= end(outer);
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
