// Inquiry functions of xmp.h and xmp_global.h: of node arrays, templates, aligned arrays and coarrays.
#define SMS_NO_PLACES
#include <algorithm>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

constexpr int refused = -1;  // the specification's error value

const xmp_template& template_at(xmp_desc_t descriptor, const char* call) {
  const xmp_template* const found = find_template(descriptor);
  if (found == nullptr)
    end_job(1, "%s: this is not the descriptor of a template; give xmp_desc_of(t), or what xmp_align_template returns",
            call);
  return *found;
}

const xmp_aligned& array_at(xmp_desc_t descriptor, const char* call) {
  const xmp_aligned* const found = find_aligned(descriptor);
  if (found == nullptr)
    end_job(1, "%s: this is not the descriptor of an aligned array; give xmp_desc_of(a) of #pragma xmp align a", call);
  return *found;
}

// A dimension of a template, counted from 1 in the order in which the program writes them, as one from 0 on in C's
// order; and back. -1: there is none.
int in_c_order(const xmp_template& t, int dimension) {
  if (dimension < 1 || dimension > t.dims) return -1;
  return t.first_fastest != 0 ? t.dims - dimension : dimension - 1;
}
int as_written(const xmp_template& t, int d) { return t.first_fastest != 0 ? t.dims - d : d + 1; }

const Template* divided(const xmp_template& t) { return static_cast<const Template*>(t.opaque); }

int format_of(const xmp_template& t, int d) { return t.division[d].format; }

// The indices of a block; of a dimension that is not divided, all.
int block_of(const xmp_template& t, const Template& made, int d) {
  if (format_of(t, d) == XMP_GBLOCK) return -1;
  if (format_of(t, d) == XMP_BLOCK && t.division[d].width > 0) return static_cast<int>(t.division[d].width);
  return static_cast<int>(made.on[d] < 0 ? t.extent[d] : made.axes[d].width());
}

// A dimension of an array that has memory, from 0 on; null if there is none.
const AlignedLayout* layout_at(const xmp_aligned& a, int dimension) {
  if (dimension < 1 || dimension > a.dims || a.opaque == nullptr) return nullptr;
  return &layout_of(a, a.place);
}

// The last index that this node owns in a dimension in which it owns any.
int64_t last_of(const xmp_aligned& a, const AlignedLayout& layout, int d) {
  if (layout.on_grid(d) < 0 || !layout.axis(d)->turns()) return a.first[d] + a.count[d] - 1;
  int64_t i = a.extent[d] - 1;
  while (layout.owner(d, i) != layout.owner(d, a.first[d])) {
    int64_t begin = 0, end = 0;
    layout.axis(d)->run_of(i + layout.dim(d).shift, begin, end);
    i = begin - 1 - layout.dim(d).shift;
  }
  return i;
}

// Sets a result, or refuses.
int answer(bool known, int64_t value, int* out) {
  if (known) *out = static_cast<int>(value);
  return known ? 0 : refused;
}

}  // namespace

// ---- node arrays ---------------------------------------------------------------------------------------------------

XMP_EXPORT int xmp_nodes_ndims(xmp_desc_t nodes, int* ndims) {
  *ndims = static_cast<const xmp_nodes*>(nodes)->dims;
  return 0;
}

namespace {

bool no_dimension(const xmp_nodes& nodes, int dimension) { return dimension < 1 || dimension > nodes.dims; }

}  // namespace

XMP_EXPORT int xmp_nodes_index(xmp_desc_t descriptor, int dimension, int* index) {
  const xmp_nodes& nodes = *static_cast<const xmp_nodes*>(descriptor);
  const int me = set_of(nodes.images).find(sms_rank);
  if (no_dimension(nodes, dimension) || me < 0) return refused;
  int stride[XMP_DIMS];
  strides_of(nodes, stride);
  *index = me / stride[dimension - 1] % nodes.extent[dimension - 1] + 1;
  return 0;
}

XMP_EXPORT int xmp_nodes_size(xmp_desc_t descriptor, int dimension, int* size) {
  const xmp_nodes& nodes = *static_cast<const xmp_nodes*>(descriptor);
  if (no_dimension(nodes, dimension)) return refused;
  *size = nodes.extent[dimension - 1];
  return 0;
}

