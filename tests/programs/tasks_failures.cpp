// Failures of tasks that no wait hands to the program, and calls of all ranks in tasks, by name; tasks_misuse.py checks
// what comes of them.
#include <blas.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <task_values.hpp>
#include <thread>

#include "task_cases.hpp"

using hiroba::in;
using hiroba::out;

namespace {

// ---- a failure that no wait hands to the program -------------------------------------------------------------------

int* spill() {
  int* const a = numbers(100);
  hiroba::task(out(a[99]), hiroba::name("boom"), [] { throw std::runtime_error("spilled"); });
  return a;
}

void throws_before_barrier() { spill(), sms_barrier(); }
void throws_before_split_barrier() { spill(), sms_sync_drop_start(), sms_sync_drop_wait(); }
void throws_before_free() { sms_free(spill()); }
void throws_before_end() { spill(); }
void throws_before_wait_in_c() { spill(), hiroba_taskwait(); }
void throws_before_wait_for_data_in_c() {
  const hiroba_access last = hiroba_use(HIROBA_IN, spill() + 99, sizeof(int));
  hiroba_taskwait_on(&last, 1);
}
void throws_before_wait_for_data() { hiroba::taskwait(in(spill()[99])); }
void throws_no_exception() {
  hiroba::task(out(numbers(100)[99]), hiroba::name("boom"), [] { throw 42; });
  sms_barrier();
}
void child_throws_before_end() {
  hiroba::task(out(numbers(100)[99]), hiroba::name("boom"),
               [] { hiroba::task([] { throw std::runtime_error("spilled"); }); });
}
void throws_in_left_out_task() {  // other ranks know of no task
  hiroba::task_parts(true);
  int* const a = numbers(8192);
  if (sms_rank == sms_nprocs - 1)
    hiroba::task(out(a[8191]), hiroba::name("boom"), [] { throw std::runtime_error("spilled"); });
  sms_barrier();
}
void fails_outside() { hiroba_task_fail(nullptr, "no reason"); }
void get_of_nothing() { hiroba::future<int>().get(); }

// ---- calls of all ranks in a task ----------------------------------------------------------------------------------

template <typename Function>
void in_task(const Function& function) {
  int* const a = numbers(100);
  hiroba::task(out(a[0]), hiroba::name("inner"), [=] { function(a); });
  hiroba::taskwait();
}

void barrier_in_task() {
  in_task([](int*) { sms_barrier(); });
}
void alloc_in_task() {
  in_task([](int*) { sms_alloc(4, 4, 0); });
}
void end_in_task() {
  in_task([](int*) { sms_shutdown(); });
}
void run_in_task() {
  hiroba::graph g([] { hiroba::task([] {}); });
  in_task([&g](int*) { g.run(2); });
}
void collective_in_task() {
  in_task([](int*) {
    int sum = 1;
    hiroba_allreduce(HIROBA_IN_PLACE, &sum, 1, HIROBA_INT, HIROBA_SUM, HIROBA_ALL);
  });
}
void reduction_in_task() {
  in_task([](int*) { sms_reduce_double(1, SMS_SUM); });
}
void blas_in_task() {
  in_task([](int* a) { hiroba_sscal(2, 3, reinterpret_cast<float*>(a), 1); });
}
void team_in_task() {
  in_task([](int*) {
    hiroba_team team;
    hiroba_team_split(HIROBA_ALL, 0, 0, &team);
  });
}
void barrier_in_graph() {
  hiroba::graph g([] { sms_barrier(); });
  g.run(2);
}
void collective_in_task_of_all() {  // each rank runs it, so this is as good as outside
  int own = 1, sum = 0;
  hiroba::task(in(own), out(sum), [&] { hiroba_allreduce(&own, &sum, 1, HIROBA_INT, HIROBA_SUM, HIROBA_ALL); });
  hiroba::taskwait();
  if (sum != sms_nprocs) fail("a collective operation in a task of all ranks has the sum %d", sum);
}

// ---- calls that use what tasks have not made yet -------------------------------------------------------------------

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

void reduced_too_early(const int* data) {
  int sum = 0;
  hiroba_allreduce(data, &sum, 1, HIROBA_INT, HIROBA_SUM, HIROBA_ALL);
}
void private_too_early() {
  int own = 0;
  hiroba::task(out(own), [&] { pause(), own = 1; });
  reduced_too_early(&own);
}
void shared_too_early() {
  int* const a = numbers(100);
  hiroba::task(out(a, 100), [=] { pause(), a[99] = 1; });
  reduced_too_early(a + 99);
}
void written_too_early() {
  int own = 0, other = 1;
  hiroba::task(in(own), [&] { pause(); });
  hiroba_bcast(sms_rank == 0 ? &other : &own, 1, HIROBA_INT, 0, HIROBA_ALL);
}
void after_wait_for_data() {
  int* const a = numbers(100);
  int own = 0, sum = 0;
  hiroba::task(out(a, 100), [=] { a[99] = 1; });
  hiroba::task(out(a[0]), [=] { pause(); });
  hiroba::task(out(own), [&] { own = 1; });
  hiroba::taskwait(in(a[99]), in(own));
  for (const int* const each : {const_cast<const int*>(a + 99), const_cast<const int*>(&own)}) {
    hiroba_allreduce(each, &sum, 1, HIROBA_INT, HIROBA_SUM, HIROBA_ALL);
    if (sum != sms_nprocs) fail("the sum of what was waited for is %d", sum);
  }
}
void blas_after_tasks() {
  float* const x = reinterpret_cast<float*>(numbers(100));
  for (int i = 0; i < 100; i += 10) hiroba::task(out(x + i, 10), [=] { pause(), std::fill(x + i, x + i + 10, 1.0F); });
  if (const float sum = hiroba_sasum(100, x, 1); sum != 100) fail("the sum of what tasks write is %g", sum);
}

// ---- arguments, and what was freed ---------------------------------------------------------------------------------

void tiles_of_nothing() { hiroba::tiles<int>(numbers(100), 10, 10, 0, 5); }
void tiles_of_less() { hiroba::tiles<int>(numbers(100), 10, 10, 2, -5); }
void tiles_of_negative() { hiroba::tiles<int>(numbers(100), -10, 10, 2, 5); }
void tiles_of_close_rows() { hiroba::tiles<int>(numbers(100), 10, 10, 2, 5, 8); }
void tiles_larger() {
  const hiroba::tiles<int> tiles(numbers(100), 10, 10, 64, 64);
  if (tiles.rows() != 1 || tiles.columns() != 1 || tiles.tile(0, 0).rows() != 10) fail("a tile of a matrix is not it");
}
void loop_of_nothing() {
  hiroba::taskloop(0, 10, 0, [](int64_t, int64_t) { return std::tuple<>(); }, [](int64_t, int64_t) {});
}
hiroba_graph* freed_graph() {
  hiroba_graph* const graph = hiroba_graph_create([](void*) {}, nullptr, "here");
  hiroba_graph_free(graph);
  return graph;
}
void run_of_freed() {
  void* failure = nullptr;
  hiroba_graph_run(freed_graph(), 1, "tasks_failures.cpp:1", &failure);
}
void free_of_freed() { hiroba_graph_free(freed_graph()); }

}  // namespace

int main(int argc, char** argv) {
  // clang-format off: it would give each case a line
  return run_case(argc, argv, {
    CASE(private_too_early), CASE(shared_too_early), CASE(written_too_early), CASE(after_wait_for_data),
    CASE(blas_after_tasks), CASE(tiles_of_nothing), CASE(tiles_of_less), CASE(tiles_of_negative),
    CASE(tiles_of_close_rows), CASE(tiles_larger), CASE(loop_of_nothing), CASE(run_of_freed), CASE(free_of_freed),
    CASE(throws_before_barrier), CASE(throws_before_split_barrier), CASE(throws_before_free), CASE(throws_before_end),
    CASE(throws_before_wait_in_c), CASE(throws_before_wait_for_data_in_c), CASE(throws_before_wait_for_data),
    CASE(throws_no_exception), CASE(child_throws_before_end), CASE(throws_in_left_out_task), CASE(fails_outside),
    CASE(get_of_nothing), CASE(barrier_in_task), CASE(alloc_in_task), CASE(end_in_task), CASE(run_in_task),
    CASE(collective_in_task), CASE(reduction_in_task), CASE(blas_in_task), CASE(team_in_task), CASE(barrier_in_graph),
    CASE(collective_in_task_of_all)});
  // clang-format on
}
