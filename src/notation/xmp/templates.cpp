// Templates of xmp_global.h, the loops on them, and what their nodes do together.
#define SMS_NO_PLACES
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

std::vector<std::unique_ptr<Template>>& defined() { return instance<std::vector<std::unique_ptr<Template>>>(); }

// Templates that wait for xmp_template_fix, or have had it.
std::vector<xmp_template*>& later() { return instance<std::vector<xmp_template*>>(); }

// All that #pragma xmp distribute has defined.
std::set<const xmp_template*>& described() { return instance<std::set<const xmp_template*>>(); }

Grid grid_of(const xmp_nodes& nodes, const char* place) {
  const Team set = set_of(nodes, place);
  Grid out;
  for (int d = 0; d < nodes.dims; ++d)
    out.extent.push_back(nodes.extent[nodes.first_fastest != 0 ? nodes.dims - 1 - d : d]);
  out.ranks = set.ranks();
  std::set<std::vector<int>> sets;
  for (int rank = 0; rank < sms_nprocs; ++rank)
    if (std::vector<int> ranks = ranks_seen_by(rank, nodes, place); !ranks.empty()) sets.insert(std::move(ranks));
  if (sets.size() > 1) out.sets.assign(sets.begin(), sets.end());
  return out;
}

int64_t integer_at(const void* table, int i, int bytes) {
  if (bytes == 8) return static_cast<const int64_t*>(table)[i];
  if (bytes == 4) return static_cast<const int32_t*>(table)[i];
  return bytes == 2 ? static_cast<const int16_t*>(table)[i] : static_cast<const int8_t*>(table)[i];
}

Axis cut_axis(const xmp_template& t, int d, int pieces, const char* place) {
  const xmp_division& division = t.division[d];
  if (division.sizes == nullptr)
    end_job(1, "%s: gblock(*) in dimension %d of template %s has no sizes; write template_fix[gblock(m)] %s", place,
            d + 1, t.name, t.name);
  if (division.count != XMP_REST && division.count < pieces)
    end_job(1, "%s: gblock in dimension %d of template %s has %ld sizes, and there are %d nodes", place, d + 1, t.name,
            division.count, pieces);
  std::vector<int64_t> cuts = {0};
  for (int i = 0; i < pieces; ++i) {
    const int64_t size = integer_at(division.sizes, i, division.bytes);
    if (size < 0)
      end_job(1, "%s: gblock of %s gives node %d of dimension %d %ld indices", place, t.name, i, d + 1, size);
    cuts.push_back(cuts.back() + size);
  }
  if (cuts.back() != t.extent[d])
    end_job(1, "%s: the sizes in gblock add up to %ld, and dimension %d of template %s has %ld indices", place,
            cuts.back(), d + 1, t.name, t.extent[d]);
  return Axis::cut(std::move(cuts));
}

Axis axis_of(const xmp_template& t, int d, int pieces, const char* place) {
  const xmp_division& division = t.division[d];
  if (division.format == XMP_BLOCK && division.width == 0) return Axis::block(t.extent[d], pieces);
  if (division.format == XMP_GBLOCK) return cut_axis(t, d, pieces, place);
  if (division.width < 1)
    end_job(1, "%s: %s(%ld) in dimension %d of template %s; the width must be positive", place,
            division.format == XMP_BLOCK ? "block" : "cyclic", division.width, d + 1, t.name);
  if (division.format == XMP_BLOCK) return Axis::block(t.extent[d], pieces, division.width);
  return Axis::cyclic(t.extent[d], pieces, division.width);
}

void set_own(xmp_template& t, const Template& made) {
  const std::vector<int> at = made.grid.coordinates(sms_rank);
  t.here = at.empty() ? 0 : 1;
  for (int d = 0; d < t.dims; ++d) {
    int64_t begin = 0, end = 0;
    const Axis& axis = made.axes[d];
    if (t.here != 0) axis.next_run(made.on[d] < 0 ? 0 : at[made.on[d]], 0, begin, end);
    if (begin >= end) begin = end = 0;
    t.begin[d] = begin + t.lower[d], t.end[d] = end + t.lower[d];
    t.cycle[d] = axis.turns() ? axis.cycle() : 0;
  }
}

