// The functions of omp.h that have to know all ranks, in C and in Fortran; libgomp has the others.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/record/record.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"
#include "sms.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace hiroba;
using namespace hiroba::openmp;

namespace {

Regions& regions() { return instance<Regions>(); }

}  // namespace

// A static loop begins by these two.
EXPORT int omp_get_thread_num() {
  instance<Singles>().pass();
  return member.spans ? member.thread : HIROBA_REAL(omp_get_thread_num)();
}
EXPORT int omp_get_num_threads() {
  instance<Singles>().pass();
  return member.spans ? member.threads : HIROBA_REAL(omp_get_num_threads)();
}
EXPORT int omp_get_max_threads() {
  const int here = HIROBA_REAL(omp_get_max_threads)();
  // A program may allocate for as many threads within a region, too, and index by omp_get_thread_num(). So the rank's
  // own number, which libgomp has for regions within this one, is returned only where the program has set another.
  const bool of_region = member.spans && !member.set_threads && here == regions().sizes().here();
  if (!regions().may_span() && !of_region) return here;
  return requested_threads != 0 ? requested_threads : regions().sizes().all();
}
EXPORT void omp_set_num_threads(int threads) {
  if (regions().may_span()) requested_threads = std::max(threads, 1);
  regions().tasks().keep_threads();
  member.set_threads = true;
  HIROBA_REAL(omp_set_num_threads)(threads);  // also for regions within one rank
}
// In a job of several ranks the number of threads never follows the load.
EXPORT void omp_set_dynamic(int dynamic) {
  if (regions().started()) requested_dynamic = dynamic != 0;
  else HIROBA_REAL(omp_set_dynamic)(dynamic);
}
EXPORT int omp_get_dynamic() {
  return regions().started() ? static_cast<int>(requested_dynamic) : HIROBA_REAL(omp_get_dynamic)();
}
EXPORT int omp_get_num_procs() {
  const int here = HIROBA_REAL(omp_get_num_procs)();
  return regions().started() ? std::max(here, regions().sizes().all()) : here;
}
EXPORT int omp_get_team_num() { return member.spans ? regions().settings().team : HIROBA_REAL(omp_get_team_num)(); }
EXPORT int omp_get_num_teams() { return member.spans ? regions().settings().teams : HIROBA_REAL(omp_get_num_teams)(); }
EXPORT int omp_get_thread_limit() {
  const int limit = member.spans || member.inside ? regions().settings().limit : RegionSettings::thread_limit();
  return limit != 0 ? limit : INT_MAX;
}
EXPORT int omp_get_active_level() {
  return member.spans ? (member.threads > 1 ? 1 : 0) : HIROBA_REAL(omp_get_active_level)() + member.outer.active;
}
EXPORT int omp_in_parallel() { return omp_get_active_level() > 0 ? 1 : 0; }
EXPORT int omp_get_team_size(int level) {
  if (level != 1) return HIROBA_REAL(omp_get_team_size)(level);
  if (member.spans) return member.threads;
  return member.outer.threads > 0 ? member.outer.threads : HIROBA_REAL(omp_get_team_size)(level);
}
EXPORT int omp_get_ancestor_thread_num(int level) {
  if (level != 1) return HIROBA_REAL(omp_get_ancestor_thread_num)(level);
  if (member.spans) return member.thread;
  return member.outer.threads > 0 ? member.outer.thread : HIROBA_REAL(omp_get_ancestor_thread_num)(level);
}

// ---- locks: words in the program's memory ------------------------------------------------------------------------

namespace {

struct NestLock {
  uint32_t lock;
  int32_t count;
  int64_t owner;
};

}  // namespace

EXPORT void omp_set_nest_lock(NestLock*);
EXPORT void omp_unset_nest_lock(NestLock*);

