// Reduction, broadcast and gmove of xmp.h.
#define SMS_NO_PLACES
#include <cstring>
#include <memory>

#include "base/log.hpp"
#include "notation/sms/process.hpp"
#include "notation/xmp/xmp_process.hpp"

using hiroba::Arithmetic;
using hiroba::Box;
using hiroba::Call;
using hiroba::Coarrays;
using hiroba::coarrays;
using hiroba::end_job;
using hiroba::ImageSet;
using hiroba::require_at;

namespace {

// A value followed by what belongs to it.
class Records final : public hiroba::Combine {
 public:
  Records(const Arithmetic& arithmetic, size_t bytes) : arithmetic_(arithmetic), bytes_(bytes) {}
  size_t element() const override { return bytes_; }
  void operator()(char* mine, const char* theirs, int64_t count) const override {
    for (; count > 0; --count, mine += bytes_, theirs += bytes_)
      if (arithmetic_.prefers(theirs, mine)) std::memcpy(mine, theirs, bytes_);
  }

 private:
  const Arithmetic& arithmetic_;
  size_t bytes_;
};

// All read before anybody writes.
void move_together(const xmp_section& to, const xmp_section& from, size_t element, const Call& call) {
  const ImageSet set = hiroba::executing();
  hiroba::synchronise(set, call);
  if (to.coarray == nullptr && from.coarray == nullptr) return xmp_assign(&to, &from, element, call.place);
  xmp_section read = from;  // packed
  read.coarray = nullptr;
  auto bytes = static_cast<int64_t>(element);
  for (int d = from.dims - 1; d >= 0; --d) {
    if (from.count[d] == XMP_REST) read.count[d] = from.coarray->images->count;  // of XMP_EACH_IMAGE
    read.stride[d] = bytes;
    bytes *= read.count[d];
  }
  const auto buffer = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(bytes));
  read.address = buffer.get();
  xmp_assign(&read, &from, element, call.place);
  hiroba::synchronise(set, call);
  xmp_assign(&to, &read, element, call.place);
  hiroba::synchronise(set, call);
}

Arithmetic reduction(xmp_type type, xmp_operator op, int64_t count, const char* place) {
  Arithmetic out;
  const bool shift = op == XMP_SHL || op == XMP_SHR || op == XMP_DIV || op == XMP_MOD;
  if (shift) end_job(1, "%s: reduction with an operator that depends on the order", place);
  if (count < 0) end_job(1, "%s: reduction of %lld elements", place, static_cast<long long>(count));
  require_at(Arithmetic::make(type, type, op == XMP_SUB ? XMP_ADD : op, out), place);
  return out;
}

}  // namespace

XMP_EXPORT void xmp_reduction(void* data, int64_t count, enum xmp_type type, enum xmp_operator op,
                              const xmp_node_reference* on, const char* place) {
  Coarrays& all = coarrays("xmp_reduction");
  const ImageSet set = hiroba::participants(on, place);
  if (set.count == 0) return;
  const Arithmetic arithmetic = reduction(type, op, count, place);
  require_at(all.collective().reduce(set, static_cast<char*>(data), count, hiroba::Elementwise(arithmetic),
                                     {"xmp_reduction", place}),
             place);
}

XMP_EXPORT void xmp_reduction_locate(void* data, int64_t count, enum xmp_type type, enum xmp_operator op,
                                     const xmp_location locations[], int nlocations, const xmp_node_reference* on,
                                     const char* place) {
  Coarrays& all = coarrays("xmp_reduction");
  const ImageSet set = hiroba::participants(on, place);
  if (set.count == 0) return;
  if (op < XMP_FIRSTMAX || op > XMP_LASTMIN)
    end_job(1, "%s: locations go with firstmax, firstmin, lastmax and lastmin only", place);
  const Arithmetic arithmetic = reduction(type, op, count, place);
  const size_t value = hiroba::bytes_of(arithmetic.to());
  size_t bytes = value;
  for (int l = 0; l < nlocations; ++l) bytes += locations[l].bytes;
  const auto records = std::make_unique_for_overwrite<char[]>(bytes * static_cast<size_t>(count));
  // Calls move(record, value or location, bytes) for all of them.
  const auto for_all = [&](const auto& move) {
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      char* at = records.get() + i * bytes;
      move(at, static_cast<char*>(data) + i * value, value);
      at += value;
      for (int l = 0; l < nlocations; at += locations[l++].bytes)
        move(at, static_cast<char*>(locations[l].address) + i * locations[l].bytes, locations[l].bytes);
    }
  };
  for_all([](char* record, const char* own, size_t n) { std::memcpy(record, own, n); });
  require_at(all.collective().reduce(set, records.get(), count, Records(arithmetic, bytes), {"xmp_reduction", place}),
             place);
  for_all([](const char* record, char* own, size_t n) { std::memcpy(own, record, n); });
}

XMP_EXPORT void xmp_bcast(const xmp_section* data, size_t element, const xmp_node_reference* from,
                          const xmp_node_reference* on, const char* place) {
  Coarrays& all = coarrays("xmp_bcast");
  const ImageSet set = hiroba::participants(on, place);
  if (set.count == 0) return;
  int root = 0;
  if (from != nullptr) {
    const std::vector<int> ranks = hiroba::ranks_of(*from, place);
    if (ranks.size() != 1)
      end_job(1, "%s: bcast from %zu nodes of %s; one is meant", place, ranks.size(), from->nodes->name);
    root = set.find(ranks[0]);
    if (root < 0) end_job(1, "%s: bcast from a node that does not take part", place);
  }
  if (data->coarray != nullptr) end_job(1, "%s: bcast of a coindexed object; give this image's own part", place);
  const hiroba::Section section = hiroba::section_of(*data, place);
  const size_t bytes = element * static_cast<size_t>(section.box.elements());
  const Call call = {"xmp_bcast", place};
  const hiroba::Walk walk = hiroba::walk_packed(section.box, element);
  if (walk.contiguous()) return require_at(all.collective().broadcast(set, root, section.address, bytes, call), place);
  const auto packed = std::make_unique_for_overwrite<char[]>(bytes);
  hiroba::Section buffer;
  buffer.address = packed.get();
  buffer.box = section.box.packed(element);
  require_at(all.assign(buffer, section, element), place);
  require_at(all.collective().broadcast(set, root, packed.get(), bytes, call), place);
  require_at(all.assign(section, buffer, element), place);
}

XMP_EXPORT void xmp_gmove(enum xmp_gmove_mode mode, const xmp_section* to, const xmp_section* from, size_t element,
                          const char* place) {
  Coarrays& all = coarrays("xmp_gmove");
  const Call call = {"xmp_gmove", place};
  if (mode == XMP_GMOVE) return move_together(*to, *from, element, call);
  xmp_assign(to, from, element, place);
  require_at(all.sync_memory(call), place);
}