// The nodes whose coordinates differ from this node's only in the dimensions that a loop shares.
std::vector<int> sharers(const xmp_template* t, unsigned shared, const char* place) {
  const Template& made = template_of(t, place);
  const std::vector<int> own = made.grid.coordinates(sms_rank);
  std::vector<int> out;
  for (const int rank : made.grid.ranks) {
    const std::vector<int> at = made.grid.coordinates(rank);
    bool together = !own.empty();
    for (int g = 0; together && g < made.grid.dims(); ++g) {
      bool is_shared = false;
      for (int d = 0; d < t->dims; ++d) is_shared = is_shared || (made.on[d] == g && (shared >> d & 1) != 0);
      together = is_shared || at[g] == own[g];
    }
    if (together) out.push_back(rank);
  }
  return out;
}

void check_index(const xmp_template& t, int d, int64_t index, const char* place) {
  if (index >= t.lower[d] && index < t.lower[d] + t.extent[d]) return;
  end_job(1, "%s: index %ld of template %s: dimension %d has %ld..%ld", place, index, t.name, d + 1, t.lower[d],
          t.lower[d] + t.extent[d] - 1);
}

}  // namespace

const Template& template_of(const xmp_template* t, const char* place) {
  if (t->opaque == nullptr)
    end_job(1, "%s: template %s is used before #pragma xmp distribute, or template_fix, has been executed", place,
            t->name);
  return *static_cast<const Template*>(t->opaque);
}

const xmp_template* find_template(const void* descriptor) {
  for (const xmp_template* const each : described())
    if (each == descriptor) return each;
  return nullptr;
}

bool awaits_fix(const xmp_template& t) { return t.later != 0 && t.opaque == nullptr; }

namespace {

void define(xmp_template* t, const char* place) {
  if (t->dims < 1 || t->dims > XMP_DIMS)
    end_job(1, "%s: template %s has %d dimensions; it can have 1..%d", place, t->name, t->dims, XMP_DIMS);
  auto made = std::make_unique<Template>();
  made->grid = grid_of(*t->onto, place);
  int divided = 0;
  for (int d = 0; d < t->dims; ++d) {
    if (t->extent[d] < 1)
      end_job(1, "%s: dimension %d of template %s has %ld indices; it must have one at least", place, d + 1, t->name,
              t->extent[d]);
    const bool whole = t->division[d].format == XMP_NOT_DISTRIBUTED;
    made->on.push_back(whole ? -1 : divided++);
    if (divided > made->grid.dims()) continue;
    made->axes.push_back(whole ? Axis::whole(t->extent[d])
                               : axis_of(*t, d, made->grid.extent[static_cast<size_t>(divided) - 1], place));
  }
  if (divided != made->grid.dims())
    end_job(1, "%s: %d dimensions of template %s are divided, and node array %s has %d", place, divided, t->name,
            t->onto->name, made->grid.dims());
  set_own(*t, *made);
  t->opaque = made.get();
  defined().push_back(std::move(made));  // arrays and loops may still use one of before
}

bool are_same(const xmp_template& a, const xmp_template& b) {
  return std::strcmp(a.name, b.name) == 0 && std::strcmp(a.place, b.place) == 0;
}

}  // namespace

XMP_EXPORT void xmp_template_define(xmp_template* t) {
  start_coarrays("xmp_template_define", t->place);
  described().insert(t);
  if (t->later == 0) return define(t, t->place);
  if (std::find(later().begin(), later().end(), t) == later().end()) later().push_back(t);
}

namespace {

// Ends the job if a declaration gives a dimension other indices than template_fix.
void check_given(const xmp_template& t, const int64_t lower[], const int64_t extent[], const char* place) {
  for (int d = 0; d < t.dims; ++d)
    if (t.extent[d] != 0 && (t.lower[d] != lower[d] || t.extent[d] != extent[d]))
      end_job(1,
              "%s: template_fix gives dimension %d of template %s the indices %ld..%ld, and its declaration %ld..%ld;"
              " write the same in both, or : in the declaration",
              place, d + 1, t.name, lower[d], lower[d] + extent[d] - 1, t.lower[d], t.lower[d] + t.extent[d] - 1);
}

}  // namespace

