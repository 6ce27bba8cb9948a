#include "loops/races.hpp"

#include <cstring>

#include "base/log.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

using Touch = LoopRaces::Touch;

constexpr size_t most_touches = 4096;

// ---- two touches ---------------------------------------------------------------------------------------------------

// Returns the bytes that index `row` of the outermost dimension contains, from the first accessed one to the last.
Progression bytes_of_row(const Distribution& d, const Touch& t, int64_t row) {
  int64_t stride = static_cast<int64_t>(d.element_bytes()), first = 0, last = 0;
  for (int i = d.dims() - 1; i > 0; stride *= d.dim(i--)) {
    first += t.at[i].first * stride;
    last += (t.at[i].end() - 1) * stride;
  }
  const int64_t begin = row * stride + first;
  return {begin, 1, last - first + static_cast<int64_t>(d.element_bytes()), 1};
}

struct Overlap {
  bool sure;
  int64_t byte;  // of the array
};

std::optional<Overlap> overlap_of(const Distribution& d, const Touch& a, const Touch& b) {
  const bool sure = ((a.flags | b.flags) & Access::perhaps) == 0;
  if (a.kind != Touch::elements && b.kind != Touch::elements) {
    const auto byte = common(a.at[0], b.at[0]);
    return byte ? std::optional(Overlap{sure, *byte}) : std::nullopt;
  }
  if (a.kind == b.kind) {
    int64_t element = 0;
    for (int i = 0; i < d.dims(); ++i) {
      const auto index = common(a.at[i], b.at[i]);
      if (!index) return std::nullopt;
      element = element * d.dim(i) + *index;
    }
    return Overlap{sure, element * static_cast<int64_t>(d.element_bytes())};
  }
  const Touch &box = a.kind == Touch::elements ? a : b, &other = a.kind == Touch::elements ? b : a;
  for (int64_t k = 0; k < box.at[0].count; ++k)
    for (int64_t w = 0; w < box.at[0].width; ++w)
      if (const auto byte = common(bytes_of_row(d, box, box.at[0].first + k * box.at[0].step + w), other.at[0]))
        return Overlap{false, *byte};
  return std::nullopt;
}

const char* verb(const Touch& t) { return (t.flags & Access::writes) != 0 ? "writes" : "reads"; }

}  // namespace

void LoopRaces::note(const Touch& touch) {
  for (const Touch& old : touches_)
    if (std::memcmp(&old, &touch, sizeof touch) == 0) return;
  if (touches_.size() < most_touches) return touches_.push_back(touch);
  if (!too_many_)
    log_line("check: more than %zu accesses of loops between two barriers; those after %s are not compared",
             most_touches, touch.place);
  too_many_ = true;
}

void LoopRaces::compare(Array& array, const Touch& a, int rank_a, const Touch& b, int rank_b) {
  if (((a.flags | b.flags) & Access::writes) == 0) return;
  if ((a.flags & Access::writes) == 0) return compare(array, b, rank_b, a, rank_a);
  const auto found = overlap_of(array.distribution, a, b);
  if (!found) return;
  // If pages replace elements, each access of a loop would overlap each of the other; one pair is enough.
  const bool by_page = a.kind == Touch::pages || b.kind == Touch::pages;
  const char *const one = by_page ? "" : a.text, *const other = by_page ? "" : b.text;
  if (!reports_.add(array.name, format("%s %s", a.place, one), format("%s %s", b.place, other))) return;
  const std::string at = (by_page ? "the page of " : "") + element_name(array, std::max<int64_t>(found->byte, 0));
  // A possible race is reported, but does not make the run a failure.
  array.race_told = array.race_told || found->sure;
  const auto access = [](int rank, const Touch& touch, const std::string& what) -> AccessReport {
    return {format("rank %d", rank), verb(touch), what, format("(`%s` at %s)", touch.text, touch.place)};
  };
  const std::string text =
      race_text(found->sure ? "race" : "perhaps a race", array.name, access(rank_a, a, at), access(rank_b, b, "it"),
                found->sure ? "with no barrier between"
                : by_page   ? "with no barrier between; where subscripts are not known, pages are compared"
                            : "with no barrier between; if these iterations do it");
  (found->sure ? log_finding : log_line)("%s", text.c_str());
}

// ---- accesses of all ranks ------------------------------------------------------------------------------------------

namespace {

// If subscripts are unknown, adds the pages of other nodes that are here, or were written.
void add_pages(const Memory& memory, std::vector<Touch>& touches, const PageSet& read, const PageSet& written) {
  std::vector<Touch> out;
  for (Touch& touch : touches) {
    if (touch.kind != Touch::pages) {
      out.push_back(touch);
      continue;
    }
    const Array* const array = memory.arrays().by_id(touch.array);
    if (array == nullptr) continue;
    const PageSet& pages = (touch.flags & Access::writes) != 0 ? written : read;
    pages.for_each_bytes_in(*array, [&](int64_t begin, int64_t end) {
      touch.at[0] = {begin, 1, end - begin, 1};
      out.push_back(touch);
    });
  }
  touches = std::move(out);
}

}  // namespace

