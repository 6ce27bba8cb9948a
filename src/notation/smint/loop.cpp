// A loop that all ranks share: who does which iterations, what they touch of other nodes, and in which order the parts
// are done. Everything follows from affine accesses (smint.h), evaluated anew at each execution of the loop.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "base/log.hpp"
#include "notation/smint/check.hpp"
#include "notation/smint/neighbours.hpp"
#include "notation/smint/share.hpp"
#include "notation/smint/view.hpp"
#include "process/process.hpp"
#include "smint.h"

#define SMINT_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

namespace {

// ---- what ----------------------------------------------------------------------------------------------------------

// The contiguous indices of the outermost dimension that lie in pages of this node.
Interval indices_here(const View& view, const Job& job) {
  Interval here = {0, 0};
  view.array->for_each_run_of([&](int rank) { return job.node_of(rank) == job.node; },
                              [&](uint64_t first, uint64_t pages) {
                                const auto data = static_cast<int64_t>(reinterpret_cast<uintptr_t>(view.array->data));
                                const auto base = static_cast<int64_t>(view.array->first_page << page_shift);
                                // The array's pages begin at or before its data.
                                const int64_t lead = data % static_cast<int64_t>(page_bytes);
                                const int64_t from = (static_cast<int64_t>(first << page_shift) - base) - lead;
                                const int64_t to = from + static_cast<int64_t>(pages << page_shift);
                                const Interval run = {ceil_div(from, view.stride[0]), floor_div(to, view.stride[0])};
                                if (run.end - run.begin > here.end - here.begin) here = run;
                              });
  if (here.empty()) return {0, 0};
  if (here.begin <= 0) here.begin = -far;
  if (here.end >= view.extent[0]) here.end = far;
  return here;
}

// Rows that lie less than a page apart are fetched with what is between them.
void fill_gaps(const View& view, Range section[]) {
  for (int d = view.dims - 1; d > 0; --d) {
    Range& r = section[d];
    if ((view.extent[d] - r.length) * view.stride[d] > static_cast<int64_t>(page_bytes)) return;
    r = {0, view.extent[d], 1};
  }
}

void fetch(Memory& memory, const View& view, Interval outermost, Range section[]) {
  outermost = meet(outermost, {0, view.extent[0]});
  if (outermost.empty()) return;
  const int64_t length = outermost.end - outermost.begin;
  section[0] = {outermost.begin, length, 1};
  const Status status =
      view.exact ? memory.start_preload(view.array->data, {section, static_cast<size_t>(view.dims)})
                 : memory.start_preload_bytes(view.array->data + outermost.begin, static_cast<size_t>(length));
  if (!status.ok()) end_job(1, "parallel for: %s", status.message().c_str());
}

constexpr int any_access = SMINT_READS | SMINT_WRITES;

// Those of the values [mine] that touch nothing outside of this node; `fetches`: and begins to fetch what they touch.
Interval inner_of(Memory& memory, const View& view, std::span<const smint_values> values, Interval mine, int64_t last,
                  bool fetches) {
  Range section[SMINT_DIMS];
  Interval rows = {0, 0};
  for (int d = 0; d < view.dims; ++d) {
    const Interval offset = offsets(view, d, values, 0);
    if (offset.empty()) return mine;  // a loop inside has no iterations
    const int64_t a = view.factor[d][0] * mine.begin, b = view.factor[d][0] * last;
    const Interval touched = meet({std::min(a, b) + offset.begin, std::max(a, b) + offset.end}, {0, view.extent[d]});
    if (touched.empty()) return mine;
    if (d == 0) rows = touched;
    section[d] = {touched.begin, touched.end - touched.begin, 1};
  }
  fill_gaps(view, section);
  const Interval here = indices_here(view, memory.job());
  if (fetches) {
    fetch(memory, view, {rows.begin, std::min(rows.end, here.begin)}, section);
    fetch(memory, view, {std::max({rows.begin, here.begin, here.end}), rows.end}, section);
  }
  if (here.empty()) return {0, 0};
  if (rows.begin >= here.begin && rows.end <= here.end) return mine;
  if (view.factor[0][0] == 0) return {0, 0};
  return values_within(here, offsets(view, 0, values, 0), view.factor[0][0]);
}

Interval inner_of(Memory& memory, std::span<const Touched> touched, std::span<const smint_values> values, Interval mine,
                  int64_t step, int kinds, bool fetches) {
  if (memory.job().nnodes == 1) return mine;
  const int64_t last = mine.begin + (mine.end - 1 - mine.begin) / step * step;
  Interval inner = mine;
  for (const auto& [flags, view] : touched)
    if (view.array != nullptr && (flags & kinds) != 0)
      inner = meet(inner, inner_of(memory, view, values, mine, last, fetches));
  return inner;
}

bool writes_home(Memory& memory, std::span<const Touched> touched, std::span<const smint_values> values, Interval mine,
                 int64_t step) {
  if (mine.empty()) return true;
  const Interval here = inner_of(memory, touched, values, mine, step, SMINT_WRITES, false);
  return here.begin <= mine.begin && here.end >= mine.end;
}

// ---- the loop
// ---------------------------------------------------------------------------------------------------------

// What smint_memo keeps as long as the program runs, like its loop: for each set of arrays that the loop has used, the
// pages of other nodes. Pointers that are swapped make two sets.
using Pages = std::vector<PageRun>;
using Recollection = std::map<std::vector<const void*>, Pages>;

enum Awaited : int32_t { nothing, data, ranks };  // before the rim

// Of the rank's values, the rim is what lies on both sides of the inner part. While something is awaited, pieces of the
// inner part are done meanwhile; those that are left come last.
enum Stage : int32_t { meanwhile, lower_rim, upper_rim, rest, done };

// What smint_loop keeps between calls. `step` > 0 and intervals ascend, also for a loop that counts downwards, whose
// values are told to the program from the top.
struct Progress {
  Interval mine, inner;
  int64_t step;
  int32_t flags;
  Stage stage;
  Awaited waiting;
  bool down;  // the program's loop counts downwards
  bool inner_done;
  bool rim_first;    // the others need not wait for the inner part
  Pages* noting;     // null: nothing is to be noted at the end
  LoopCheck* check;  // null: nothing is to be checked
  Execution* whole;  // null: the barrier at the end is not put off
};
static_assert(sizeof(Progress) <= sizeof(smint_loop::opaque));

// Ascending values of a loop: [first, end) by step.
smint_values ascending(const smint_values& v) {
  if (v.step > 0) return v;
  const int64_t count = count_of(v);
  return {v.first + (count - 1) * v.step, v.first + 1, -v.step};
}

bool same_name(const smint_access& a, const smint_access& b) {
  const size_t length = std::strcspn(a.text, "[");
  return length == std::strcspn(b.text, "[") && std::strncmp(a.text, b.text, length) == 0;
}

// The loops nested inside were proved independent for accesses by one name; two names may mean one array.
bool overlap(std::span<const smint_access> accesses, std::span<const Touched> touched) {
  for (size_t w = 0; w < touched.size(); ++w) {
    const Array* const written = touched[w].view.array;
    if ((touched[w].flags & SMINT_WRITES) == 0 || written == nullptr) continue;
    for (size_t i = 0; i < touched.size(); ++i)
      if (touched[i].view.array == written && !same_name(accesses[i], accesses[w])) return true;
  }
  return false;
}

// The notations have no handle, so this is the process's.
Neighbours& neighbours() {
  static Neighbours the_neighbours;
  return the_neighbours;
}

// Where the loop stands that this process is in; null if it is in none. Another thread may come, which is a mistake.
std::atomic<const char*>& current_loop() {
  static std::atomic<const char*> the_place = nullptr;
  return the_place;
}

void enter(const char* place) {
  const char* const outer = current_loop().exchange(place);
  if (outer == nullptr) return;
  end_job(1,
          "parallel for at %s: begins within the parallel for at %s, of which each rank does other iterations (in a "
          "function that it calls, or in another thread); all ranks have to come here, so share out one of the two",
          place, outer);
}

// A barrier may wait for the next loop, which knows who has to wait for whom.
bool may_wait(const Memory& memory, int flags) { return (flags & SMINT_LATER) != 0 && !memory.checking(); }

// Divides this rank's values: the inner ones lie on the loop's grid and wait for nothing.
void divide(Progress& p, Interval inner, Awaited waiting) {
  p.inner = meet(p.mine, inner);
  if (p.inner.empty()) p.inner = {p.mine.begin, p.mine.begin};
  p.inner.begin = on_grid(p.mine.begin, p.inner.begin, p.step);
  // The first value behind it that is on the grid.
  p.inner.end = on_grid(p.mine.begin, std::max(p.inner.begin, p.inner.end), p.step);
  if (p.inner.begin != p.mine.begin || p.inner.end < p.mine.end) p.waiting = waiting;
}

// The inner part, once; then nothing.
Interval take_inner(Progress& p) {
  if (p.inner_done) return {0, 0};
  p.inner_done = true;
  return p.inner;
}

// Waits for those ranks that have not come yet.
void meet_and_fetch(Memory& memory, Progress& p) {
  neighbours().finish(memory);
  const auto [share, values] = part_of(memory.job(), memory.job().rank, *p.whole);
  inner_of(memory, p.whole->accesses, values, p.mine, p.step, any_access, true);
  p.waiting = data;
}

// Data of a network come by themselves; whether ranks have come must be asked.
bool meanwhile_is_work(const Memory& memory, const Progress& p) {
  if (p.waiting == ranks) return !neighbours().come(memory);
  return p.waiting == data && !p.rim_first;
}

// Empty if all has been done.
Interval next_part(Memory& memory, Progress& p) {
  while (p.stage != done) {
    Interval part = {0, 0};
    switch (p.stage) {
      case meanwhile:
        if (meanwhile_is_work(memory, p)) part = take_inner(p);
        if (!part.empty()) return part;
        if (p.waiting == ranks) meet_and_fetch(memory, p);
        if (p.waiting == data) memory.preload_wait();
        break;
      case lower_rim: part = {p.mine.begin, p.inner.begin}; break;
      case upper_rim: part = {p.inner.end, p.mine.end}; break;
      default:
        if (p.rim_first && p.waiting == data && !p.inner_done && !p.inner.empty()) {
          neighbours().arrive_with_part(memory);
          p.rim_first = false;
        }
        part = take_inner(p);
        if (!part.empty()) return part;
    }
    p.stage = static_cast<Stage>(p.stage + 1);
    if (!part.empty()) return part;
  }
  return {0, 0};
}

// As the program counts: downwards from the top, if `step` is negative there.
void tell(smint_loop* loop, size_t k, Interval part, const smint_values& ascends, bool down) {
  loop->first[k] = part.begin, loop->end[k] = part.end;
  if (!down) return;
  loop->first[k] = part.begin + (part.end - 1 - part.begin) / ascends.step * ascends.step;
  loop->end[k] = part.begin - 1;
}

}  // namespace

}  // namespace hiroba

