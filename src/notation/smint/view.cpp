#include "notation/smint/view.hpp"

namespace hiroba {

namespace {

bool same_shape(const smint_access& access, const Distribution& d) {
  if (access.dims != d.dims() || access.element != static_cast<int64_t>(d.element_bytes())) return false;
  int64_t stride = access.element;
  for (int i = access.dims - 1; i >= 0; stride *= d.dim(i--))
    if (access.stride[i] != stride) return false;
  return true;
}

void view_exactly(const smint_access& access, int64_t offset, View& view) {
  const Distribution& d = view.array->distribution;
  view.exact = true;
  view.dims = access.dims;
  for (int i = 0; i < access.dims; ++i) {
    const int64_t shift = floor_div(offset, access.stride[i]);
    offset -= shift * access.stride[i];
    view.extent[i] = d.dim(i), view.stride[i] = access.stride[i];
    view.low[i] = access.low[i] + shift, view.high[i] = access.high[i] + shift;
    std::copy_n(access.factor[i], SMINT_LOOPS, view.factor[i]);
  }
}

void view_as_bytes(const smint_access& access, int64_t offset, View& view) {
  view.exact = false;
  view.dims = 1;
  view.extent[0] = static_cast<int64_t>(view.array->distribution.bytes()), view.stride[0] = 1;
  view.low[0] = offset, view.high[0] = offset + access.element - 1;
  std::fill_n(view.factor[0], SMINT_LOOPS, 0);
  for (int i = 0; i < access.dims; ++i) {
    view.low[0] += access.low[i] * access.stride[i], view.high[0] += access.high[i] * access.stride[i];
    for (int k = 0; k < SMINT_LOOPS; ++k) view.factor[0][k] += access.factor[i][k] * access.stride[i];
  }
}

}  // namespace

bool view_of(const Memory& memory, const smint_access& access, View& view) {
  if (!memory.contains(access.base) || !memory.find(access.base, view.array).ok()) return false;
  const int64_t offset = static_cast<const char*>(access.base) - view.array->data;
  if (same_shape(access, view.array->distribution) && offset % access.element == 0) view_exactly(access, offset, view);
  else view_as_bytes(access, offset, view);
  return true;
}

}  // namespace hiroba