Status LoopRaces::find(Memory& memory) {
  if (memory.job().nranks == 1) return {};
  std::vector<Touch> mine = std::move(touches_);
  touches_.clear(), too_many_ = false;
  HIROBA_TRY(memory.collective().barriers().all("check: all loops are done"));  // homes now know all copies
  add_pages(memory, mine, memory.preloads().here(), memory.consistency().written());
  std::vector<std::vector<char>> all;
  const std::span<const char> bytes = {reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(Touch)};
  HIROBA_TRY(memory.collective().teams().gather("check", bytes, all));
  if (memory.job().rank != 0) return {};
  std::vector<std::vector<Touch>> of(all.size());
  for (size_t r = 0; r < all.size(); ++r) {
    of[r].resize(all[r].size() / sizeof(Touch));
    if (!of[r].empty()) std::memcpy(of[r].data(), all[r].data(), all[r].size());
  }
  for (size_t a = 0; a < of.size(); ++a)
    for (size_t b = a + 1; b < of.size(); ++b)
      for (const Touch& one : of[a])
        for (const Touch& other : of[b])
          if (Array* const array = memory.arrays().by_id(one.array); one.array == other.array && array != nullptr)
            compare(*array, one, static_cast<int>(a), other, static_cast<int>(b));
  return {};
}

namespace {

int64_t nearest(int64_t a, int64_t b) { return floor_div(a + b / 2, b); }

// Turns a view of bytes into one in the array's own dimensions, if possible: a[i * N + j] in a program, a[N][N] in
// memory.
bool in_dimensions(View& view, std::span<const Values> values) {
  const Distribution& d = view.array->distribution;
  View out = {};
  out.array = view.array, out.exact = true, out.dims = d.dims();
  int64_t stride = static_cast<int64_t>(d.element_bytes()), rest = view.low[0];
  if (view.high[0] - view.low[0] + 1 != stride) return false;
  for (int i = d.dims() - 1; i >= 0; stride *= d.dim(i--)) out.extent[i] = d.dim(i), out.stride[i] = stride;
  for (int i = 0; i < out.dims; ++i) {
    out.low[i] = nearest(rest, out.stride[i]);
    rest -= out.low[i] * out.stride[i];
    int64_t least = out.low[i], most = least;
    for (size_t k = 0; k < values.size(); ++k) {
      const int64_t factor = view.factor[0][k];
      const bool mine = factor % out.stride[i] == 0 && (i == 0 || factor % out.stride[i - 1] != 0);
      if (!mine || factor == 0) continue;
      out.factor[i][k] = factor / out.stride[i];
      const int64_t first = out.factor[i][k] * values[k].first;
      const int64_t last = first + out.factor[i][k] * values[k].step * (count_of(values[k]) - 1);
      least += std::min(first, last), most += std::max(first, last);
    }
    if (least < 0 || most >= out.extent[i]) return false;
    out.high[i] = out.low[i];
  }
  for (size_t k = 0; k < values.size(); ++k)
    if (view.factor[0][k] % out.stride[out.dims - 1] != 0) return false;
  if (rest != 0) return false;
  view = out;
  return true;
}

// Returns the members of a dimension's subscripts; false if only their bounds are known.
bool members(const View& view, int d, std::span<const Values> values, Progression& out) {
  bool exact = !view.exact || view.low[d] == view.high[d];
  out = {view.low[d], 1, 1, view.high[d] - view.low[d] + 1};
  for (size_t k = 0; k < values.size(); ++k) {
    out.first += view.factor[d][k] * values[k].first;
    exact = out.spread(view.factor[d][k] * values[k].step, count_of(values[k])) && exact;
  }
  return exact;
}

}  // namespace

void LoopRaces::note(const Access& access, std::span<const Values> values, const char* place) {
  View view = access.view;
  for (const Values& v : values)
    if (count_of(v) == 0) return;
  Touch touch;
  std::memset(static_cast<void*>(&touch), 0, sizeof touch);  // padding is compared, too
  touch.array = view.array->id();
  touch.flags = access.flags & (Access::reads | Access::writes | Access::perhaps);
  std::strncpy(touch.text, access.text, sizeof touch.text - 1);
  std::strncpy(touch.place, place, sizeof touch.place - 1);
  if ((access.flags & Access::anywhere) != 0) {
    touch.kind = Touch::pages, touch.flags |= Access::perhaps;
    return note(touch);
  }
  touch.kind = view.exact || in_dimensions(view, values) ? Touch::elements : Touch::bytes;
  bool exact = true;
  for (size_t k = 0; k < values.size(); ++k) {
    int used = 0;  // with a variable in two dimensions these depend on each other
    for (int d = 0; d < view.dims; ++d) used += view.factor[d][k] != 0;
    exact = exact && (used <= 1 || count_of(values[k]) == 1);
  }
  for (int d = 0; d < view.dims; ++d) exact = members(view, d, values, touch.at[d]) && exact;
  if (!exact) touch.flags |= Access::perhaps;
  note(touch);
}

}  // namespace hiroba
