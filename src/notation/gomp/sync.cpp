// Regions, barriers, and exclusion of GCC's OpenMP runtime.
#include <cstdint>

#include "base/log.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace hiroba;
using namespace hiroba::openmp;

namespace {

// OMP_CANCELLATION is for teams of one rank.
constexpr int cancels_taskgroup = 8;

unsigned threads_of(unsigned asked) { return asked != 0 ? asked : static_cast<unsigned>(requested_threads); }

}  // namespace

EXPORT void GOMP_parallel(Function function, void* data, unsigned threads, unsigned flags) {
  Regions& regions = instance<Regions>();
  threads = threads_of(threads);
  if (!regions.spans(function, static_cast<int>(threads))) {
    OwnTeam own(function, data);
    return HIROBA_REAL(GOMP_parallel)(OwnTeam::function, &own, threads, flags);
  }
  Work work;
  work.function = function, work.data = data, work.threads = static_cast<int>(threads), work.flags = flags;
  regions.run(work);
}

// Reductions of tasks: libgomp keeps their data, for a team of one rank.
EXPORT unsigned GOMP_parallel_reductions(Function function, void* data, unsigned threads, unsigned flags) {
  const openmp::Member before = member;
  member = {};
  const unsigned all = HIROBA_REAL(GOMP_parallel_reductions)(function, data, threads, flags);
  member = before;
  return all;
}

EXPORT void GOMP_barrier() {
  if (member.spans) instance<Regions>().barrier();
  else HIROBA_REAL(GOMP_barrier)();
}

EXPORT bool GOMP_barrier_cancel() {
  if (!member.spans) return HIROBA_REAL(GOMP_barrier_cancel)();
  return instance<Regions>().barrier(), false;
}

EXPORT bool GOMP_cancel(int which, bool cancels) {
  if (member.spans && which != cancels_taskgroup) return false;
  return HIROBA_REAL(GOMP_cancel)(which, cancels);
}

EXPORT bool GOMP_cancellation_point(int which) {
  if (member.spans && which != cancels_taskgroup) return false;
  return HIROBA_REAL(GOMP_cancellation_point)(which);
}

// ---- single: by the first thread ---------------------------------------------------------------------------------

EXPORT bool GOMP_single_start() { return member.spans ? member.thread == 0 : HIROBA_REAL(GOMP_single_start)(); }

EXPORT void* GOMP_single_copy_start() {
  if (!member.spans) return HIROBA_REAL(GOMP_single_copy_start)();
  if (member.thread == 0) return nullptr;
  instance<Regions>().barrier();
  return *instance<Regions>().copied();
}

EXPORT void GOMP_single_copy_end(void* data) {
  if (!member.spans) return HIROBA_REAL(GOMP_single_copy_end)(data);
  *instance<Regions>().copied() = data;
  instance<Regions>().barrier();
}

// ---- exclusion ---------------------------------------------------------------------------------------------------

EXPORT void GOMP_critical_start() {
  if (!instance<Regions>().started()) return HIROBA_REAL(GOMP_critical_start)();
  words::lock(instance<Regions>().critical_lock());
}
EXPORT void GOMP_critical_end() {
  if (!instance<Regions>().started()) return HIROBA_REAL(GOMP_critical_end)();
  words::unlock(instance<Regions>().critical_lock());
}
// `name`: a variable of the program, of the size of a pointer, that belongs to the name.
EXPORT void GOMP_critical_name_start(void** name) {
  if (!instance<Regions>().started()) return HIROBA_REAL(GOMP_critical_name_start)(name);
  words::lock(reinterpret_cast<uint32_t*>(name));
}
EXPORT void GOMP_critical_name_end(void** name) {
  if (!instance<Regions>().started()) return HIROBA_REAL(GOMP_critical_name_end)(name);
  words::unlock(reinterpret_cast<uint32_t*>(name));
}
EXPORT void GOMP_atomic_start() {
  if (!instance<Regions>().started()) return HIROBA_REAL(GOMP_atomic_start)();
  words::lock(instance<Regions>().atomic_lock());
}
EXPORT void GOMP_atomic_end() {
  if (!instance<Regions>().started()) return HIROBA_REAL(GOMP_atomic_end)();
  words::unlock(instance<Regions>().atomic_lock());
}
