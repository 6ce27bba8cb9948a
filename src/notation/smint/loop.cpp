// Parallel loops of smint.h: translates arguments for the floor of loops.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/record/record.hpp"
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

// The rows of smint_apart.
struct Rows {
  const int64_t *equal, *least;
  int count;
};

// Finds two iterations of the loop that access the same element, the first of which writes it. The other one is after
// it, or else before.
Integers::Answer meet(const smint_pair& pair, const Rows& rows, bool after, int64_t iterations[2]) {
  Integers system(pair.variables);
  const int columns = pair.variables + 1;
  for (int i = 0; i < pair.equal; ++i) system.equal(rows.equal + i * columns);
  for (int i = 0; i < rows.count; ++i) system.at_least(rows.least + i * columns);
  int64_t order[Integers::most_variables + 1] = {-1};
  order[1] = after ? -1 : 1;
  order[pair.second + 1] = -order[1];
  system.at_least(order);
  const Integers::Answer answer = system.solve();
  iterations[0] = system.value(0), iterations[1] = system.value(pair.second);
  return answer;
}

}  // namespace

SMINT_EXPORT void smint_begin(const smint_plan* plan, const smint_values values[], const int64_t known[]) {
  const RecordedCall recorded;
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

SMINT_EXPORT int smint_near(const void* written, const void* other) {
  const Memory& shared = memory();
  const Array* const array = shared.arrays().at(written);
  return array != nullptr && array == shared.arrays().at(other);
}

SMINT_EXPORT void smint_apart(const smint_pair* pair, const int64_t equal[], const int64_t least[], int count,
                              const smint_values* values) {
  for (const bool after : {true, false}) {
    int64_t at[2];
    const Integers::Answer answer = meet(*pair, {equal, least, count}, after, at);
    if (answer == Integers::Answer::undecided)
      require(
          Status::error("parallel for at %s: iterations may depend on each other by `%s`, which is written, and "
                        "`%s`: this takes too long to find out; if they do not, say `parallel for independent`",
                        pair->place, pair->written, pair->other));
    if (answer == Integers::Answer::found)
      require(
          Status::error("parallel for at %s: iterations depend on each other: `%s` is written where %s is %ld, and "
                        "the iteration %ld %s uses it as `%s`; write into a second array, or do the loop under "
                        "single; if this is no mistake, say `parallel for independent`",
                        pair->place, pair->written, pair->variable, values->first + at[0] * values->step,
                        std::abs(at[1] - at[0]), after ? "after" : "before", pair->other));
  }
}

SMINT_EXPORT void smint_recall(smint_memo* memo, const void* const arrays[], int count) {
  const RecordedCall recorded;
  // Braces would make a list of two addresses.
  require(loops().recall(memory(), memo->pages, std::vector<const void*>(arrays, arrays + count)));
}

SMINT_EXPORT const smint_part* smint_next(void) {
  const RecordedCall recorded;
  const LoopPart* part = nullptr;
  require(loops().next(memory(), part));
  if (part == nullptr) loops().end(memory(), [](bool drop) { drop ? sms_sync_drop() : sms_barrier(); });
  return reinterpret_cast<const smint_part*>(part);
}

SMINT_EXPORT void smint_settle(void) {
  const RecordedCall recorded;
  require(loops().settle(memory()));
}

}  // namespace hiroba
