// reduction and bcast of xmp_global.h: of aligned arrays, the elements of which some nodes have copies.
#define SMS_NO_PLACES
#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

// Ends the job if nodes of a set have other elements than this one.
void require_copies(const xmp_aligned& a, const AlignedLayout& layout, const Team& set, const char* what,
                    const char* place) {
  const Grid& grid = layout.on().grid;
  const std::vector<int> own = grid.coordinates(sms_rank);
  for (int m = 0; m < set.count; ++m) {
    const int rank = set.rank(m);
    const std::vector<int> other = grid.coordinates(rank);
    if (other.empty())
      end_job(1, "%s: %s of %s is executed by rank %d, which has no part of it; name nodes of %s with `on`", place,
              what, a.name, rank, a.with->onto->name);
    for (int d = 0; d < layout.dims(); ++d)
      if (const int g = layout.on_grid(d); g >= 0 && !own.empty() && own[g] != other[g])
        end_job(1,
                "%s: %s of %s, of which rank %d has other elements than rank %d; name nodes that have copies of the "
                "same, such as `on %s[*][:]`",
                place, what, a.name, rank, sms_rank, a.with->onto->name);
  }
}

// A reduction needs its elements one after the other. Returns false if they are not.
bool in_one_piece(const Section& section) { return section.empty() || walk_packed(section).contiguous(); }

void reduce_packed(const Section& section, xmp_type type, xmp_operator op, const xmp_node_reference* on,
                   const char* place) {
  const auto packed = std::make_unique_for_overwrite<char[]>(section.total());
  pack(packed.get(), section);
  xmp_reduction(packed.get(), section.blocks(), type, op, on, place);
  unpack(section, packed.get());
}

}  // namespace

XMP_EXPORT xmp_section xmp_copies(const xmp_aligned* a, const xmp_node_reference* on, const char* what,
                                  const char* place) {
  xmp_section out = {};
  out.dims = 1;  // without elements, on a node that takes no part
  const AlignedLayout& layout = layout_of(*a, place);
  const Team set = participants(on, place);
  if (set.count == 0) return out;
  require_copies(*a, layout, set, what, place);
  const std::vector<int> at = layout.on().grid.coordinates(sms_rank);
  const auto strides = layout.strides(at);
  char* address = static_cast<char*>(a->data);
  out.dims = layout.dims();
  for (int d = 0; d < layout.dims(); ++d) {
    const AlignedLayout::Part part = layout.part(d, at);
    const bool divided = layout.on_grid(d) >= 0;
    if (divided && layout.dim(d).full && layout.axis(d)->turns())
      end_job(1, "%s: %s of %s, which has a full shadow in its cyclic dimension %d; take an array without shadow",
              place, what, a->name, d + 1);
    if (divided && !layout.turns(d)) address += (part.first - part.memory_first) * strides[d];
    out.count[d] = part.count, out.stride[d] = strides[d];
  }
  out.address = address;
  return out;
}

XMP_EXPORT void xmp_reduction_section(const xmp_section* own, size_t element, enum xmp_type type, enum xmp_operator op,
                                      const xmp_node_reference* on, const char* place) {
  const Section section = section_of(*own, element, place).section;
  if (in_one_piece(section)) xmp_reduction(own->address, section.blocks(), type, op, on, place);
  else reduce_packed(section, type, op, on, place);
}

XMP_EXPORT xmp_request xmp_reduction_section_start(const xmp_section* own, size_t element, enum xmp_type type,
                                                   enum xmp_operator op, const xmp_node_reference* on,
                                                   const char* place) {
  const Section section = section_of(*own, element, place).section;
  if (in_one_piece(section)) return xmp_reduction_start(own->address, section.blocks(), type, op, on, place);
  reduce_packed(section, type, op, on, place);
  return {};
}

}  // namespace hiroba
