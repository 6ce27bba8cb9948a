// Shared loops and sections of GCC's OpenMP runtime. In a team of one rank libgomp has them.
#include <algorithm>
#include <cstdarg>
#include <cstdlib>

#include "notation/gomp/bounds.hpp"
#include "notation/gomp/reductions.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba::openmp {

namespace {

using Kind = Loop::Kind;

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
    // All memory of a node is as near, and chunks that only get smaller balance better than parts of the ranks.
    case is_guided: return {Kind::guided, in_order || !words::between_nodes, std::max<uint64_t>(size, 1)};
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
  instance<Singles>().pass();
  if (member.shares == Queues::slots) instance<Regions>().barrier();
  member.loop = loop;
  member.loop.slot = member.shares++;
}

// Returns zeros for a loop, at the same address in all threads. When they come here again, they have ended the loop.
void* loop_memory(size_t bytes) {
  static void* last = nullptr;
  void* const memory = instance<Regions>().team_memory(bytes);
  if (member.thread == 0) std::free(last), last = memory;
  return memory;
}

// Loops and sections may want reductions of tasks, and memory for the team, of which `memory` has the size.
void begin_memory(uintptr_t* reductions, void** memory) {
  if (reductions != nullptr) begin_reductions(reductions);
  if (memory != nullptr) *memory = loop_memory(reinterpret_cast<size_t>(*memory));
}

template <typename T>
bool next(T* first, T* last) {
  const Queues& queues = instance<Regions>().queues();
  Loop& loop = member.loop;
  if (loop.ordered && loop.first < loop.last) queues.end_turn(member);
  loop.first = loop.last = 0;
  if (!queues.take(member)) return false;
  // NOLINTNEXTLINE(bugprone-misplaced-widening-cast): T may be long.
  *first = static_cast<T>(loop.start + loop.first * loop.step);
  *last = static_cast<T>(loop.last == loop.iterations ? loop.end : loop.start + loop.last * loop.step);
  return true;
}

template <typename T>
bool start(const Bounds& b, const Schedule& s, bool ordered, T* first, T* last) {
  begin(make_loop(b, s, ordered));
  return next(first, last);
}

