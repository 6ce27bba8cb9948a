// The functions of omp.h that have to know all ranks, in C and in Fortran; libgomp has the others.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/thread.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"
#include "sms.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace hiroba;
using namespace hiroba::openmp;

namespace {

Regions& regions() { return instance<Regions>(); }

// Outside of regions, or in a task there: a region would be for all ranks.
bool may_span() { return regions().started() && is_main_thread && !member.spans && HIROBA_REAL(omp_get_level)() == 0; }

}  // namespace

EXPORT int omp_get_thread_num() { return member.spans ? member.thread : HIROBA_REAL(omp_get_thread_num)(); }
EXPORT int omp_get_num_threads() { return member.spans ? member.threads : HIROBA_REAL(omp_get_num_threads)(); }
EXPORT int omp_get_max_threads() {
  if (!may_span()) return HIROBA_REAL(omp_get_max_threads)();
  return requested_threads != 0 ? requested_threads : regions().threads();
}
EXPORT void omp_set_num_threads(int threads) {
  if (may_span()) requested_threads = std::max(threads, 1);
  else HIROBA_REAL(omp_set_num_threads)(threads);
}
// In a job of several ranks the number of threads never follows the load.
EXPORT void omp_set_dynamic(int dynamic) {
  if (!regions().started()) HIROBA_REAL(omp_set_dynamic)(dynamic);
}
EXPORT int omp_get_num_procs() {
  const int here = HIROBA_REAL(omp_get_num_procs)();
  return regions().started() ? std::max(here, regions().threads()) : here;
}
EXPORT int omp_get_thread_limit() {
  const int here = HIROBA_REAL(omp_get_thread_limit)();
  return regions().started() ? std::max(here, regions().threads()) : here;
}
EXPORT int omp_in_parallel() { return member.spans ? member.threads > 1 : HIROBA_REAL(omp_in_parallel)(); }
EXPORT int omp_get_active_level() {
  return member.spans ? (member.threads > 1 ? 1 : 0) : HIROBA_REAL(omp_get_active_level)();
}
EXPORT int omp_get_team_size(int level) {
  return member.spans && level == 1 ? member.threads : HIROBA_REAL(omp_get_team_size)(level);
}
EXPORT int omp_get_ancestor_thread_num(int level) {
  return member.spans && level == 1 ? member.thread : HIROBA_REAL(omp_get_ancestor_thread_num)(level);
}

// ---- locks: words in the program's memory ------------------------------------------------------------------------

namespace {

struct NestLock {
  uint32_t lock;
  int32_t count;
  uint64_t owner;
};

uint64_t this_owner() { return static_cast<uint64_t>(sms_rank + 1) << 32 | static_cast<uint32_t>(this_thread()); }

int take(NestLock* lock, bool waits) {
  if (words::load(&lock->owner, 8) == this_owner()) return ++lock->count;
  if (waits) words::lock(&lock->lock);
  else if (!words::try_lock(&lock->lock)) return 0;
  words::swap(&lock->owner, 8, words::load(&lock->owner, 8), this_owner());
  return lock->count = 1;
}

}  // namespace

EXPORT void omp_init_lock(uint32_t* lock) { *lock = 0; }
EXPORT void omp_destroy_lock(uint32_t*) {}
EXPORT void omp_set_lock(uint32_t* lock) { words::lock(lock); }
EXPORT void omp_unset_lock(uint32_t* lock) { words::unlock(lock); }
EXPORT int omp_test_lock(uint32_t* lock) { return words::try_lock(lock) ? 1 : 0; }
EXPORT void omp_init_nest_lock(NestLock* lock) { std::memset(lock, 0, sizeof *lock); }
EXPORT void omp_destroy_nest_lock(NestLock*) {}
EXPORT void omp_set_nest_lock(NestLock* lock) { take(lock, true); }
EXPORT int omp_test_nest_lock(NestLock* lock) { return take(lock, false); }
EXPORT void omp_unset_nest_lock(NestLock* lock) {
  if (--lock->count > 0) return;
  words::swap(&lock->owner, 8, this_owner(), 0);
  words::unlock(&lock->lock);
}

// ---- Fortran -----------------------------------------------------------------------------------------------------

EXPORT int omp_get_thread_num_() { return omp_get_thread_num(); }
EXPORT int omp_get_num_threads_() { return omp_get_num_threads(); }
EXPORT int omp_get_max_threads_() { return omp_get_max_threads(); }
EXPORT int omp_get_num_procs_() { return omp_get_num_procs(); }
EXPORT int omp_get_thread_limit_() { return omp_get_thread_limit(); }
EXPORT int omp_in_parallel_() { return omp_in_parallel(); }
EXPORT int omp_get_active_level_() { return omp_get_active_level(); }
EXPORT void omp_set_num_threads_(const int32_t* threads) { omp_set_num_threads(*threads); }
EXPORT void omp_set_dynamic_(const int32_t* dynamic) { omp_set_dynamic(*dynamic); }
EXPORT void omp_set_dynamic_8_(const int64_t* dynamic) { omp_set_dynamic(*dynamic != 0 ? 1 : 0); }
EXPORT void omp_set_num_threads_8_(const int64_t* threads) { omp_set_num_threads(static_cast<int>(*threads)); }
EXPORT int omp_get_team_size_(const int32_t* level) { return omp_get_team_size(*level); }
EXPORT int omp_get_team_size_8_(const int64_t* level) { return omp_get_team_size(static_cast<int>(*level)); }
EXPORT int omp_get_ancestor_thread_num_(const int32_t* level) { return omp_get_ancestor_thread_num(*level); }
EXPORT int omp_get_ancestor_thread_num_8_(const int64_t* level) {
  return omp_get_ancestor_thread_num(static_cast<int>(*level));
}
EXPORT void omp_init_lock_(uint32_t* lock) { omp_init_lock(lock); }
EXPORT void omp_destroy_lock_(uint32_t*) {}
EXPORT void omp_set_lock_(uint32_t* lock) { omp_set_lock(lock); }
EXPORT void omp_unset_lock_(uint32_t* lock) { omp_unset_lock(lock); }
EXPORT int omp_test_lock_(uint32_t* lock) { return omp_test_lock(lock); }
EXPORT void omp_init_nest_lock_(NestLock** lock) { *lock = static_cast<NestLock*>(std::calloc(1, sizeof **lock)); }
EXPORT void omp_destroy_nest_lock_(NestLock** lock) { std::free(*lock); }
EXPORT void omp_set_nest_lock_(NestLock** lock) { omp_set_nest_lock(*lock); }
EXPORT void omp_unset_nest_lock_(NestLock** lock) { omp_unset_nest_lock(*lock); }
EXPORT int omp_test_nest_lock_(NestLock** lock) { return omp_test_nest_lock(*lock); }
