// Parallel loops of smint.h: translates arguments for the floor of loops.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "notation/smint/plan.hpp"
#include "notation/smint/smint_process.hpp"
#include "smint.h"

namespace hiroba {

namespace {

static_assert(View::most_dims == SMINT_DIMS && View::most_loops == SMINT_LOOPS && most_shared == SMINT_SHARED);
// Flags are passed on as numbers.
constexpr bool equal(int floor, int notation) { return floor == notation; }
static_assert(equal(Access::reads, SMINT_READS) && equal(Access::writes, SMINT_WRITES) &&
              equal(Access::owns, SMINT_OWNS) && equal(Access::perhaps, SMINT_PERHAPS) &&
              equal(Access::anywhere, SMINT_ANYWHERE));
static_assert(equal(Loop::no_wait, SMINT_NOWAIT) && equal(Loop::drop, SMINT_DROP) && equal(Loop::known, SMINT_KNOWN) &&
              equal(Loop::collapse, SMINT_COLLAPSE) && equal(Loop::later, SMINT_LATER) &&
              equal(Loop::dynamic, SMINT_DYNAMIC) && equal(Loop::guided, SMINT_GUIDED));
static_assert(sizeof(LoopPart) == sizeof(smint_part) && sizeof(LoopPart::first) == sizeof(smint_part::first));

Memory& memory() { return process_memory("parallel for"); }

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

// The view's array is null if the access is to no shared array.
void set_view(const Memory& memory, const smint_access& access, View& view) {
  const bool indirect = (access.flags & SMINT_INDIRECT) != 0;
  const char* const base = indirect ? *static_cast<char* const*>(access.base) : static_cast<const char*>(access.base);
  view.array = memory.arrays().at(base);
  if (view.array == nullptr) return;
  const int64_t offset = base - view.array->data;
  if (same_shape(access, view.array->distribution) && offset % access.element == 0) view_exactly(access, offset, view);
  else view_as_bytes(access, offset, view);
}

Access access_of(const smint_access& access) {
  Access out = {access.flags & ~SMINT_INDIRECT, access.text, {}};
  set_view(memory(), access, out.view);
  return out;
}

static_assert(offsetof(smint_access, base) == 8 && offsetof(smint_access, element) == 24 &&
              offsetof(smint_access, low) == 96 && sizeof(smint_access) == 92 * 8);

// Some accesses of a plan, with the values that are known now.
std::vector<Access> accesses_of(const smint_plan& plan, int first, int count, const int64_t known[]) {
  std::vector<Access> out;
  out.reserve(static_cast<size_t>(count));
  visit_accesses(plan, first, count, known, [&out](const smint_access& access) { out.push_back(access_of(access)); });
  return out;
}

int64_t count_of(const smint_values& v) {
  const int64_t span = v.step > 0 ? v.end - v.first : v.first - v.end, by = std::abs(v.step);
  return span > 0 && by > 0 ? (span + by - 1) / by : 0;
}

}  // namespace

SMINT_EXPORT void smint_begin(const smint_plan* plan, const smint_values values[], const int64_t known[]) {
  end_work("parallel for");
  Values nest[SMINT_LOOPS];
  const auto depth = static_cast<size_t>(plan->depth);
  for (size_t k = 0; k < depth; ++k) nest[k] = {values[k].first, values[k].end, values[k].step};
  const int64_t chunk = (plan->flags & (SMINT_DYNAMIC | SMINT_GUIDED)) != 0 ? known[0] : 0;
  require(loops().begin(memory(), accesses_of(*plan, 0, plan->count, known), {nest, depth}, plan->shared, plan->flags,
                        chunk, plan->place));
  if (!memory().checking()) return;
  for (const Access& access : accesses_of(*plan, plan->touches, plan->touch_count, known))
    if (access.view.array != nullptr) loops().touches(access);
}

SMINT_EXPORT void smint_fill(const smint_plan* plan, const smint_values values[], const int64_t known[]) {
  hiroba::Values loops[SMINT_LOOPS];
  const auto depth = static_cast<size_t>(plan->depth);
  for (size_t k = 0; k < depth; ++k) loops[k] = {values[k].first, values[k].end, values[k].step};
  hiroba::Loops::fill(memory(), accesses_of(*plan, 0, plan->count, known), {loops, depth});
}

SMINT_EXPORT void smint_apart(const smint_access* written, const smint_access* other, const smint_values values[],
                              int depth, const char* place) {
  int64_t counts[SMINT_LOOPS];
  for (int k = 0; k < depth; ++k) counts[k] = count_of(values[k]);
  Offset offset;
  offset.dims = written->dims;
  for (size_t d = 0; d < static_cast<size_t>(written->dims); ++d) {
    offset.apart[d] = other->low[d] - written->low[d];
    for (size_t k = 0; k < static_cast<size_t>(depth); ++k)
      offset.factor[d][k] = written->factor[d][k] * values[k].step;
  }
  const int64_t distance = carried_distance(offset, {counts, static_cast<size_t>(depth)});
  if (distance == 0) return;
  std::string apart;
  for (size_t d = 0; d < static_cast<size_t>(written->dims); ++d) apart += format("[%ld]", offset.apart[d]);
  require(Status::error(
      "parallel for at %s: iterations depend on each other: `%s` is written, and the iteration %ld %s uses it as `%s`, "
      "which is %s away in this run; write into a second array, or do the loop under single",
      place, written->text, std::abs(distance), distance > 0 ? "before" : "after", other->text, apart.c_str()));
}

SMINT_EXPORT void smint_recall(smint_memo* memo, const void* const arrays[], int count) {
  // Braces would make a list of two addresses.
  require(loops().recall(memory(), memo->pages, std::vector<const void*>(arrays, arrays + count)));
}

SMINT_EXPORT const smint_part* smint_next(void) {
  const LoopPart* part = nullptr;
  require(loops().next(memory(), part));
  if (part == nullptr) loops().end(memory(), [](bool drop) { drop ? sms_sync_drop() : sms_barrier(); });
  return reinterpret_cast<const smint_part*>(part);
}

SMINT_EXPORT void smint_settle(void) { require(loops().settle(memory())); }

}  // namespace hiroba