void run_loop(Function function, void* data, int team, const Bounds& b, const Schedule& s, unsigned flags) {
  Work work;
  work.function = function, work.data = data, work.threads = team, work.flags = flags;
  work.has_loop = true, work.loop = make_loop(b, s, false);
  instance<Regions>().run(work);
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
    begin_memory(reductions, memory);                                                                                  \
    begin(make_loop(bounds(start, end, step), schedule(static_cast<unsigned>(code), chunk, ordered), ordered));        \
    return first == nullptr || next(first, last);                                                                      \
  }                                                                                                                    \
  EXPORT bool GOMP_loop_ull_##name(bool up, Ull start, Ull end, Ull step, long code, Ull chunk, Ull* first, Ull* last, \
                                   uintptr_t* reductions, void** memory) {                                             \
    if (!SPANS)                                                                                                        \
      return HIROBA_REAL(GOMP_loop_ull_##name)(up, start, end, step, code, chunk, first, last, reductions, memory);    \
    begin_memory(reductions, memory);                                                                                  \
    begin(make_loop(bounds(up, start, end, step),                                                                      \
                    schedule(static_cast<unsigned>(code), static_cast<long>(chunk), ordered), ordered));               \
    return first == nullptr || next(first, last);                                                                      \
  }
GENERAL_LOOP(start, false)
GENERAL_LOOP(ordered_start, true)

// ---- loops with depend(sink) and depend(source) -------------------------------------------------------------------

namespace {

// Chunks are taken in the order of iterations: a thread never waits for one that nobody has taken.
template <typename T>
bool start_doacross(unsigned n, const T* counts, Schedule s, T* first, T* last, void** memory) {
  s.one_queue = true;
  const auto outer = static_cast<uint64_t>(counts[0]);
  const Loop loop = make_loop({0, outer, 1, outer}, s, false);
  doacross = Doacross(loop, {reinterpret_cast<const uint64_t*>(counts), n});
  char* const words =
      static_cast<char*>(loop_memory(doacross.bytes() + (memory == nullptr ? 0 : reinterpret_cast<size_t>(*memory))));
  if (memory != nullptr) *memory = words + doacross.bytes();
  doacross.begin(words);
  begin(loop);
  return next(first, last);
}

}  // namespace

#define DOACROSS_START(name, code)                                                                           \
  EXPORT bool GOMP_loop_doacross_##name(unsigned n, long* counts, long chunk, long* first, long* last) {     \
    if (!SPANS) return HIROBA_REAL(GOMP_loop_doacross_##name)(n, counts, chunk, first, last);                \
    return start_doacross(n, counts, schedule(code, chunk, false), first, last, nullptr);                    \
  }                                                                                                          \
  EXPORT bool GOMP_loop_ull_doacross_##name(unsigned n, Ull* counts, Ull chunk, Ull* first, Ull* last) {     \
    if (!SPANS) return HIROBA_REAL(GOMP_loop_ull_doacross_##name)(n, counts, chunk, first, last);            \
    return start_doacross(n, counts, schedule(code, static_cast<long>(chunk), false), first, last, nullptr); \
  }
DOACROSS_START(static_start, is_static)
DOACROSS_START(dynamic_start, is_dynamic)
DOACROSS_START(guided_start, is_guided)

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define DOACROSS(infix, T)                                                                                            \
  EXPORT bool GOMP_loop_##infix##doacross_runtime_start(unsigned n, T* counts, T* first, T* last) {                   \
    if (!SPANS) return HIROBA_REAL(GOMP_loop_##infix##doacross_runtime_start)(n, counts, first, last);                \
    return start_doacross(n, counts, schedule(by_runtime, 0, false), first, last, nullptr);                           \
  }                                                                                                                   \
  EXPORT bool GOMP_loop_##infix##doacross_start(unsigned n, T* counts, long code, T chunk, T* first, T* last,         \
                                                uintptr_t* reductions, void** memory) {                               \
    if (!SPANS)                                                                                                       \
      return HIROBA_REAL(GOMP_loop_##infix##doacross_start)(n, counts, code, chunk, first, last, reductions, memory); \
    if (reductions != nullptr) begin_reductions(reductions);                                                          \
    const Schedule s = schedule(static_cast<unsigned>(code), static_cast<long>(chunk), false);                        \
    return start_doacross(n, counts, s, first, last, memory);                                                         \
  }                                                                                                                   \
  EXPORT void GOMP_doacross_##infix##post(T* counts) {                                                                \
    if (!SPANS) return HIROBA_REAL(GOMP_doacross_##infix##post)(counts);                                              \
    doacross.post(reinterpret_cast<const uint64_t*>(counts));                                                         \
  }
// NOLINTEND(bugprone-macro-parentheses)
DOACROSS(, long)
DOACROSS(ull_, Ull)

// The numbers of the loops are arguments, of which libgomp alone knows how many there are outside of teams of all
// ranks: so the call jumps to the function that reads them.
namespace {

template <typename T>
void await_iteration(T first, ...) {
  uint64_t at[Doacross::most] = {static_cast<uint64_t>(first)};
  va_list list;
  va_start(list, first);
  for (unsigned i = 1; i < doacross.loops(); ++i) at[i] = static_cast<uint64_t>(va_arg(list, T));
  va_end(list);
  doacross.await(at);
}

}  // namespace

EXPORT void GOMP_doacross_wait(long first, ...);
EXPORT void GOMP_doacross_ull_wait(Ull first, ...);
extern "C" __attribute__((visibility("hidden"), used)) void* hiroba_openmp_doacross_wait() {
  return reinterpret_cast<void*>(SPANS ? await_iteration<long> : HIROBA_REAL(GOMP_doacross_wait));
}
extern "C" __attribute__((visibility("hidden"), used)) void* hiroba_openmp_doacross_ull_wait() {
  return reinterpret_cast<void*>(SPANS ? await_iteration<Ull> : HIROBA_REAL(GOMP_doacross_ull_wait));
}

// NAME: pushes the arguments, asks the function hiroba_openmp_NAME where to go, and jumps there.
#define JUMP(name)                                                                                      \
  asm(".text\n.globl GOMP_" name "\n.type GOMP_" name ", @function\nGOMP_" name                         \
      ":\n endbr64\n push %rax\n push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n" \
      " call hiroba_openmp_" name                                                                       \
      "\n mov %rax, %r11\n"                                                                             \
      " pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n pop %rax\n jmp *%r11\n"         \
      ".size GOMP_" name ", .-GOMP_" name "\n");
JUMP("doacross_wait")
JUMP("doacross_ull_wait")

EXPORT void GOMP_loop_end_nowait() {
  if (!SPANS) HIROBA_REAL(GOMP_loop_end_nowait)();
}
EXPORT void GOMP_loop_end() {
  if (SPANS) instance<Regions>().barrier();
  else HIROBA_REAL(GOMP_loop_end)();
}
EXPORT bool GOMP_loop_end_cancel() {
  if (!SPANS) return HIROBA_REAL(GOMP_loop_end_cancel)();
  return instance<Regions>().barrier_or_cancel();
}

#define PARALLEL_WITH_CHUNK(name, code)                                                                            \
  EXPORT void GOMP_parallel_loop_##name(Function function, void* data, unsigned threads, long start, long end,     \
                                        long step, long chunk, unsigned flags) {                                   \
    if (const int team = instance<Regions>().team(function, threads); team > 0)                                    \
      return run_loop(function, data, team, bounds(start, end, step), schedule(code, chunk, false), flags);        \
    OwnTeam own(function, data);                                                                                   \
    HIROBA_REAL(GOMP_parallel_loop_##name)(OwnTeam::function, &own, own.threads(threads), start, end, step, chunk, \
                                           flags);                                                                 \
  }
