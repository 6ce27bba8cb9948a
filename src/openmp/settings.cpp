#include "openmp/settings.hpp"

#include <algorithm>
#include <climits>
#include <numeric>

#include "base/log.hpp"
#include "openmp/program/abi.hpp"
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

Status TeamSizes::agree(Memory& memory) {
  const Job& job = memory.job();
  const Arrays::Request request = array_of_ranks(job, "numbers of threads", sizeof(int64_t), 1);
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(request, at));
  auto* const threads = static_cast<int64_t*>(at);
  here_ = HIROBA_REAL(omp_get_max_threads)();
  threads[job.rank] = here_;
  HIROBA_TRY(memory.consistency().barrier(request.call));
  for (int r = 0; r < job.nranks; ++r) of_rank_.push_back(static_cast<int>(threads[r]));
  all_ = std::accumulate(of_rank_.begin(), of_rank_.end(), 0);
  if (const int limit = RegionSettings::thread_limit(); limit != 0 && limit < job.nranks && job.rank == 0)
    log_line("OMP_THREAD_LIMIT=%d is less than one thread for each of the %d ranks: all regions run on rank 0", limit,
             job.nranks);
  return {};
}

int TeamSizes::largest() const { return *std::max_element(of_rank_.begin(), of_rank_.end()); }

int TeamSizes::of(int rank, int threads) const {
  if (threads == all_) return of_rank_[static_cast<size_t>(rank)];
  const auto ranks = static_cast<int64_t>(of_rank_.size());
  if (threads < ranks) return rank < threads ? 1 : 0;
  return static_cast<int>(int64_t{threads} * (rank + 1) / ranks - int64_t{threads} * rank / ranks);
}

}  // namespace hiroba::openmp
