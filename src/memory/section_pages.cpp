#include "memory/section_pages.hpp"

namespace hiroba {

Status check_section(const Array& array, std::span<const Range> section, bool& empty) {
  const Distribution& d = array.distribution;
  empty = false;
  for (int i = 0; i < d.dims(); ++i) {
    const Range& r = section[static_cast<size_t>(i)];
    empty = empty || r.length == 0;
    // Compares without multiplying, so that nothing overflows.
    const bool fits = r.base >= 0 && r.length >= 0 && r.step >= 1 && r.base <= d.dim(i) &&
                      (r.length == 0 || (r.base < d.dim(i) && (r.length - 1) <= (d.dim(i) - 1 - r.base) / r.step));
    if (!fits)
      return Status::error(
          format("section %lld:%lld:%lld of dimension %d of array %s is outside 0..%lld (base:length:step)",
                 static_cast<long long>(r.base), static_cast<long long>(r.length), static_cast<long long>(r.step), i,
                 array.name, static_cast<long long>(d.dim(i) - 1)));
  }
  return {};
}

}  // namespace hiroba