XMP_EXPORT int xmp_nodes_rank(xmp_desc_t descriptor, int* rank) {
  *rank = set_of(static_cast<const xmp_nodes*>(descriptor)->images).find(sms_rank) + 1;
  return 0;
}

XMP_EXPORT int xmp_nodes_equiv(xmp_desc_t descriptor, xmp_desc_t* of, int first[], int last[], int step[]) {
  const xmp_nodes& nodes = *static_cast<const xmp_nodes*>(descriptor);
  if (nodes.of == nullptr || nodes.of == XMP_ALL_NODES) return refused;
  const xmp_node_reference& reference = *nodes.of;
  *of = const_cast<xmp_nodes*>(reference.nodes);
  for (int d = 0; d < reference.nodes->dims; ++d) {
    const auto& range = reference.range[d];
    const int by = range.step == 0 ? 1 : range.step;
    const int count = range.count == XMP_REST ? (reference.nodes->extent[d] - range.first + by - 1) / by : range.count;
    first[d] = range.first + 1, last[d] = range.first + (count - 1) * by + 1, step[d] = by;
  }
  return 0;
}

XMP_EXPORT int xmp_nodes_attr(xmp_desc_t descriptor, int* attribute) {
  const xmp_nodes& nodes = *static_cast<const xmp_nodes*>(descriptor);
  if (nodes.of == XMP_ALL_NODES) *attribute = XMP_PRIMARY_NODES;
  else if (nodes.of != nullptr) *attribute = XMP_EQUIVALENCE_NODES;
  else *attribute = nodes.of_executing != 0 ? XMP_EXECUTING_NODES : XMP_ENTIRE_NODES;
  return 0;
}

// ---- templates -----------------------------------------------------------------------------------------------------

XMP_EXPORT int xmp_template_fixed(xmp_desc_t t, int* fixed) {
  *fixed = divided(template_at(t, "xmp_template_fixed")) != nullptr ? 1 : 0;
  return 0;
}

XMP_EXPORT int xmp_template_ndims(xmp_desc_t t, int* ndims) {
  *ndims = template_at(t, "xmp_template_ndims").dims;
  return 0;
}

XMP_EXPORT int xmp_template_lbound(xmp_desc_t descriptor, int dimension, int* bound) {
  const xmp_template& t = template_at(descriptor, "xmp_template_lbound");
  const int d = in_c_order(t, dimension);
  return answer(d >= 0 && divided(t) != nullptr, d < 0 ? 0 : t.lower[d], bound);
}

XMP_EXPORT int xmp_template_ubound(xmp_desc_t descriptor, int dimension, int* bound) {
  const xmp_template& t = template_at(descriptor, "xmp_template_ubound");
  const int d = in_c_order(t, dimension);
  return answer(d >= 0 && divided(t) != nullptr, d < 0 ? 0 : t.lower[d] + t.extent[d] - 1, bound);
}

XMP_EXPORT int xmp_template_gsize(xmp_desc_t descriptor, int dimension) {
  const xmp_template& t = template_at(descriptor, "xmp_template_gsize");
  const int d = in_c_order(t, dimension);
  return d < 0 || divided(t) == nullptr ? refused : static_cast<int>(t.extent[d]);
}

XMP_EXPORT int xmp_template_lsize(xmp_desc_t descriptor, int dimension) {
  const xmp_template& t = template_at(descriptor, "xmp_template_lsize");
  const int d = in_c_order(t, dimension);
  if (d < 0 || divided(t) == nullptr) return refused;
  const std::vector<int> at = divided(t)->grid.coordinates(sms_rank);
  const int piece = divided(t)->on[d] < 0 ? 0 : at.empty() ? -1 : at[divided(t)->on[d]];
  int64_t begin = 0, end = 0, size = 0;
  if (!at.empty())
    while (divided(t)->axes[d].next_run(piece, end, begin, end)) size += end - begin;
  return static_cast<int>(size);
}

