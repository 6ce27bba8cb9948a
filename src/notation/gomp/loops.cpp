// Shared loops and sections of GCC's OpenMP runtime. In a team of one rank libgomp has them.
#include <algorithm>
#include <cstdlib>

#include "base/log.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba::openmp {

namespace {

using Kind = Loop::Kind;
using Ull = unsigned long long;

// A loop as GCC describes it, with an unsigned variable or a signed one.
struct Bounds {
  uint64_t start, end, step, iterations;
};

uint64_t count(uint64_t distance, uint64_t by) { return distance / by + (distance % by != 0 ? 1 : 0); }

Bounds bounds(long start, long end, long step) {
  const auto s = static_cast<uint64_t>(start), e = static_cast<uint64_t>(end), by = static_cast<uint64_t>(step);
  if (step > 0) return {s, e, by, start < end ? count(e - s, by) : 0};
  return {s, e, by, start > end ? count(s - e, -by) : 0};
}

Bounds bounds(bool up, Ull start, Ull end, Ull step) {
  if (up) return {start, end, step, start < end ? count(end - start, step) : 0};
  return {start, end, step, start > end ? count(start - end, -step) : 0};
}

struct Schedule {
  Kind kind;
  bool one_queue;
  uint64_t chunk;
};

constexpr unsigned by_runtime = 0, is_static = 1, is_dynamic = 2, is_guided = 3, monotonic = 0x80000000;

// `code`: as GOMP_loop_start has it, which is as omp_get_schedule has it.
Schedule schedule(unsigned code, long chunk, bool ordered) {
  if ((code & ~monotonic) == by_runtime) {
    int size = 0;
    HIROBA_REAL(omp_get_schedule)(&code, &size);
    chunk = size;
  }
  const bool in_order = ordered || (code & monotonic) != 0;
  const auto size = static_cast<uint64_t>(std::max(0L, chunk));
  switch (code & ~monotonic) {
    case is_dynamic: return {Kind::dynamic, in_order, std::max<uint64_t>(size, 1)};
    case is_guided: return {Kind::guided, in_order, std::max<uint64_t>(size, 1)};
    default: return {Kind::fixed, false, size};
  }
}

Loop make_loop(const Bounds& b, const Schedule& s, bool ordered) {
  Loop loop;
  loop.kind = s.kind, loop.one_queue = s.one_queue, loop.chunk = s.chunk, loop.ordered = ordered;
  loop.start = b.start, loop.end = b.end, loop.step = b.step, loop.iterations = b.iterations;
  return loop;
}

// All threads of a team begin the same loops, so all come here for a barrier if there has been none for long.
void begin(const Loop& loop) {
  if (member.shares == Queues::slots) instance<Regions>().barrier();
  member.loop = loop;
  member.loop.slot = member.shares++;
}

template <typename T>
bool next(T* first, T* last) {
  const Queues& queues = instance<Regions>().queues();
  Loop& loop = member.loop;
  if (loop.ordered && loop.first < loop.last) queues.end_turn(member);
  loop.first = loop.last = 0;
  if (!queues.take(member)) return false;
  *first = static_cast<T>(loop.start + loop.first * loop.step);
  *last = static_cast<T>(loop.last == loop.iterations ? loop.end : loop.start + loop.last * loop.step);
  return true;
}

template <typename T>
bool start(const Bounds& b, const Schedule& s, bool ordered, T* first, T* last) {
  begin(make_loop(b, s, ordered));
  return next(first, last);
}

void run_loop(Function function, void* data, unsigned threads, const Bounds& b, const Schedule& s, unsigned flags) {
  Work work;
  work.function = function, work.data = data, work.threads = static_cast<int>(threads), work.flags = flags;
  work.has_loop = true, work.loop = make_loop(b, s, false);
  instance<Regions>().run(work);
}

// Returns memory that a loop wants for its team: zeros, at the same address in all threads. All have read the address
// before thread 0 may store the next one.
void* team_memory(size_t bytes) {
  Regions& regions = instance<Regions>();
  if (member.thread == 0) *regions.copied() = std::calloc(1, bytes);
  regions.barrier();
  void* const memory = *regions.copied();
  regions.barrier();
  return memory;
}

[[noreturn]] void refuse(const char* what) {
  end_job(1, "%s in a team of all ranks: not possible; give the region num_threads(1), or start it in a task", what);
}

}  // namespace

}  // namespace hiroba::openmp

using namespace hiroba;
using namespace hiroba::openmp;

#define SPANS (member.spans)