XMP_EXPORT void xmp_template_fix(xmp_template* t, const int64_t lower[], const int64_t extent[],
                                 const xmp_division division[], const char* place) {
  coarrays("xmp_template_fix", place);
  if (t->name == nullptr) end_job(1, "%s: template_fix comes before #pragma xmp distribute of its template", place);
  if (t->opaque != nullptr)
    end_job(1, "%s: template %s is fixed already: by template_fix at %s", place, t->name, t->fixed);
  if (lower != nullptr) check_given(*t, lower, extent, place);
  std::vector<xmp_template*> same;
  for (xmp_template* const each : later())
    if (each == t || (each->opaque == nullptr && are_same(*each, *t))) same.push_back(each);
  for (xmp_template* const each : same) {
    if (lower != nullptr) std::copy_n(lower, each->dims, each->lower), std::copy_n(extent, each->dims, each->extent);
    if (division != nullptr) std::copy_n(division, each->dims, each->division);
    define(each, place);
    each->fixed = place;
    allocate_waiting(*each);
  }
}

XMP_EXPORT const xmp_node_reference* xmp_template_nodes(const xmp_template* t, const xmp_template_range range[],
                                                        const char* place) {
  struct Set {
    std::vector<int> ranks;
    xmp_nodes nodes{};
    xmp_node_reference reference{};
  };
  static std::map<std::vector<int>, Set>& sets = *new std::map<std::vector<int>, Set>;
  const Template& made = template_of(t, place);
  std::vector<std::vector<bool>> has(made.grid.extent.size());
  for (size_t g = 0; g < has.size(); ++g) has[g].assign(static_cast<size_t>(made.grid.extent[g]), true);
  for (int d = 0; d < t->dims; ++d) {
    if (range[d].count == XMP_REST) continue;
    check_index(*t, d, range[d].first, place);
    check_index(*t, d, range[d].first + range[d].count - 1, place);
    if (made.on[d] < 0) continue;
    std::vector<bool>& of = has[made.on[d]];
    of.assign(of.size(), false);
    for (int64_t i = 0; i < range[d].count; ++i) of[made.axes[d].owner(range[d].first + i - t->lower[d])] = true;
  }
  std::vector<int> ranks;
  for (const int rank : made.grid.ranks) {
    const std::vector<int> at = made.grid.coordinates(rank);
    bool in = true;
    for (size_t g = 0; g < has.size(); ++g) in = in && has[g][at[g]];
    if (in) ranks.push_back(rank);
  }
  Set& set = sets[ranks];
  if (set.nodes.dims == 0) {
    set.ranks = ranks;
    set.nodes.name = t->name, set.nodes.place = place, set.nodes.dims = 1;
    set.nodes.extent[0] = static_cast<int>(ranks.size());
    set.nodes.images = {0, 1, static_cast<int>(ranks.size()), set.ranks.data()};
    set.reference.nodes = &set.nodes;
    set.reference.range[0] = {0, XMP_REST, 1};
  }
  return &set.reference;
}

// ---- loops ---------------------------------------------------------------------------------------------------------

XMP_EXPORT int xmp_loop_here(const xmp_template* t, const xmp_template_range range[], const char* place) {
  const Template& made = template_of(t, place);
  const std::vector<int> at = made.grid.coordinates(sms_rank);
  if (at.empty()) return 0;
  for (int d = 0; d < t->dims; ++d) {
    if (range[d].count != 1) continue;
    check_index(*t, d, range[d].first, place);
    if (made.on[d] >= 0 && made.axes[d].owner(range[d].first - t->lower[d]) != at[made.on[d]]) return 0;
  }
  return 1;
}

