#include "loops/loops.hpp"

#include <cstring>
#include <map>
#include <set>
#include <string>

#include "base/log.hpp"
#include "base/text.hpp"
#include "loops/check.hpp"
#include "loops/neighbours.hpp"
#include "loops/queues.hpp"

namespace hiroba {

namespace {

// ---- the data of a rank ---------------------------------------------------------------------------------------------

// Returns the contiguous indices of the outermost dimension whose elements are on this node.
Interval indices_here(const View& view, const Job& job) {
  Interval here = {0, 0};
  view.array->for_each_bytes_of([&](int rank) { return job.node_of(rank) == job.node; },
                                [&](int64_t begin, int64_t end) {
                                  const Interval run = {ceil_div(begin, view.stride[0]),
                                                        floor_div(end, view.stride[0])};
                                  if (run.end - run.begin > here.end - here.begin) here = run;
                                });
  if (here.empty()) return {0, 0};
  if (here.begin <= 0) here.begin = -far;
  if (here.end >= view.extent[0]) here.end = far;
  return here;
}

// Rows that are close together are fetched with the rows between them.
void fill_gaps(const View& view, Range section[]) {
  for (int d = view.dims - 1; d > 0; --d) {
    Range& r = section[d];
    if ((view.extent[d] - r.length) * view.stride[d] > Preloads::least_gap) return;
    r = {0, view.extent[d], 1};
  }
}

// Starts to fetch these rows.
Status fetch(Memory& memory, const View& view, Interval outermost, Range section[]) {
  outermost = intersection(outermost, {0, view.extent[0]});
  if (outermost.empty()) return {};
  const int64_t length = outermost.end - outermost.begin;
  section[0] = {outermost.begin, length, 1};
  const Status status =
      view.exact ? memory.preloads().start(view.array->data, {section, static_cast<size_t>(view.dims)})
                 : memory.preloads().start_bytes(view.array->data + outermost.begin, static_cast<size_t>(length));
  return status.ok() ? status : Status::error("parallel for: " + status.message());
}

// A rank's values of the outermost loop.
struct Mine {
  Interval all;
  int64_t step;
};

// The elements of an access over a rank's iterations: a section, with `rows` of the outermost dimension; `here`: the
// rows of this node.
struct UsedRows {
  const Access* access;
  Interval rows, here;
  Range section[View::most_dims];
};

// Returns false if an inner loop has no iterations, or the access is in no array.
bool rows_used(const Memory& memory, const Access& access, std::span<const Values> values, const Mine& mine,
               UsedRows& out) {
  const View& view = access.view;
  const int64_t begin = mine.all.begin, last = begin + (mine.all.end - 1 - begin) / mine.step * mine.step;
  out.access = &access;
  for (int d = 0; d < view.dims; ++d) {
    const Interval offset = offsets(view, d, values, 0);
    if (offset.empty()) return false;
    const int64_t a = view.factor[d][0] * begin, b = view.factor[d][0] * last;
    const Interval touched =
        intersection({std::min(a, b) + offset.begin, std::max(a, b) + offset.end}, {0, view.extent[d]});
    if (touched.empty()) return false;
    if (d == 0) out.rows = touched;
    out.section[d] = {touched.begin, touched.end - touched.begin, 1};
  }
  fill_gaps(view, out.section);
  out.here = indices_here(view, memory.job());
  return true;
}

// Returns what is used by all accesses that may leave this node.
std::vector<UsedRows> all_rows_used(const Memory& memory, std::span<const Access> accesses,
                                    std::span<const Values> values, const Mine& mine) {
  std::vector<UsedRows> used;
  if (memory.job().nnodes == 1 || mine.all.empty()) return used;
  used.reserve(accesses.size());
  for (const Access& access : accesses) {
    if (access.view.array == nullptr || (access.flags & (Access::reads | Access::writes)) == 0) continue;
    if (!rows_used(memory, access, values, mine, used.emplace_back())) used.pop_back();
  }
  return used;
}

// Returns the rank's values for which an access uses only data of this node.
Interval inner_of(const UsedRows& used, std::span<const Values> values, const Mine& mine) {
  const View& view = used.access->view;
  if (used.here.empty()) return {0, 0};
  if (used.rows.begin >= used.here.begin && used.rows.end <= used.here.end) return mine.all;
  if (view.factor[0][0] == 0) return {0, 0};
  return values_within(used.here, offsets(view, 0, values, 0), view.factor[0][0]);
}

Interval inner_of(std::span<const UsedRows> used, std::span<const Values> values, const Mine& mine, int kinds) {
  Interval inner = mine.all;
  for (const UsedRows& each : used)
    if ((each.access->flags & kinds) != 0) inner = intersection(inner, inner_of(each, values, mine));
  return inner;
}

// Starts to fetch the data of other nodes.
Status fetch(Memory& memory, std::span<UsedRows> used) {
  for (UsedRows& each : used) {
    const Access* const access = each.access;
    const Interval rows = each.rows, here = each.here;
    HIROBA_TRY(fetch(memory, access->view, {rows.begin, std::min(rows.end, here.begin)}, each.section));
    HIROBA_TRY(fetch(memory, access->view, {std::max({rows.begin, here.begin, here.end}), rows.end}, each.section));
  }
  return {};
}

// Makes memory for new arrays of which the rank writes all elements within a box: its iterations leave no gap of a
// page.
void make_filled(const Memory& memory, std::span<const Access> accesses, std::span<const Values> values,
                 const Mine& mine, Affinity::Homes whose) {
  for (const Access& access : accesses) {
    const View& view = access.view;
    if ((access.flags & Access::writes) == 0 || (access.flags & Access::perhaps) != 0) continue;
    if (view.array == nullptr || view.array->filled || mine.all.empty()) continue;
    UsedRows used;
    if (!rows_used(memory, access, values, mine, used)) continue;
    const Interval offset = offsets(view, 0, values, 0);
    bool whole =
        (std::abs(view.factor[0][0] * mine.step) - (offset.end - offset.begin)) * view.stride[0] <= Preloads::least_gap;
    for (int d = 1; d < view.dims; ++d) whole = whole && used.section[d].length == view.extent[d];
    const auto at = [&](int64_t row) { return static_cast<uint64_t>(row * view.stride[0]); };
    if (whole) memory.affinity().fill(*view.array, at(used.rows.begin), at(used.rows.end - used.rows.begin), whose);
  }
}

// ---- the loop ------------------------------------------------------------------------------------------------------

// The pages of other nodes for each set of arrays that a loop has used. Pointers that are swapped make two sets.
using Recollection = std::map<std::vector<const void*>, PageSet>;

// Returns the ascending values of a loop: [first, end) by step.
Values ascending(const Values& v) {
  if (v.step > 0) return v;
  const int64_t count = count_of(v);
  return {v.first + (count - 1) * v.step, v.first + 1, -v.step};
}

bool same_name(const Access& a, const Access& b) {
  const size_t length = std::strcspn(a.text, "[");
  return length == std::strcspn(b.text, "[") && std::strncmp(a.text, b.text, length) == 0;
}

// The nested loops were proved independent for accesses by one name; two names may be one array.
bool overlap(std::span<const Access> accesses) {
  for (const Access& w : accesses) {
    if ((w.flags & Access::writes) == 0 || w.view.array == nullptr) continue;
    for (const Access& a : accesses)
      if (a.view.array == w.view.array && !same_name(a, w)) return true;
  }
  return false;
}

// Divides this rank's values: the inner ones are values of the loop and need not wait.
void divide(LoopProgress& p, Interval inner, LoopProgress::Awaited waiting) {
  p.inner = intersection(p.mine, inner);
  if (p.inner.empty()) p.inner = {p.mine.begin, p.mine.begin};
  p.inner.begin = on_grid(p.mine.begin, p.inner.begin, p.step);
  // The first value of the loop after the inner part.
  p.inner.end = on_grid(p.mine.begin, std::max(p.inner.begin, p.inner.end), p.step);
  if (p.inner.begin != p.mine.begin || p.inner.end < p.mine.end) p.waiting = waiting;
}

// Returns the inner part, once; then an empty one.
Interval take_inner(LoopProgress& p) {
  if (p.inner_done) return {0, 0};
  p.inner_done = true;
  return p.inner;
}

// Gives the part in the program's order: downwards from the top, if `step` is negative there.
void tell(LoopPart& out, size_t k, Interval part, const Values& ascends, bool down) {
  out.first[k] = part.begin, out.end[k] = part.end;
  if (!down) return;
  out.first[k] = part.begin + (part.end - 1 - part.begin) / ascends.step * ascends.step;
  out.end[k] = part.begin - 1;
}

Status check_chunk(int64_t chunk, const char* place) {
  if (chunk > 0) return {};
  return Status::error(format("parallel for at %s: a chunk of its schedule has %lld iterations; it has at least one",
                              place, static_cast<long long>(chunk)));
}

}  // namespace

struct Loops::Parts {
  Loop loop;
  Neighbours neighbours;
  Queues queues;
  LoopRaces races;
  std::set<std::string> reported;  // written by LoopCheck
  Status fetch_after_barrier(Memory& memory, LoopProgress& p);
  Status next_part(Memory& memory, LoopProgress& p, Interval& part);
  Status take(Memory& memory, LoopProgress& p, Interval& part);
};

Loops::Loops() : parts_(std::make_unique<Parts>()) {}
Loops::~Loops() = default;

// Waits for ranks that have not arrived yet.
Status Loops::Parts::fetch_after_barrier(Memory& memory, LoopProgress& p) {
  HIROBA_TRY(neighbours.finish(memory));
  const auto [share, values] = part_of(memory.job(), memory.job().rank, *p.whole);
  p.waiting = LoopProgress::data;
  std::vector<UsedRows> used = all_rows_used(memory, p.whole->accesses, values, {p.mine, p.step});
  return fetch(memory, used);
}

// Returns an empty part if all is complete.
Status Loops::Parts::next_part(Memory& memory, LoopProgress& p, Interval& part) {
  using P = LoopProgress;
  for (part = {0, 0}; p.stage != P::done && part.empty();) {
    switch (p.stage) {
      case P::overlap: {
        // The data of a network arrives without calls; the arrival of ranks must be polled.
        const bool work =
            p.waiting == P::ranks ? !neighbours.all_arrived(memory) : p.waiting == P::data && !p.boundary_first;
        if (work) part = take_inner(p);
        if (!part.empty()) return {};
        if (p.waiting == P::ranks) HIROBA_TRY(fetch_after_barrier(memory, p));
        if (p.waiting == P::data) memory.preloads().wait();
        break;
      }
      case P::lower_boundary: part = {p.mine.begin, p.inner.begin}; break;
      case P::upper_boundary: part = {p.inner.end, p.mine.end}; break;
      default:
        if (p.boundary_first && p.waiting == P::data && !p.inner_done && !p.inner.empty()) {
          neighbours.arrive_with_part(memory);
          p.boundary_first = false;
        }
        part = take_inner(p);
        if (!part.empty()) return {};
    }
    p.stage = static_cast<P::Stage>(p.stage + 1);
  }
  return {};
}

// Data for iterations of other ranks' queues are fetched when they are taken. Returns an empty part if all is complete.
Status Loops::Parts::take(Memory& memory, LoopProgress& p, Interval& part) {
  if (p.waiting != LoopProgress::nothing) memory.preloads().wait();
  p.waiting = LoopProgress::nothing;
  const Queues::Taken taken = queues.take(memory);
  part = taken.values;
  if (taken.own) return {};
  std::vector<UsedRows> used = all_rows_used(memory, queues.loop().accesses, queues.loop().values, {part, p.step});
  if (used.empty()) return {};
  HIROBA_TRY(fetch(memory, used));
  memory.preloads().wait();
  return {};
}

Status Loops::enter(const char* place) {
  const char* const outer = place_.exchange(place);
  if (outer == nullptr) return {};
  return Status::error(
      "parallel for at %s: begins within the parallel for at %s, of which each rank executes other iterations (in "
      "a function that it calls, or in another thread); all ranks must execute this loop, so distribute only one of "
      "the two",
      place, outer);
}

Status Loops::begin(Memory& memory, std::vector<Access> accesses, std::span<const Values> values, int shared, int flags,
                    int64_t chunk, const char* place) {
  HIROBA_TRY(enter(place));
  const bool by_chunks = (flags & (Loop::dynamic | Loop::guided)) != 0;
  if (by_chunks) HIROBA_TRY(check_chunk(chunk, place));
  if (by_chunks) flags &= ~(Loop::no_wait | Loop::later);
  Values ordered[View::most_loops];
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k].step == 0) return Status::error("parallel for at %s: the step of a loop is 0", place);
    ordered[k] = ascending(values[k]);
  }
  const std::span<Values> loops(ordered, values.size());
  LoopPart& part = parts_->loop.part;

  // A loop that is not distributed runs in full.
  for (size_t k = 0; k < static_cast<size_t>(shared); ++k)
    tell(part, k, {ordered[k].first, ordered[k].end}, ordered[k], values[k].step < 0);
  if (by_chunks || (shared > 1 && (flags & Loop::collapse) == 0 && overlap(accesses))) shared = 1;

  Neighbours& neighbours = parts_->neighbours;
  LoopProgress& p = parts_->loop.progress = {};
  p.flags = flags, p.step = ordered[0].step, p.down = values[0].step < 0;
  // A barrier may be deferred to the next loop, which determines the ranks to wait for.
  if ((flags & Loop::later) != 0 && !memory.checking()) {
    p.whole = new Execution{accesses, {loops.begin(), loops.end()}, shared, false};
    std::erase_if(p.whole->accesses, [](const Access& a) { return a.view.array == nullptr; });
    HIROBA_TRY(neighbours.begin_loop(memory, *p.whole));
  } else {
    HIROBA_TRY(neighbours.settle(memory));
  }
  const Share share = share_of(memory.job(), memory.job().rank, accesses, loops, shared);
  p.mine = p.inner = share[0];
  for (size_t k = 1; k < static_cast<size_t>(shared); ++k) {
    tell(part, k, share[k], ordered[k], values[k].step < 0);
    ordered[k].first = share[k].begin, ordered[k].end = share[k].end;  // only these are fetched
  }
  const Mine mine = {p.mine, p.step};
  make_filled(memory, accesses, loops, mine, Affinity::Homes::own);
  std::vector<UsedRows> used = all_rows_used(memory, accesses, loops, mine);
  // Option check finds the same in each run, so all iterations are in the ranks' own shares there.
  p.takes = by_chunks && memory.job().nranks > 1 && !memory.checking();
  if (p.takes) {
    Execution whole = {accesses, {loops.begin(), loops.end()}, shared, false};
    HIROBA_TRY(parts_->queues.begin(memory, std::move(whole), p.mine, {chunk, (flags & Loop::guided) != 0}));
  }
  if (p.whole != nullptr) {
    const Interval at_home = inner_of(used, loops, mine, Access::writes);
    p.whole->home_writes = p.mine.empty() || (at_home.begin <= p.mine.begin && at_home.end >= p.mine.end);
  }
  if (!p.mine.empty()) {
    const bool comes_first = neighbours.waits();
    if (!comes_first) HIROBA_TRY(fetch(memory, used));
    const Interval inner = inner_of(used, loops, mine, Access::reads | Access::writes);
    const Interval independent = intersection(inner, neighbours.independent());
    p.boundary_first = p.whole != nullptr && p.whole->home_writes && !independent.empty();
    divide(p, comes_first || p.boundary_first ? independent : inner,
           comes_first ? LoopProgress::ranks : LoopProgress::data);
  }
  if (memory.checking()) {
    ordered[0].first = p.mine.begin, ordered[0].end = p.mine.end;
    p.check = new LoopCheck(memory, place, (flags & Loop::known) != 0, loops);
  }
  return {};
}