XMP_EXPORT int xmp_dist_format(xmp_desc_t descriptor, int dimension, int* format) {
  const xmp_template& t = template_at(descriptor, "xmp_dist_format");
  const int d = in_c_order(t, dimension);
  return answer(d >= 0, d < 0 ? 0 : format_of(t, d), format);
}

XMP_EXPORT int xmp_dist_blocksize(xmp_desc_t descriptor, int dimension, int* size) {
  const xmp_template& t = template_at(descriptor, "xmp_dist_blocksize");
  const int d = in_c_order(t, dimension);
  const bool known = d >= 0 && divided(t) != nullptr;
  const int block = known ? block_of(t, *divided(t), d) : 0;
  return answer(known && block >= 0, block, size);
}

XMP_EXPORT int xmp_dist_stride(xmp_desc_t descriptor, int dimension) {
  const xmp_template& t = template_at(descriptor, "xmp_dist_stride");
  const int d = in_c_order(t, dimension);
  if (d < 0 || divided(t) == nullptr) return refused;
  return divided(t)->axes[d].turns() ? static_cast<int>(divided(t)->axes[d].cycle()) : 1;
}

XMP_EXPORT int xmp_dist_gblockmap(xmp_desc_t descriptor, int dimension, int map[]) {
  const xmp_template& t = template_at(descriptor, "xmp_dist_gblockmap");
  const int d = in_c_order(t, dimension);
  if (d < 0 || format_of(t, d) != XMP_GBLOCK || divided(t) == nullptr) return refused;
  const Axis& axis = divided(t)->axes[d];
  for (int k = 0; k < axis.pieces(); ++k) {
    int64_t begin = 0, end = 0;
    map[k] = axis.next_run(k, 0, begin, end) ? static_cast<int>(end - begin) : 0;
  }
  return 0;
}

XMP_EXPORT int xmp_dist_nodes(xmp_desc_t descriptor, xmp_desc_t* nodes) {
  *nodes = const_cast<xmp_nodes*>(template_at(descriptor, "xmp_dist_nodes").onto);
  return 0;
}

XMP_EXPORT int xmp_dist_axis(xmp_desc_t descriptor, int dimension, int* axis) {
  const xmp_template& t = template_at(descriptor, "xmp_dist_axis");
  const int d = in_c_order(t, dimension);
  if (d < 0) return refused;
  int of = 0;  // in C's order, from 1
  for (int e = 0; e <= d; ++e) of += format_of(t, e) != XMP_NOT_DISTRIBUTED ? 1 : 0;
  *axis = format_of(t, d) == XMP_NOT_DISTRIBUTED ? 0 : t.onto->first_fastest != 0 ? t.onto->dims + 1 - of : of;
  return 0;
}

// ---- alignments ----------------------------------------------------------------------------------------------------

XMP_EXPORT int xmp_align_axis(xmp_desc_t descriptor, int dimension, int* axis) {
  const xmp_aligned& a = array_at(descriptor, "xmp_align_axis");
  if (dimension < 1 || dimension > a.dims) return refused;
  const int of = a.axis[dimension - 1];
  *axis = of < 0 ? 0 : as_written(*a.with, of);
  return 0;
}

XMP_EXPORT int xmp_align_offset(xmp_desc_t descriptor, int dimension, int* offset) {
  const xmp_aligned& a = array_at(descriptor, "xmp_align_offset");
  const bool known = dimension >= 1 && dimension <= a.dims;
  return answer(known, known ? a.offset[dimension - 1] : 0, offset);
}

XMP_EXPORT int xmp_align_format(xmp_desc_t descriptor, int dimension) {
  const xmp_aligned& a = array_at(descriptor, "xmp_align_format");
  if (dimension < 1 || dimension > a.dims) return refused;
  const int of = a.axis[dimension - 1];
  return of < 0 ? static_cast<int>(XMP_NOT_DISTRIBUTED) : format_of(*a.with, of);
}

