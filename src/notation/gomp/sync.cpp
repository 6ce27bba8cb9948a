// Regions, barriers, and exclusion of GCC's OpenMP runtime.
#include <cstdint>

#include "base/log.hpp"
#include "base/record/record.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace hiroba;
using namespace hiroba::openmp;

namespace {

Regions& regions() { return instance<Regions>(); }

}  // namespace

EXPORT void GOMP_parallel(Function function, void* data, unsigned threads, unsigned flags) {
  const int team = regions().team(function, threads);
  if (team == 0) {
    OwnTeam own(function, data);
    return HIROBA_REAL(GOMP_parallel)(OwnTeam::function, &own, own.threads(threads), flags);
  }
  Work work;
  work.function = function, work.data = data, work.threads = team, work.flags = flags;
  regions().run(work);
}

// libgomp knows no dependences of tasks that all ranks execute. So a construct of the target waits for these, and then
// happens at once: the host gains nothing by doing it later.
static void wait_for_dependences(unsigned& flags, void**& depend) {
  constexpr unsigned is_nowait = 1;
  Tasks& tasks = regions().tasks();
  if (!tasks.are_shared()) return;
  if (depend != nullptr) tasks.wait_for(depend);
  depend = nullptr, flags &= ~is_nowait;
}

EXPORT void GOMP_target_update_ext(int device, size_t count, void** addresses, size_t* sizes, unsigned short* kinds,
                                   unsigned flags, void** depend) {
  wait_for_dependences(flags, depend);
  HIROBA_REAL(GOMP_target_update_ext)(device, count, addresses, sizes, kinds, flags, depend);
}

EXPORT void GOMP_target_enter_exit_data(int device, size_t count, void** addresses, size_t* sizes,
                                        unsigned short* kinds, unsigned flags, void** depend) {
  wait_for_dependences(flags, depend);
  HIROBA_REAL(GOMP_target_enter_exit_data)(device, count, addresses, sizes, kinds, flags, depend);
}

// The target is the host: a thread of its own, without a team, and with what holds at the start of the program.
EXPORT void GOMP_target_ext(int device, Function function, size_t count, void** addresses, size_t* sizes,
                            unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
  wait_for_dependences(flags, depend);
  const bool outermost = regions().may_span();
  const int threads = requested_threads;
  const bool dynamic = requested_dynamic;
  if (outermost) requested_threads = 0, requested_dynamic = false;
  {
    const OutsideTeam outside(false);
    HIROBA_REAL(GOMP_target_ext)(device, function, count, addresses, sizes, kinds, flags, depend, arguments);
  }
  if (outermost) requested_threads = threads, requested_dynamic = dynamic;
}

EXPORT void GOMP_barrier() {
  if (member.spans) regions().barrier();
  else HIROBA_REAL(GOMP_barrier)();
}

EXPORT bool GOMP_barrier_cancel() {
  if (!member.spans) return HIROBA_REAL(GOMP_barrier_cancel)();
  return regions().barrier_or_cancel();
}

// ---- cancellation: tasks are libgomp's ---------------------------------------------------------------------------

EXPORT bool GOMP_cancellation_point(int which) {
  if (!member.spans) return HIROBA_REAL(GOMP_cancellation_point)(which);
  const Cancellation& cancellation = regions().cancellation();
  if (!cancellation.on()) return false;
  if ((which & (cancels_loop | cancels_sections)) != 0) return cancellation.share_is_cancelled();
  if (which == cancels_parallel) return cancellation.region_is_cancelled();
  return HIROBA_REAL(GOMP_cancellation_point)(which) || cancellation.region_is_cancelled();
}

EXPORT bool GOMP_cancel(int which, bool cancels) {
  if (!member.spans) return HIROBA_REAL(GOMP_cancel)(which, cancels);
  Cancellation& cancellation = regions().cancellation();
  if (!cancels || !cancellation.on()) return GOMP_cancellation_point(which);
  if (which == cancels_parallel) return cancellation.cancel_region();
  if ((which & (cancels_loop | cancels_sections)) == 0) return HIROBA_REAL(GOMP_cancel)(which, true);
  return cancellation.cancel_share(), true;
}

// ---- single: by a thread of rank 0 -------------------------------------------------------------------------------

EXPORT bool GOMP_single_start() {
  const RecordedCall recorded;
  return member.spans ? instance<Singles>().start() : HIROBA_REAL(GOMP_single_start)();
}

EXPORT void* GOMP_single_copy_start() {
  if (!member.spans) return HIROBA_REAL(GOMP_single_copy_start)();
  if (member.thread == 0) return nullptr;
  return regions().take_copied();
}

EXPORT void GOMP_single_copy_end(void* data) {
  if (!member.spans) return HIROBA_REAL(GOMP_single_copy_end)(data);
  regions().give_copied(data);
}

// ---- exclusion ---------------------------------------------------------------------------------------------------

EXPORT void GOMP_critical_start() {
  if (!regions().started()) return HIROBA_REAL(GOMP_critical_start)();
  const RecordedCall recorded;
  instance<Singles>().pass();
  words::lock(&regions().locks().critical);
}
EXPORT void GOMP_critical_end() {
  if (!regions().started()) return HIROBA_REAL(GOMP_critical_end)();
  const RecordedCall recorded;
  words::unlock(&regions().locks().critical);
}
// `name`: a variable of the program, of the size of a pointer, that belongs to the name.
EXPORT void GOMP_critical_name_start(void** name) {
  if (!regions().started()) return HIROBA_REAL(GOMP_critical_name_start)(name);
  const RecordedCall recorded;
  instance<Singles>().pass();
  words::lock(reinterpret_cast<uint32_t*>(name));
}
EXPORT void GOMP_critical_name_end(void** name) {
  if (!regions().started()) return HIROBA_REAL(GOMP_critical_name_end)(name);
  const RecordedCall recorded;
  words::unlock(reinterpret_cast<uint32_t*>(name));
}
EXPORT void GOMP_atomic_start() {
  if (!regions().started()) return HIROBA_REAL(GOMP_atomic_start)();
  const RecordedCall recorded;
  instance<Singles>().pass();
  words::lock(&regions().locks().atomic);
}
EXPORT void GOMP_atomic_end() {
  if (!regions().started()) return HIROBA_REAL(GOMP_atomic_end)();
  const RecordedCall recorded;
  words::unlock(&regions().locks().atomic);
}
