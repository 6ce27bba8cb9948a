// Tasks of GCC's OpenMP runtime: in a team of all ranks any rank executes them. libgomp has those of other teams, those
// with reductions, and all of a program that detaches or cancels tasks.
#include <algorithm>
#include <cstdint>

#include "notation/gomp/bounds.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace hiroba;
using namespace hiroba::openmp;

extern "C" {
void GOMP_taskwait_depend(void**);
void GOMP_taskwait_depend_nowait(void**);
void GOMP_taskloop(TaskFunction, void*, void (*)(void*, void*), long, long, unsigned, unsigned long, int, long, long,
                   long);
void GOMP_taskloop_ull(TaskFunction, void*, void (*)(void*, void*), long, long, unsigned, unsigned long, int, Ull, Ull,
                       Ull);
}

namespace {

// Flags of GOMP_task and GOMP_taskloop.
constexpr unsigned is_final = 1 << 1, has_depend = 1 << 3, goes_up = 1 << 8, has_grainsize = 1 << 9,
                   may_defer = 1 << 10, without_group = 1 << 11, reduces = 1 << 12, is_strict = 1 << 14;

Tasks& tasks() { return instance<Regions>().tasks(); }

}  // namespace

namespace {

struct Parts {
  uint64_t number, size, longer;  // the first `longer` parts have one more iteration; the last one may have fewer
};

Parts divide(uint64_t iterations, uint64_t wanted, unsigned flags) {
  const bool by_size = (flags & has_grainsize) != 0;
  if (by_size && (flags & is_strict) != 0) return {(iterations + wanted - 1) / wanted, wanted, 0};
  uint64_t number = by_size ? iterations / wanted : wanted;
  if (wanted == 0) number = static_cast<uint64_t>(member.threads);
  number = std::clamp<uint64_t>(number, 1, iterations);
  return {number, iterations / number, iterations % number};
}

// The data begin with the bounds of the task's part.
void make_taskloop(Tasks::Request request, unsigned flags, uint64_t wanted, const Bounds& b) {
  if (b.iterations == 0) return;
  const bool has_group = (flags & without_group) == 0;
  if (has_group) GOMP_taskgroup_start();
  const Parts parts = divide(b.iterations, wanted, flags);
  request.may_be_deferred = (flags & may_defer) != 0, request.is_final = (flags & is_final) != 0;
  for (uint64_t i = 0, first = 0; i < parts.number; ++i) {
    const uint64_t next = first + parts.size + (i < parts.longer ? 1 : 0);
    const uint64_t range[] = {b.start + first * b.step, next >= b.iterations ? b.end : b.start + next * b.step};
    request.range = range;
    tasks().make(request);
    first = next;
  }
  if (has_group) GOMP_taskgroup_end();
}

Tasks::Request request(TaskFunction function, void* data, void (*copy)(void*, void*), long bytes, long alignment) {
  instance<Singles>().pass();
  Tasks::Request out;
  out.function = function, out.data = data, out.copy = copy;
  out.bytes = static_cast<size_t>(bytes), out.alignment = static_cast<size_t>(alignment);
  return out;
}

}  // namespace

EXPORT void GOMP_task(TaskFunction function, void* data, void (*copy)(void*, void*), long bytes, long alignment,
                      bool may_be_deferred, unsigned flags, void** depends, int priority, void* detach) {
  if (!tasks().are_shared()) {
    tasks().libgomp_makes();
    return HIROBA_REAL(GOMP_task)(function, data, copy, bytes, alignment, may_be_deferred, flags, depends, priority,
                                  detach);
  }
  Tasks::Request task = request(function, data, copy, bytes, alignment);
  task.may_be_deferred = may_be_deferred, task.is_final = (flags & is_final) != 0;
  task.depends = (flags & has_depend) != 0 ? depends : nullptr;
  tasks().make(task);
}

EXPORT void GOMP_taskwait() {
  if (tasks().are_shared()) tasks().wait();
  else HIROBA_REAL(GOMP_taskwait)();
}

EXPORT void GOMP_taskwait_depend(void** depends) {
  if (tasks().are_shared()) tasks().wait_for(depends);
  else HIROBA_REAL(GOMP_taskwait_depend)(depends);
}

// GCC 13 and newer. An empty task with these dependences may be executed at once, when they hold.
EXPORT void GOMP_taskwait_depend_nowait(void** depends) { GOMP_taskwait_depend(depends); }

EXPORT void GOMP_taskgroup_start() {
  tasks().begin_group();
  HIROBA_REAL(GOMP_taskgroup_start)();
}

EXPORT void GOMP_taskgroup_end() {
  tasks().end_group();
  const InLibgomp libgomp(tasks().worker());
  HIROBA_REAL(GOMP_taskgroup_end)();
}

EXPORT void GOMP_taskloop(TaskFunction function, void* data, void (*copy)(void*, void*), long bytes, long alignment,
                          unsigned flags, unsigned long wanted, int priority, long start, long end, long step) {
  if ((flags & reduces) == 0 && tasks().are_shared())
    return make_taskloop(request(function, data, copy, bytes, alignment), flags, wanted, bounds(start, end, step));
  tasks().libgomp_makes();
  const InLibgomp libgomp(tasks().worker());
  HIROBA_REAL(GOMP_taskloop)(function, data, copy, bytes, alignment, flags, wanted, priority, start, end, step);
}

EXPORT void GOMP_taskloop_ull(TaskFunction function, void* data, void (*copy)(void*, void*), long bytes, long alignment,
                              unsigned flags, unsigned long wanted, int priority, Ull start, Ull end, Ull step) {
  const bool up = (flags & goes_up) != 0;
  if ((flags & reduces) == 0 && tasks().are_shared())
    return make_taskloop(request(function, data, copy, bytes, alignment), flags, wanted, bounds(up, start, end, step));
  tasks().libgomp_makes();
  const InLibgomp libgomp(tasks().worker());
  HIROBA_REAL(GOMP_taskloop_ull)(function, data, copy, bytes, alignment, flags, wanted, priority, start, end, step);
}