XMP_EXPORT int xmp_align_size(xmp_desc_t descriptor, int dimension) {
  const xmp_aligned& a = array_at(descriptor, "xmp_align_size");
  const AlignedLayout* const layout = layout_at(a, dimension);
  if (layout == nullptr) return refused;
  const int of = a.axis[dimension - 1];
  return of < 0 ? static_cast<int>(a.extent[dimension - 1]) : block_of(*a.with, layout->on(), of);
}

XMP_EXPORT int xmp_align_replicated(xmp_desc_t descriptor, int dimension, int* replicated) {
  const xmp_aligned& a = array_at(descriptor, "xmp_align_replicated");
  const int d = in_c_order(*a.with, dimension);
  return answer(d >= 0, std::find(a.axis, a.axis + a.dims, d) == a.axis + a.dims ? 1 : 0, replicated);
}

XMP_EXPORT int xmp_align_template(xmp_desc_t descriptor, xmp_desc_t* t) {
  *t = const_cast<xmp_template*>(array_at(descriptor, "xmp_align_template").with);
  return 0;
}

// ---- arrays --------------------------------------------------------------------------------------------------------

namespace {

// The properties that aligned arrays and coarrays have alike.
struct Shape {
  int dims;
  const int64_t* extent;
  size_t element;
  void* data;
};

Shape shape_of(xmp_desc_t descriptor, const char* call) {
  if (is_allocated(descriptor)) {
    const auto& c = *static_cast<const xmp_coarray*>(descriptor);
    return {c.dims, c.extent, c.element, c.data};
  }
  const xmp_aligned* const a = find_aligned(descriptor);
  if (a == nullptr) end_job(1, "%s: this is not the descriptor of an array; give xmp_desc_of(a)", call);
  return {a->dims, a->extent, a->element, a->data};
}

}  // namespace

XMP_EXPORT int xmp_array_ndims(xmp_desc_t array, int* ndims) {
  *ndims = shape_of(array, "xmp_array_ndims").dims;
  return 0;
}

XMP_EXPORT int xmp_array_extent(xmp_desc_t array, int dimension) {
  const Shape shape = shape_of(array, "xmp_array_gsize");
  return dimension < 1 || dimension > shape.dims ? refused : static_cast<int>(shape.extent[dimension - 1]);
}

XMP_EXPORT int xmp_array_gsize(xmp_desc_t array, int dimension, int* size) {
  const int found = xmp_array_extent(array, dimension);
  return answer(found != refused, found, size);
}

XMP_EXPORT size_t xmp_array_type_size(xmp_desc_t array) { return shape_of(array, "xmp_array_type_size").element; }

XMP_EXPORT int xmp_array_laddr(xmp_desc_t array, void** address) {
  *address = shape_of(array, "xmp_array_laddr").data;
  return *address == nullptr ? refused : 0;
}

XMP_EXPORT int xmp_array_lbound(xmp_desc_t array, int dimension, int* bound) {
  return answer(xmp_array_extent(array, dimension) != refused, 0, bound);
}

XMP_EXPORT int xmp_array_ubound(xmp_desc_t array, int dimension, int* bound) {
  const int found = xmp_array_extent(array, dimension);
  return answer(found != refused, found - 1, bound);
}

XMP_EXPORT int xmp_array_lsize(xmp_desc_t descriptor, int dimension, int* size) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_lsize");
  const AlignedLayout* const layout = layout_at(a, dimension);
  const std::vector<int> at = layout == nullptr ? std::vector<int>() : layout->on().grid.coordinates(sms_rank);
  return answer(layout != nullptr, at.empty() ? 0 : layout->part(dimension - 1, at).size, size);
}

XMP_EXPORT int xmp_array_lshadow(xmp_desc_t descriptor, int dimension, int* width) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_lshadow");
  const AlignedLayout* const layout = layout_at(a, dimension);
  if (layout == nullptr) return refused;
  const AlignedLayout::Dim& dim = layout->dim(dimension - 1);
  *width = static_cast<int>(dim.full ? a.first[dimension - 1] : dim.low);
  return 0;
}

XMP_EXPORT int xmp_array_ushadow(xmp_desc_t descriptor, int dimension, int* width) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_ushadow");
  const AlignedLayout* const layout = layout_at(a, dimension);
  if (layout == nullptr) return refused;
  const int d = dimension - 1;
  const AlignedLayout::Dim& dim = layout->dim(d);
  *width = static_cast<int>(dim.full ? a.extent[d] - a.first[d] - a.count[d] : dim.high);
  return 0;
}