XMP_EXPORT void xmp_loop_check(const xmp_template* t, int d, int64_t first, int64_t past, int64_t step, int64_t offset,
                               const char* place) {
  template_of(t, place);
  if (step > 0 ? first >= past : first <= past) return;
  const int64_t one = step > 0 ? 1 : -1, low = t->lower[d], high = low + t->extent[d] - 1;
  const int64_t a = first + offset, b = first + (past - one - first) / step * step + offset;
  if (std::min(a, b) >= low && std::max(a, b) <= high) return;
  end_job(1, "%s: a loop on dimension %d of template %s has the indices %ld..%ld, and the template has %ld..%ld", place,
          d + 1, t->name, a, b, low, high);
}

namespace {

struct Indices {
  int64_t begin, end;
  bool empty() const { return begin >= end; }
};

Indices expanded(const Indices& loop, const Indices& block, const Indices& own, const xmp_expand& width) {
  Indices out = own;
  if (block.empty()) return out;
  const bool beyond = width.unbound != 0 && !own.empty();
  if (block.begin > loop.begin) out.begin = std::max(block.begin - width.low, loop.begin);
  else if (beyond) out.begin -= width.low;
  if (block.end < loop.end) out.end = std::min(block.end + width.high, loop.end);
  else if (beyond) out.end += width.high;
  return out;
}

Indices part_of(const Indices& own, const Indices& wide, enum xmp_loop_part part) {
  if (part == XMP_LOOP_EXPANDED) return wide;
  Indices either = {std::min(own.begin, wide.begin), std::max(own.end, wide.end)};
  if (own.empty()) either = wide;
  else if (wide.empty()) either = own;
  Indices both = {std::max(own.begin, wide.begin), std::min(own.end, wide.end)};
  if (own.empty() || wide.empty() || both.empty()) both = {either.end, either.end};
  if (part == XMP_LOOP_BOTH) return both;
  if (part == XMP_LOOP_LOW) return {either.begin, both.begin};
  return part == XMP_LOOP_HIGH ? Indices{both.end, either.end} : either;
}

}  // namespace

XMP_EXPORT xmp_bounds xmp_loop_bounds(const xmp_template* t, int d, int64_t first, int64_t past, int64_t step,
                                      int64_t offset, xmp_expand width, enum xmp_loop_part part) {
  const Indices loop = step > 0 ? Indices{first, past} : Indices{past + 1, first + 1};
  const Indices block = {t->begin[d] - offset, t->end[d] - offset};
  const Indices own = {std::max(loop.begin, block.begin), std::min(loop.end, block.end)};
  const Indices made = part_of(own, expanded(loop, block, own, width), part);
  if (made.empty()) return {first, first};
  // The first iteration in it, in the direction of the loop.
  const int64_t size = step > 0 ? step : -step, away = step > 0 ? made.begin - first : first - (made.end - 1);
  const int64_t steps = away >= 0 ? (away + size - 1) / size : -(-away / size);
  return {first + steps * step, step > 0 ? made.end : made.begin - 1};
}

XMP_EXPORT void xmp_array_error(const xmp_template* t, int dimension, int64_t index, int64_t step, int64_t first,
                                const char* text, const char* place) {
  end_job(1,
          "%s: %s: the left side has the indices %ld, %ld, ... of dimension %d of template %s, and `array on` %ld, %ld",
          place, text, index, index + step, dimension + 1, t->name, first, first + 1);
}

XMP_EXPORT xmp_runs xmp_runs_begin(const xmp_template* t, int dimension, int64_t first, int64_t past, int64_t step,
                                   int64_t offset) {
  xmp_runs out = {};
  out.t = t, out.dimension = dimension, out.offset = offset;
  out.origin = first, out.past = past, out.by = step;
  out.from = first;
  if (t->here == 0 || t->begin[dimension] == t->end[dimension]) out.from = past;
  return out;
}