namespace {

// A task owns a nested lock. libgomp writes the address of its task into a lock that it takes; tasks of all ranks need
// different ones.
uint64_t this_owner() {
  NestLock lock = {};
  HIROBA_REAL(omp_set_nest_lock)(&lock);
  const auto task = static_cast<uint64_t>(lock.owner);
  HIROBA_REAL(omp_unset_nest_lock)(&lock);
  return static_cast<uint64_t>(sms_rank + 1) << 48 | task;
}

int take(NestLock* lock, bool waits) {
  instance<Singles>().pass();
  const uint64_t owner = this_owner();
  if (words::load(&lock->owner) == owner) return ++lock->count;
  if (waits) words::lock(&lock->lock);
  else if (!words::try_lock(&lock->lock)) return 0;
  words::swap(&lock->owner, words::load(&lock->owner), owner);
  return lock->count = 1;
}

}  // namespace

EXPORT void omp_init_lock(uint32_t* lock) { *lock = 0; }
EXPORT void omp_destroy_lock(uint32_t*) {}
EXPORT void omp_set_lock(uint32_t* lock) {
  const RecordedCall recorded;
  instance<Singles>().pass();
  words::lock(lock);
}
EXPORT void omp_unset_lock(uint32_t* lock) {
  const RecordedCall recorded;
  words::unlock(lock);
}
EXPORT int omp_test_lock(uint32_t* lock) { return words::try_lock(lock) ? 1 : 0; }
EXPORT void omp_init_nest_lock(NestLock* lock) { std::memset(lock, 0, sizeof *lock); }
EXPORT void omp_destroy_nest_lock(NestLock*) {}
EXPORT void omp_set_nest_lock(NestLock* lock) { take(lock, true); }
EXPORT int omp_test_nest_lock(NestLock* lock) { return take(lock, false); }
EXPORT void omp_unset_nest_lock(NestLock* lock) {
  if (--lock->count > 0) return;
  words::swap(&lock->owner, words::load(&lock->owner), 0);
  words::unlock(&lock->lock);
}

// ---- Fortran -----------------------------------------------------------------------------------------------------

static int clamped(int64_t number) { return static_cast<int>(std::clamp<int64_t>(number, INT32_MIN, INT32_MAX)); }

EXPORT int omp_get_thread_num_() { return omp_get_thread_num(); }
EXPORT int omp_get_num_threads_() { return omp_get_num_threads(); }
EXPORT int omp_get_max_threads_() { return omp_get_max_threads(); }
EXPORT int omp_get_num_procs_() { return omp_get_num_procs(); }
EXPORT int omp_get_dynamic_() { return omp_get_dynamic(); }
EXPORT int omp_get_team_num_() { return omp_get_team_num(); }
EXPORT int omp_get_num_teams_() { return omp_get_num_teams(); }
EXPORT int omp_get_thread_limit_() { return omp_get_thread_limit(); }
EXPORT int omp_in_parallel_() { return omp_in_parallel(); }
EXPORT int omp_get_active_level_() { return omp_get_active_level(); }
EXPORT void omp_set_num_threads_(const int32_t* threads) { omp_set_num_threads(*threads); }
EXPORT void omp_set_dynamic_(const int32_t* dynamic) { omp_set_dynamic(*dynamic); }
EXPORT void omp_set_dynamic_8_(const int64_t* dynamic) { omp_set_dynamic(*dynamic != 0 ? 1 : 0); }
EXPORT void omp_set_num_threads_8_(const int64_t* threads) { omp_set_num_threads(clamped(*threads)); }
EXPORT int omp_get_team_size_(const int32_t* level) { return omp_get_team_size(*level); }
EXPORT int omp_get_team_size_8_(const int64_t* level) { return omp_get_team_size(clamped(*level)); }
EXPORT int omp_get_ancestor_thread_num_(const int32_t* level) { return omp_get_ancestor_thread_num(*level); }
EXPORT int omp_get_ancestor_thread_num_8_(const int64_t* level) { return omp_get_ancestor_thread_num(clamped(*level)); }
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