using hiroba::Interval;
using hiroba::Progress;

SMINT_EXPORT void smint_begin(smint_loop* loop, const smint_access accesses[], int count, const smint_values values[],
                              int depth, int shared, int flags, const char* place) {
  hiroba::Memory& memory = hiroba::process_memory("parallel for");
  hiroba::enter(place);
  smint_values ordered[SMINT_LOOPS];
  for (int k = 0; k < depth; ++k) {
    if (values[k].step == 0) hiroba::end_job(1, "parallel for at %s: the step of a loop is 0", place);
    ordered[k] = hiroba::ascending(values[k]);
  }
  const std::span<smint_values> loops(ordered, static_cast<size_t>(depth));
  std::vector<hiroba::Touched> touched(static_cast<size_t>(count));
  for (size_t i = 0; i < touched.size(); ++i) {
    touched[i].flags = accesses[i].flags;
    if (!hiroba::view_of(memory, accesses[i], touched[i].view)) touched[i].view.array = nullptr;
  }

  // The program runs what is told in full if it is not shared out.
  for (size_t k = 0; k < static_cast<size_t>(shared); ++k)
    hiroba::tell(loop, k, {ordered[k].first, ordered[k].end}, ordered[k], values[k].step < 0);
  if (shared > 1 && (flags & SMINT_COLLAPSE) == 0 && hiroba::overlap({accesses, touched.size()}, touched)) shared = 1;

  Progress p = {};
  p.flags = flags, p.step = ordered[0].step, p.down = values[0].step < 0;
  if (hiroba::may_wait(memory, flags)) {
    p.whole = new hiroba::Execution{touched, {loops.begin(), loops.end()}, shared, false};
    std::erase_if(p.whole->accesses, [](const hiroba::Touched& t) { return t.view.array == nullptr; });
    hiroba::neighbours().pass(memory, *p.whole);
  } else {
    hiroba::neighbours().settle(memory);
  }
  const hiroba::Share share = hiroba::share_of(memory.job(), memory.job().rank, touched, loops, shared);
  p.mine = p.inner = share[0];
  for (size_t k = 1; k < static_cast<size_t>(shared); ++k) {
    hiroba::tell(loop, k, share[k], ordered[k], values[k].step < 0);
    ordered[k].first = share[k].begin, ordered[k].end = share[k].end;  // what is fetched is for these only
  }
  if (p.whole != nullptr) p.whole->home_writes = hiroba::writes_home(memory, touched, loops, p.mine, p.step);
  if (!p.mine.empty()) {
    const bool comes_first = hiroba::neighbours().waits();
    const Interval inner = hiroba::inner_of(memory, touched, loops, p.mine, p.step, hiroba::any_access, !comes_first);
    const Interval apart = meet(inner, hiroba::neighbours().apart());
    p.rim_first = p.whole != nullptr && p.whole->home_writes && !apart.empty();
    hiroba::divide(p, comes_first || p.rim_first ? apart : inner, comes_first ? hiroba::ranks : hiroba::data);
  }
  if (memory.checking()) {
    ordered[0].first = p.mine.begin, ordered[0].end = p.mine.end;
    p.check = new hiroba::LoopCheck(memory, place, (flags & SMINT_KNOWN) != 0, loops);
  }
  std::memcpy(loop->opaque, &p, sizeof p);
}