// A run is the part of a loop in one block; of blocks of width 1, all of the loop.
XMP_EXPORT int xmp_runs_next(xmp_runs* runs) {
  const xmp_template& t = *runs->t;
  const Template& made = *static_cast<const Template*>(t.opaque);
  const Axis& axis = made.axes[runs->dimension];
  const int64_t lower = t.lower[runs->dimension], by = runs->by, width = axis.width(), cycle = axis.cycle();
  const int64_t own = t.begin[runs->dimension] - lower;  // the begin of the first block
  const bool up = by > 0;
  while (up ? runs->from < runs->past : runs->from > runs->past) {
    const int64_t g = runs->from + runs->offset - lower;
    // The block that has g, or the next one in the direction of the loop.
    const int64_t turn =
        up ? std::max<int64_t>(0, (g - own + cycle - width) / cycle) : (g < own ? -1 : (g - own) / cycle);
    if (turn < 0) break;
    const int64_t begin = own + turn * cycle, last = std::min(begin + width, t.extent[runs->dimension]) - 1;
    const int64_t to_index = lower - runs->offset;
    const int64_t low = begin + to_index, high = last + to_index;
    // The first iteration in it.
    const int64_t away = up ? std::max<int64_t>(0, low - runs->origin) : std::max<int64_t>(0, runs->origin - high);
    const int64_t size = up ? by : -by, first = runs->origin + (away + size - 1) / size * by;
    if (up ? first > high : first < low) {  // none in this block
      runs->from = up ? std::max(first, high + 1) : std::min(first, low - 1);
      continue;
    }
    if (up ? first >= runs->past : first <= runs->past) break;
    runs->first = first, runs->step = by;
    runs->end = up ? std::min(high + 1, runs->past) : std::max(low - 1, runs->past);
    if (width == 1 && size == 1) runs->end = runs->past, runs->step = by * cycle;
    runs->from = runs->end;
    const int64_t count = (runs->end - first - (up ? 1 : -1)) / runs->step + 1;
    runs->local = axis.local(first + runs->offset - lower);
    runs->local_end = runs->local + count * by;
    return 1;
  }
  return 0;
}

// ---- reductions of loops -------------------------------------------------------------------------------------------

XMP_EXPORT void xmp_loop_reduction_begin(const xmp_template* t, unsigned shared, void* data, int64_t count,
                                         enum xmp_type type, enum xmp_operator op, const char* place) {
  const bool sum = op == XMP_ADD || op == XMP_SUB || op == XMP_BITXOR, product = op == XMP_MUL;
  const std::vector<int> set = sharers(t, shared, place);
  if ((!sum && !product) || set.empty() || set[0] == sms_rank) return;
  arithmetic_of(type, type, op == XMP_SUB ? XMP_ADD : op, place);
  with_type(static_cast<Type>(type), [&]<typename T>() {
    for (int64_t i = 0; i < count; ++i) static_cast<T*>(data)[i] = static_cast<T>(product ? 1 : 0);
  });
}

XMP_EXPORT void xmp_loop_reduction_end(const xmp_template* t, unsigned shared, void* data, int64_t count,
                                       enum xmp_type type, enum xmp_operator op, const char* place) {
  const std::vector<int> set = sharers(t, shared, place);
  if (set.size() > 1) reduce_over(Team::of(set), data, count, type, op, {"xmp_loop_reduction", place});
}

XMP_EXPORT void xmp_loop_locate(const xmp_template* t, unsigned shared, void* data, int64_t order, enum xmp_type type,
                                enum xmp_operator op, const xmp_location locations[], int nlocations,
                                const char* place) {
  const std::vector<int> set = sharers(t, shared, place);
  if (set.size() < 2) return;
  const bool greatest = op == XMP_FIRSTMAX || op == XMP_LASTMAX, first = op == XMP_FIRSTMAX || op == XMP_FIRSTMIN;
  const size_t bytes = bytes_of(static_cast<Type>(type));
  const std::vector<char> own(static_cast<char*>(data), static_cast<char*>(data) + bytes);
  const Call call = {"xmp_loop_locate", place};
  reduce_over(Team::of(set), data, 1, type, greatest ? XMP_MAX : XMP_MIN, call);
  // The iteration that comes first, or last, of those that have the extreme value.
  if (!std::equal(own.begin(), own.end(), static_cast<char*>(data))) order = first ? INT64_MAX : INT64_MIN;
  locate_over(Team::of(set), &order, 1, XMP_INT64, first ? XMP_FIRSTMIN : XMP_LASTMAX,
              {locations, static_cast<size_t>(nlocations)}, call);
}

}  // namespace hiroba