#define PARALLEL_BY_RUNTIME(name, code)                                                                             \
  EXPORT void GOMP_parallel_loop_##name(Function function, void* data, unsigned threads, long start, long end,      \
                                        long step, unsigned flags) {                                                \
    if (const int team = instance<Regions>().team(function, threads); team > 0)                                     \
      return run_loop(function, data, team, bounds(start, end, step), schedule(code, 0, false), flags);             \
    OwnTeam own(function, data);                                                                                    \
    HIROBA_REAL(GOMP_parallel_loop_##name)(OwnTeam::function, &own, own.threads(threads), start, end, step, flags); \
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
  instance<Singles>().pass();
  member.sections = count, member.section = static_cast<unsigned>(member.thread);
  return GOMP_sections_next();
}
EXPORT unsigned GOMP_sections2_start(unsigned count, uintptr_t* reductions, void** memory) {
  if (!SPANS) return HIROBA_REAL(GOMP_sections2_start)(count, reductions, memory);
  begin_memory(reductions, memory);
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
  return instance<Regions>().barrier_or_cancel();
}
EXPORT void GOMP_parallel_sections(Function function, void* data, unsigned threads, unsigned count, unsigned flags) {
  if (const int team = instance<Regions>().team(function, threads); team > 0) {
    Work work;
    work.function = function, work.data = data, work.threads = team, work.flags = flags;
    work.sections = count;
    return instance<Regions>().run(work);
  }
  OwnTeam own(function, data);
  HIROBA_REAL(GOMP_parallel_sections)(OwnTeam::function, &own, own.threads(threads), count, flags);
}

// ---- ordered ------------------------------------------------------------------------------------------------------

EXPORT void GOMP_ordered_start() {
  if (!SPANS) return HIROBA_REAL(GOMP_ordered_start)();
  instance<Regions>().queues().await_turn(member);
}
EXPORT void GOMP_ordered_end() {
  if (!SPANS) HIROBA_REAL(GOMP_ordered_end)();
}