void Loops::fill(const Memory& memory, std::span<const Access> accesses, std::span<const Values> values) {
  Values ordered[View::most_loops];
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k].step == 0) return;
    ordered[k] = ascending(values[k]);
    if (ordered[k].first >= ordered[k].end) return;
  }
  const Mine all = {{ordered[0].first, ordered[0].end}, ordered[0].step};
  make_filled(memory, accesses, {ordered, values.size()}, all, Affinity::Homes::of_node);
}

void Loops::touches(const Access& access) {
  LoopCheck* const check = parts_->loop.progress.check;
  if (check != nullptr) check->touches(parts_->races, access);
}

Status Loops::recall(Memory& memory, void*& memo, std::vector<const void*> arrays) {
  if (memory.job().nnodes == 1) return {};
  if (memo == nullptr) memo = new Recollection;
  LoopProgress& p = parts_->loop.progress;
  if (p.waiting == LoopProgress::ranks) HIROBA_TRY(parts_->fetch_after_barrier(memory, p));
  p.boundary_first = false;  // other ranks do not know the recalled pages
  const auto [found, anew] = static_cast<Recollection*>(memo)->try_emplace(std::move(arrays));
  if (!anew) {
    memory.preloads().start(found->second);
    return {};
  }
  memory.consistency().drop_copies();  // the pages here at the end are those that the loop has used
  p.noting = &found->second;
  return {};
}

Status Loops::next(Memory& memory, const LoopPart*& part) {
  Loop& loop = parts_->loop;
  Interval values;
  HIROBA_TRY(loop.progress.takes ? parts_->take(memory, loop.progress, values)
                                 : parts_->next_part(memory, loop.progress, values));
  part = values.empty() ? nullptr : &loop.part;
  if (part != nullptr) tell(loop.part, 0, values, {0, 0, loop.progress.step}, loop.progress.down);
  return {};
}

void Loops::end(Memory& memory, void (*barrier)(bool drop)) {
  LoopProgress& p = parts_->loop.progress;
  place_ = nullptr;
  if (p.noting != nullptr) *p.noting = memory.preloads().here();
  if (p.whole != nullptr) {
    parts_->neighbours.defer_barrier(memory, std::move(*p.whole));
    delete p.whole;
  } else if ((p.flags & Loop::no_wait) == 0) {
    barrier((p.flags & Loop::drop) != 0);
    if (p.check != nullptr) p.check->report(parts_->reported);
  }
  delete p.check;
}

Status Loops::settle(Memory& memory) { return parts_->neighbours.settle(memory); }
Status Loops::find_races(Memory& memory) { return parts_->races.find(memory); }

}  // namespace hiroba