// A schedule of its own name, with and without a chunk: NAME, code of the schedule, whether ordered.
#define LOOP_WITH_CHUNK(name, code, ordered)                                                                          \
  EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long* first, long* last) {        \
    if (!SPANS) return HIROBA_REAL(GOMP_loop_##name##_start)(start, end, step, chunk, first, last);                   \
    return openmp::start(bounds(start, end, step), schedule(code, chunk, ordered), ordered, first, last);             \
  }                                                                                                                   \
  EXPORT bool GOMP_loop_ull_##name##_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* first, Ull* last) { \
    if (!SPANS) return HIROBA_REAL(GOMP_loop_ull_##name##_start)(up, start, end, step, chunk, first, last);           \
    return openmp::start(bounds(up, start, end, step), schedule(code, static_cast<long>(chunk), ordered), ordered,    \
                         first, last);                                                                                \
  }                                                                                                                   \
  LOOP_NEXT(name)
#define LOOP_BY_RUNTIME(name, code, ordered)                                                               \
  EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, long* first, long* last) {         \
    if (!SPANS) return HIROBA_REAL(GOMP_loop_##name##_start)(start, end, step, first, last);               \
    return openmp::start(bounds(start, end, step), schedule(code, 0, ordered), ordered, first, last);      \
  }                                                                                                        \
  EXPORT bool GOMP_loop_ull_##name##_start(bool up, Ull start, Ull end, Ull step, Ull* first, Ull* last) { \
    if (!SPANS) return HIROBA_REAL(GOMP_loop_ull_##name##_start)(up, start, end, step, first, last);       \
    return openmp::start(bounds(up, start, end, step), schedule(code, 0, ordered), ordered, first, last);  \
  }                                                                                                        \
  LOOP_NEXT(name)
#define LOOP_NEXT(name)                                                                       \
  EXPORT bool GOMP_loop_##name##_next(long* first, long* last) {                              \
    return SPANS ? next(first, last) : HIROBA_REAL(GOMP_loop_##name##_next)(first, last);     \
  }                                                                                           \
  EXPORT bool GOMP_loop_ull_##name##_next(Ull* first, Ull* last) {                            \
    return SPANS ? next(first, last) : HIROBA_REAL(GOMP_loop_ull_##name##_next)(first, last); \
  }

LOOP_WITH_CHUNK(static, is_static, false)
LOOP_WITH_CHUNK(dynamic, is_dynamic | monotonic, false)
LOOP_WITH_CHUNK(guided, is_guided | monotonic, false)
LOOP_WITH_CHUNK(nonmonotonic_dynamic, is_dynamic, false)
LOOP_WITH_CHUNK(nonmonotonic_guided, is_guided, false)
LOOP_WITH_CHUNK(ordered_static, is_static, true)
LOOP_WITH_CHUNK(ordered_dynamic, is_dynamic, true)
LOOP_WITH_CHUNK(ordered_guided, is_guided, true)
LOOP_BY_RUNTIME(runtime, by_runtime | monotonic, false)
LOOP_BY_RUNTIME(nonmonotonic_runtime, by_runtime, false)
LOOP_BY_RUNTIME(maybe_nonmonotonic_runtime, by_runtime, false)
LOOP_BY_RUNTIME(ordered_runtime, by_runtime, true)

// The general form: `first` may be null, and the chunks come by next; `memory` has a number of bytes, and gets memory.
#define GENERAL_LOOP(name, ordered)                                                                                    \
  EXPORT bool GOMP_loop_##name(long start, long end, long step, long code, long chunk, long* first, long* last,        \
                               uintptr_t* reductions, void** memory) {                                                 \
    if (!SPANS) return HIROBA_REAL(GOMP_loop_##name)(start, end, step, code, chunk, first, last, reductions, memory);  \
    if (reductions != nullptr) refuse("a reduction of tasks");                                                         \
    if (memory != nullptr) *memory = team_memory(reinterpret_cast<size_t>(*memory));                                   \
    begin(make_loop(bounds(start, end, step), schedule(static_cast<unsigned>(code), chunk, ordered), ordered));        \
    return first == nullptr || next(first, last);                                                                      \
  }                                                                                                                    \
  EXPORT bool GOMP_loop_ull_##name(bool up, Ull start, Ull end, Ull step, long code, Ull chunk, Ull* first, Ull* last, \
                                   uintptr_t* reductions, void** memory) {                                             \
    if (!SPANS)                                                                                                        \
      return HIROBA_REAL(GOMP_loop_ull_##name)(up, start, end, step, code, chunk, first, last, reductions, memory);    \
    if (reductions != nullptr) refuse("a reduction of tasks");                                                         \
    if (memory != nullptr) *memory = team_memory(reinterpret_cast<size_t>(*memory));                                   \
    begin(make_loop(bounds(up, start, end, step),                                                                      \
                    schedule(static_cast<unsigned>(code), static_cast<long>(chunk), ordered), ordered));               \
    return first == nullptr || next(first, last);                                                                      \
  }
GENERAL_LOOP(start, false)
GENERAL_LOOP(ordered_start, true)

#define DOACROSS(name)                                                                                   \
  EXPORT bool GOMP_loop_doacross_##name(unsigned n, long* counts, long chunk, long* first, long* last) { \
    if (SPANS) refuse("a loop with depend(sink)");                                                       \
    return HIROBA_REAL(GOMP_loop_doacross_##name)(n, counts, chunk, first, last);                        \
  }                                                                                                      \
  EXPORT bool GOMP_loop_ull_doacross_##name(unsigned n, Ull* counts, Ull chunk, Ull* first, Ull* last) { \
    if (SPANS) refuse("a loop with depend(sink)");                                                       \
    return HIROBA_REAL(GOMP_loop_ull_doacross_##name)(n, counts, chunk, first, last);                    \
  }
DOACROSS(static_start)
DOACROSS(dynamic_start)
DOACROSS(guided_start)

EXPORT void GOMP_loop_end_nowait() {
  if (!SPANS) HIROBA_REAL(GOMP_loop_end_nowait)();
}
EXPORT void GOMP_loop_end() {
  if (SPANS) instance<Regions>().barrier();
  else HIROBA_REAL(GOMP_loop_end)();
}
EXPORT bool GOMP_loop_end_cancel() {
  if (!SPANS) return HIROBA_REAL(GOMP_loop_end_cancel)();
  return instance<Regions>().barrier(), false;
}

#define PARALLEL_WITH_CHUNK(name, code)                                                                        \
  EXPORT void GOMP_parallel_loop_##name(Function function, void* data, unsigned threads, long start, long end, \
                                        long step, long chunk, unsigned flags) {                               \
    if (instance<Regions>().spans(function, static_cast<int>(threads)))                                        \
      return run_loop(function, data, threads, bounds(start, end, step), schedule(code, chunk, false), flags); \
    OwnTeam own(function, data);                                                                               \
    HIROBA_REAL(GOMP_parallel_loop_##name)(OwnTeam::function, &own, threads, start, end, step, chunk, flags);  \
  }
#define PARALLEL_BY_RUNTIME(name, code)                                                                        \
  EXPORT void GOMP_parallel_loop_##name(Function function, void* data, unsigned threads, long start, long end, \
                                        long step, unsigned flags) {                                           \
    if (instance<Regions>().spans(function, static_cast<int>(threads)))                                        \
      return run_loop(function, data, threads, bounds(start, end, step), schedule(code, 0, false), flags);     \
    OwnTeam own(function, data);                                                                               \
    HIROBA_REAL(GOMP_parallel_loop_##name)(OwnTeam::function, &own, threads, start, end, step, flags);         \
  }
PARALLEL_WITH_CHUNK(static, is_static)
PARALLEL_WITH_CHUNK(dynamic, is_dynamic | monotonic)
PARALLEL_WITH_CHUNK(guided, is_guided | monotonic)
PARALLEL_WITH_CHUNK(nonmonotonic_dynamic, is_dynamic)
PARALLEL_WITH_CHUNK(nonmonotonic_guided, is_guided)
PARALLEL_BY_RUNTIME(runtime, by_runtime | monotonic)
PARALLEL_BY_RUNTIME(nonmonotonic_runtime, by_runtime)
PARALLEL_BY_RUNTIME(maybe_nonmonotonic_runtime, by_runtime)

// ---- sections: in turn to the threads -----------------------------------------------------------------------------

EXPORT unsigned GOMP_sections_next() {
  if (!SPANS) return HIROBA_REAL(GOMP_sections_next)();
  const unsigned section = member.section;
  member.section += static_cast<unsigned>(member.threads);
  return section < member.sections ? section + 1 : 0;
}
EXPORT unsigned GOMP_sections_start(unsigned count) {
  if (!SPANS) return HIROBA_REAL(GOMP_sections_start)(count);
  member.sections = count, member.section = static_cast<unsigned>(member.thread);
  return GOMP_sections_next();
}
EXPORT unsigned GOMP_sections2_start(unsigned count, uintptr_t* reductions, void** memory) {
  if (!SPANS) return HIROBA_REAL(GOMP_sections2_start)(count, reductions, memory);
  if (reductions != nullptr) refuse("a reduction of tasks");
  if (memory != nullptr) *memory = team_memory(reinterpret_cast<size_t>(*memory));
  return GOMP_sections_start(count);
}
EXPORT void GOMP_sections_end_nowait() {
  if (!SPANS) HIROBA_REAL(GOMP_sections_end_nowait)();
}
EXPORT void GOMP_sections_end() {
  if (SPANS) instance<Regions>().barrier();
  else HIROBA_REAL(GOMP_sections_end)();
}
EXPORT bool GOMP_sections_end_cancel() {
  if (!SPANS) return HIROBA_REAL(GOMP_sections_end_cancel)();
  return instance<Regions>().barrier(), false;
}
EXPORT void GOMP_parallel_sections(Function function, void* data, unsigned threads, unsigned count, unsigned flags) {
  if (instance<Regions>().spans(function, static_cast<int>(threads))) {
    Work work;
    work.function = function, work.data = data, work.threads = static_cast<int>(threads), work.flags = flags;
    work.sections = count;
    return instance<Regions>().run(work);
  }
  OwnTeam own(function, data);
  HIROBA_REAL(GOMP_parallel_sections)(OwnTeam::function, &own, threads, count, flags);
}

// ---- ordered ------------------------------------------------------------------------------------------------------

EXPORT void GOMP_ordered_start() {
  if (!SPANS) return HIROBA_REAL(GOMP_ordered_start)();
  instance<Regions>().queues().await_turn(member);
}
EXPORT void GOMP_ordered_end() {
  if (!SPANS) HIROBA_REAL(GOMP_ordered_end)();
}