XMP_EXPORT int xmp_array_owner(xmp_desc_t descriptor, int ndims, int index[], int dimension) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_owner");
  const AlignedLayout* const layout = layout_at(a, dimension);
  const int d = dimension - 1;
  if (layout == nullptr || ndims != a.dims || index[d] < 0 || index[d] >= a.extent[d]) return refused;
  const int owner = layout->owner(d, index[d]);
  return owner < 0 ? refused : owner + 1;
}

XMP_EXPORT int xmp_array_lead_dim(xmp_desc_t descriptor, int size[]) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_lead_dim");
  for (int d = 0; d < a.dims; ++d)
    if (xmp_array_lsize(descriptor, d + 1, &size[d]) != 0) return refused;
  return 0;
}

namespace {

// Returns the place of an index that this node owns in the node's memory.
int local_index(const AlignedLayout& layout, int d, int64_t index) {
  return static_cast<int>(layout.number(d, index) -
                          layout.part(d, layout.on().grid.coordinates(sms_rank)).memory_first);
}

}  // namespace

XMP_EXPORT int xmp_array_gtol(xmp_desc_t descriptor, int global[], int local[]) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_gtol");
  const AlignedLayout* const layout = layout_at(a, 1);
  if (layout == nullptr || layout->on().grid.coordinates(sms_rank).empty()) return refused;
  for (int d = 0; d < a.dims; ++d) local[d] = local_index(*layout, d, global[d]);
  return 0;
}

XMP_EXPORT int xmp_array_gtol_in(xmp_desc_t descriptor, int dimension, int global, int* local) {
  const AlignedLayout* const layout = layout_at(array_at(descriptor, "xmp_array_gtol"), dimension);
  if (layout == nullptr || layout->on().grid.coordinates(sms_rank).empty()) return refused;
  *local = local_index(*layout, dimension - 1, global);
  return 0;
}

XMP_EXPORT int xmp_array_gcglbound(xmp_desc_t array, int dimension) {
  return xmp_array_extent(array, dimension) == refused ? refused : 0;
}

XMP_EXPORT int xmp_array_gcgubound(xmp_desc_t array, int dimension) {
  const int found = xmp_array_extent(array, dimension);
  return found == refused ? refused : found - 1;
}

XMP_EXPORT int xmp_array_gcllbound(xmp_desc_t descriptor, int dimension) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_gcllbound");
  const bool any = layout_at(a, dimension) != nullptr && a.count[dimension - 1] > 0;
  return any ? static_cast<int>(a.first[dimension - 1]) : refused;
}

XMP_EXPORT int xmp_array_gclubound(xmp_desc_t descriptor, int dimension) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_gclubound");
  const AlignedLayout* const layout = layout_at(a, dimension);
  if (layout == nullptr || a.count[dimension - 1] == 0) return refused;
  return static_cast<int>(last_of(a, *layout, dimension - 1));
}

XMP_EXPORT void xmp_array_lbound_global(xmp_desc_t array, int dimension, int* index) {
  *index = xmp_array_gcllbound(array, dimension);
}

XMP_EXPORT void xmp_array_ubound_global(xmp_desc_t array, int dimension, int* index) {
  *index = xmp_array_gclubound(array, dimension);
}

XMP_EXPORT int xmp_array_lcllbound(xmp_desc_t descriptor, int dimension) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_lcllbound");
  const int first = xmp_array_gcllbound(descriptor, dimension);
  return first == refused ? refused : local_index(*layout_at(a, dimension), dimension - 1, first);
}

XMP_EXPORT int xmp_array_lclubound(xmp_desc_t descriptor, int dimension) {
  const xmp_aligned& a = array_at(descriptor, "xmp_array_lclubound");
  const int last = xmp_array_gclubound(descriptor, dimension);
  return last == refused ? refused : local_index(*layout_at(a, dimension), dimension - 1, last);
}

}  // namespace hiroba
