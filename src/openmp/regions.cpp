#include "openmp/regions.hpp"

#include <algorithm>
#include <numeric>

#include "base/log.hpp"
#include "openmp/abi.hpp"
#include "openmp/arrays_of_ranks.hpp"
#include "openmp/real.hpp"
#include "openmp/runtime.hpp"
#include "openmp/words.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

void OwnTeam::function(void* own) {
  const OwnTeam& team = *static_cast<OwnTeam*>(own);
  const InProgram program;
  team.function_(team.data_);
}

Status Regions::begin(Memory& memory, const Program& program) {
  memory_ = &memory, program_ = program;
  words::between_nodes = memory.job().nnodes > 1;
  Arrays::Request variables;
  variables.element_bytes = 1, variables.dim = {static_cast<int64_t>(program.end - program.data)}, variables.div = {1};
  variables.call = "the start of an OpenMP program", variables.place = "global variables";
  variables.adopts = reinterpret_cast<const void*>(program.data);
  variables.sparse = true;
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(variables, at));
  HIROBA_REAL(omp_set_dynamic)(0);  // each rank must have the threads that all count on
  HIROBA_TRY(agree_on_threads());
  Arrays::Request common;
  common.element_bytes = sizeof(Common), common.dim = {1}, common.div = {1};
  common.call = variables.call, common.place = "words of OpenMP";
  common.watched = false;
  HIROBA_TRY(memory.arrays().allocate(common, at));
  common_ = static_cast<Common*>(at);
  most_ = std::max(Stacks::least_most, *std::max_element(threads_of_rank_.begin(), threads_of_rank_.end()));
  HIROBA_TRY(stacks_.allocate(memory, most_));
  return queues_.allocate(memory);
}

Status Regions::agree_on_threads() {
  const Job& job = memory_->job();
  const Arrays::Request request = array_of_ranks(job, "numbers of threads", sizeof(int64_t), 1);
  void* at = nullptr;
  HIROBA_TRY(memory_->arrays().allocate(request, at));
  auto* const threads = static_cast<int64_t*>(at);
  threads[job.rank] = HIROBA_REAL(omp_get_max_threads)();
  HIROBA_TRY(memory_->consistency().barrier(request.call));
  for (int r = 0; r < job.nranks; ++r) threads_of_rank_.push_back(static_cast<int>(threads[r]));
  all_threads_ = std::accumulate(threads_of_rank_.begin(), threads_of_rank_.end(), 0);
  return {};
}

// A team of another size is divided evenly.
int Regions::threads_of(int rank, int threads) const {
  if (threads == all_threads_) return threads_of_rank_[static_cast<size_t>(rank)];
  const int64_t ranks = memory_->job().nranks;
  return static_cast<int>(int64_t{threads} * (rank + 1) / ranks - int64_t{threads} * rank / ranks);
}

// Functions of libraries use the libraries' own variables, which are not shared.
bool Regions::spans(Function function, int threads) const {
  const auto at = reinterpret_cast<uint64_t>(function);
  return started() && is_main_thread && !member.spans && HIROBA_REAL(omp_get_level)() == 0 && at >= program_.begin &&
         at < program_.end && (threads == 0 || threads >= memory_->job().nranks);
}

void Regions::wait_for_ranks(const char* call) {
  const InRuntime runtime;
  require(memory_->consistency().barrier(call));
  ++barriers_;
}

void Regions::run(const Work& work) {
  Order& order = common_->order;
  order = {work, false, 0};
  if (order.work.threads == 0) order.work.threads = all_threads_;
  order.work.threads = std::min(order.work.threads, std::max(all_threads_, most_ * memory_->job().nranks));
  const Work mine = order.work;
  wait_for_ranks("the start of a parallel region");
  run_share(mine);
}

int Regions::serve() {
  for (;;) {
    wait_for_ranks("the start of a parallel region");
    const Order order = common_->order;
    if (order.ends) return order.status;
    run_share(order.work);
  }
}

void Regions::end(int status) {
  common_->order = {{}, true, status};
  wait_for_ranks("the end of the program");
}

struct Regions::Share {
  Regions& regions;
  const Work& work;
  int base, locals;
};

void Regions::run_share(const Work& work) {
  const int rank = memory_->job().rank;
  int base = 0;
  for (int r = 0; r < rank; ++r) base += threads_of(r, work.threads);
  Share share = {*this, work, base, threads_of(rank, work.threads)};
  HIROBA_REAL(GOMP_parallel)(run_member, &share, static_cast<unsigned>(share.locals), work.flags);
  wait_for_ranks("the end of a parallel region");
  queues_.clear(barriers_ - 1, shares_);
}

void Regions::run_member(void* argument) {
  const Share& share = *static_cast<Share*>(argument);
  const Work& work = share.work;
  const int local = HIROBA_REAL(omp_get_thread_num)(), threads = HIROBA_REAL(omp_get_num_threads)();
  if (threads != share.locals)
    end_job(1, "a parallel region got %d threads of this rank in the place of %d; raise OMP_THREAD_LIMIT", threads,
            share.locals);
  const Member before = member;
  member = {};
  member.spans = true, member.thread = share.base + local, member.threads = work.threads;
  member.local = local, member.locals = share.locals;
  member.barriers = share.regions.barriers_, member.loop = work.loop;
  member.sections = work.sections, member.section = static_cast<unsigned>(member.thread);
  member.shares = work.has_loop || work.sections > 0 ? 1 : 0;
  {
    Stacks::handle_faults_elsewhere();
    const InProgram program;
    // Rank 0's first thread is on its shared stack already.
    if (is_main_thread) work.function(work.data);
    else share.regions.stacks_.call_on(local, work.function, work.data);
  }
  if (local == 0) share.regions.shares_ = member.shares;
  member = before;
}

// The threads of the rank meet, with their tasks done; then the ranks; then the threads go on.
void Regions::barrier() {
  HIROBA_REAL(GOMP_barrier)();
  if (member.local == 0) wait_for_ranks("a barrier of OpenMP");
  if (member.locals > 1) HIROBA_REAL(GOMP_barrier)();
  ++member.barriers;
  if (member.local == 0) queues_.clear(barriers_ - 1, member.shares);
  member.shares = 0;
}

}  // namespace hiroba::openmp
