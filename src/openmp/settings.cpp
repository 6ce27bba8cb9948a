#include "openmp/settings.hpp"

#include <climits>

#include "openmp/abi.hpp"
#include "openmp/program/runtime.hpp"

namespace hiroba::openmp {

int RegionSettings::thread_limit() {
  const int limit = HIROBA_REAL(omp_get_thread_limit)();
  return limit == INT_MAX ? 0 : limit;
}

RegionSettings RegionSettings::current() {
  RegionSettings now;
  HIROBA_REAL(omp_get_schedule)(&now.schedule, &now.chunk);
  now.active_levels = HIROBA_REAL(omp_get_max_active_levels)();
  now.device = HIROBA_REAL(omp_get_default_device)();
  now.allocator = HIROBA_REAL(omp_get_default_allocator)();
  now.threads = requested_threads, now.dynamic = requested_dynamic;
  now.limit = thread_limit();
  now.team = HIROBA_REAL(omp_get_team_num)(), now.teams = HIROBA_REAL(omp_get_num_teams)();
  return now;
}

void RegionSettings::apply() const {
  HIROBA_REAL(omp_set_schedule)(schedule, chunk);
  HIROBA_REAL(omp_set_max_active_levels)(active_levels);
  HIROBA_REAL(omp_set_default_device)(device);
  HIROBA_REAL(omp_set_default_allocator)(allocator);
  if (threads != 0) HIROBA_REAL(omp_set_num_threads)(threads);
  requested_threads = threads, requested_dynamic = dynamic;
}

}  // namespace hiroba::openmp