SMINT_EXPORT int smint_checking(void) { return hiroba::process_memory("parallel for").checking() ? 1 : 0; }

SMINT_EXPORT void smint_touches(smint_loop* loop, const smint_access accesses[], int count) {
  Progress p;
  std::memcpy(&p, loop->opaque, sizeof p);
  if (p.check == nullptr) return;
  for (int i = 0; i < count; ++i) p.check->touches(accesses[i]);
}

SMINT_EXPORT void smint_recall(smint_loop* loop, smint_memo* memo, const void* const arrays[], int count) {
  hiroba::Memory& memory = hiroba::process_memory("parallel for");
  if (memory.job().nnodes == 1) return;
  if (memo->pages == nullptr) memo->pages = new hiroba::Recollection;
  auto& known = *static_cast<hiroba::Recollection*>(memo->pages);
  Progress p;
  std::memcpy(&p, loop->opaque, sizeof p);
  if (p.waiting == hiroba::ranks) hiroba::meet_and_fetch(memory, p);
  p.rim_first = false;  // what is recalled is not known to the others
  std::memcpy(loop->opaque, &p, sizeof p);
  const auto [found, anew] = known.try_emplace(std::vector<const void*>(arrays, arrays + count));
  if (!anew) {
    memory.start_preload(found->second);
    return;
  }
  memory.sync();  // what is here at the end, the loop has used
  p.noting = &found->second;
  std::memcpy(loop->opaque, &p, sizeof p);
}

SMINT_EXPORT int smint_next(smint_loop* loop) {
  Progress p;
  std::memcpy(&p, loop->opaque, sizeof p);
  const Interval part = hiroba::next_part(hiroba::process_memory("parallel for"), p);
  std::memcpy(loop->opaque, &p, sizeof p);
  if (part.empty()) return 0;
  hiroba::tell(loop, 0, part, {0, 0, p.step}, p.down);
  return 1;
}

SMINT_EXPORT void smint_end(smint_loop* loop) {
  Progress p;
  std::memcpy(&p, loop->opaque, sizeof p);
  hiroba::current_loop() = nullptr;
  if (p.noting != nullptr) *p.noting = hiroba::process_memory("parallel for").cached_pages();
  if (p.whole != nullptr) {
    hiroba::neighbours().owe(hiroba::process_memory("parallel for"), std::move(*p.whole));
    delete p.whole;
  } else if ((p.flags & SMINT_NOWAIT) == 0) {
    if ((p.flags & SMINT_DROP) != 0) sms_sync_drop();
    else sms_barrier();
    if (p.check != nullptr) p.check->report();
  }
  delete p.check;
}

SMINT_EXPORT void smint_settle(void) { hiroba::neighbours().settle(hiroba::process_memory("parallel for")); }
