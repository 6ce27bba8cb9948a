#include "memory/section_pages.hpp"

namespace hiroba {

Status section_of(const Array& array, std::span<const Range> ranges, Section& out) {
  const Distribution& d = array.distribution;
  out = Section(array.data, d.element_bytes());
  auto stride = static_cast<int64_t>(d.bytes());
  for (int i = 0; i < d.dims(); ++i) {
    const Range& r = ranges[i];
    // Compared without multiplying, so that nothing overflows.
    const bool fits = r.base >= 0 && r.length >= 0 && r.step >= 1 && r.base <= d.dim(i) &&
                      (r.length == 0 || (r.base < d.dim(i) && (r.length - 1) <= (d.dim(i) - 1 - r.base) / r.step));
    if (!fits)
      return Status::error("section %ld:%ld:%ld of dimension %d of array %s is outside 0..%ld (base:length:step)",
                           r.base, r.length, r.step, i, array.name, d.dim(i) - 1);
    stride /= std::max<int64_t>(1, d.dim(i));
    out.address += r.base * stride;
    out.add(r.length, r.step * stride);
  }
  return {};
}

}  // namespace hiroba
