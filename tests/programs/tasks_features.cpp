// What random_tasks.cpp does not reach: graphs, exceptions, tasks that end later than their function, large arguments,
// loops of tasks, priorities, waits for data, and OpenMP inside of a task. Prints "ok" on rank 0.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <task_values.hpp>
#include <thread>
#include <vector>

#include "programs.h"

using hiroba::in;
using hiroba::inout;
using hiroba::out;

namespace {

void check(bool right, const char* what) {
  if (!right) fail("%s", what);
}

struct alignas(64) Cell {
  uint64_t value = 0;
};

// A 3-point stencil with two buffers; one iteration of the graph is two steps.
void graph_equals_loop(int width, int steps) {
  const int dim[] = {2, width, -1}, div[] = {1, width < sms_nprocs ? width : sms_nprocs, -1};
  Cell* const shared = static_cast<Cell*>(sms_mapalloc(dim, div, sizeof(Cell), 0, sms_nprocs));
  std::vector<Cell> own(static_cast<size_t>(2 * width));
  const auto update = [width](Cell* cells, int from, int i) {
    Cell* const row = cells + from * width;
    const uint64_t left = row[i > 0 ? i - 1 : 0].value, right = row[i < width - 1 ? i + 1 : i].value;
    cells[(1 - from) * width + i].value = mix(left) + 3 * mix(row[i].value) + 5 * mix(right) + 1;
  };
  hiroba::graph two_steps([&] {
    for (int from = 0; from < 2; ++from)
      for (int i = 0; i < width; ++i) {
        Cell* const row = shared + from * width;
        hiroba::task(in(row[i > 0 ? i - 1 : 0]), in(row[i]), in(row[i < width - 1 ? i + 1 : i]),
                     out(shared[(1 - from) * width + i]), [=] { update(shared, from, i); });
      }
  });
  for (int round = 0; round < 3; ++round) {  // the second and third time it is recorded already
    two_steps.run(steps);
    for (int s = 0; s < 2 * steps; ++s)
      for (int i = 0; i < width; ++i) update(own.data(), s % 2, i);
    for (int i = 0; i < 2 * width; ++i)
      check(shared[i].value == own[static_cast<size_t>(i)].value, "a graph and the loop that it stands for differ");
    sms_barrier();
  }
  sms_free(shared);
}

// Independent tasks, commutative ones and children, again and again.
void graph_of_everything() {
  uint64_t sum = 0, last = 0;
  std::vector<uint64_t> parts(8, 0);
  hiroba::graph g([&] {
    for (size_t i = 0; i < parts.size(); ++i)
      hiroba::task(inout(parts[i]), [&, i] {
        uint64_t half[2];
        hiroba::task(out(half[0]), [&] { half[0] = i; });
        hiroba::task(out(half[1]), [&] { half[1] = 1; });
        hiroba::taskwait();
        parts[i] += half[0] + half[1];
      });
    for (size_t i = 0; i < parts.size(); ++i)
      hiroba::task(in(parts[i]), hiroba::commutative(sum), [&, i] { sum += parts[i]; });
    hiroba::task(in(sum), out(last), [&] { last = sum; });
  });
  g.run(10);
  uint64_t expected = 0;
  for (uint64_t iteration = 1; iteration <= 10; ++iteration) expected += iteration * (28 + 8);
  check(sum == expected && last == expected, "a graph with children and commutative tasks has a wrong sum");
}

// A bug of 2026-11: two that nothing comes before ran at once.
void graph_that_begins_with_commutative_tasks() {
  int64_t* const sum = static_cast<int64_t*>(sms_alloc(sizeof *sum, 1, 0));
  std::atomic<int> inside = 0, most = 0;
  hiroba::graph g([&] {
    for (int i = 0; i < 4; ++i)
      hiroba::task(hiroba::commutative(*sum), [&] {
        most = std::max(most.load(), ++inside);
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
        while (std::chrono::steady_clock::now() < end) continue;
        ++*sum, --inside;
      });
  });
  for (int run = 0; run < 200; ++run) g.run(1);
  check(most <= 1, "two commutative tasks of a graph ran at once");
  sms_barrier();
  check(*sum == 800, "a graph of commutative tasks has a wrong sum");
  sms_barrier();
  sms_free(sum);
}

// Blocks that go from rank to rank, larger than a message, of tasks that end later than their function.
void graph_of_large_blocks() {
  constexpr int64_t numbers = 1 << 16;
  const int dim[] = {sms_nprocs, static_cast<int>(numbers), -1}, div[] = {sms_nprocs, 1, -1};
  uint64_t* const blocks = static_cast<uint64_t*>(sms_mapalloc(dim, div, sizeof(uint64_t), 0, sms_nprocs));
  hiroba::graph g([&] {
    for (int r = 0; r < sms_nprocs; ++r) {
      const uint64_t* const from = blocks + (r + 1) % sms_nprocs * numbers;
      uint64_t* const to = blocks + r * numbers;
      hiroba::task(in(from, numbers), inout(to, numbers), [=] {
        for (int64_t i = 0; i < numbers; ++i) to[i] = to[i] + 3 * from[i] + static_cast<uint64_t>(r + 1);
        hiroba_task_let_go(hiroba_task_hold());
      });
    }
  });
  std::vector<uint64_t> expected(static_cast<size_t>(sms_nprocs), 0);
  for (const int times : {1, 20, 7}) {
    g.run(times);
    for (int i = 0; i < times; ++i)
      for (size_t r = 0; r < expected.size(); ++r) expected[r] += 3 * expected[(r + 1) % expected.size()] + r + 1;
    for (int64_t i = 0; i < sms_nprocs * numbers; ++i)
      check(blocks[i] == expected[static_cast<size_t>(i / numbers)], "a graph has lost part of a large block");
    sms_barrier();
  }
  sms_free(blocks);
}

// The last rank's task throws in the fifth iteration; the graph can run again.
void graph_that_throws() {
  int* const counts = static_cast<int*>(sms_alloc(sizeof(int), sms_nprocs, 0));
  int limit = 4, caught_on = -1;
  hiroba::graph g([&] {
    for (int r = 0; r < sms_nprocs; ++r)
      hiroba::task(inout(counts[r]), in(counts[(r + 1) % sms_nprocs]), hiroba::on(r), [&, r] {
        if (r == sms_nprocs - 1 && counts[r] == limit) throw std::runtime_error("enough");
        ++counts[r];
      });
  });
  try {
    g.run(10);
  } catch (const hiroba::task_failed& e) {
    caught_on = e.rank();
  } catch (const std::runtime_error&) {
    caught_on = sms_rank;
  }
  check(caught_on == sms_nprocs - 1, "a task of a graph threw on one rank, and run() did not say so");
  check(counts[sms_nprocs - 1] == 4, "a task of a graph ran after one had thrown");
  sms_barrier();
  limit = 100;
  g.run(3);
  check(counts[sms_nprocs - 1] == 7, "a graph in which a task has thrown does not run again");
  sms_free(counts);
}

void exceptions() {
  int value = 0;
  for (int round = 0; round < 3; ++round) {
    std::string caught;
    hiroba::task(out(value), [&] { throw std::runtime_error("spilled"); });
    hiroba::task(inout(value), [&] { value = 7; });
    try {
      hiroba::taskwait();
    } catch (const std::runtime_error& e) {
      caught = e.what();
    }
    check(caught == "spilled", "an exception of a task was not thrown by taskwait");
    hiroba::task(out(value), [&] { value = 8; });
    hiroba::taskwait();
    check(value == 8, "no task runs after an exception was caught");
  }
  // On one rank: the others learn of it.
  int* const shared = static_cast<int*>(sms_alloc(sizeof(int), 1, 0));
  int caught_on = -1;
  hiroba::task(out(*shared), hiroba::on(sms_nprocs - 1), [] { throw std::runtime_error("far away"); });
  try {
    hiroba::taskwait();
  } catch (const hiroba::task_failed& e) {
    caught_on = e.rank();
  } catch (const std::runtime_error&) {
    caught_on = sms_rank;
  }
  check(caught_on == sms_nprocs - 1, "a task threw on another rank, and taskwait did not say so");
  // Out of a child, to who waits for the parent.
  bool caught = false;
  hiroba::task(out(value), [&] { hiroba::task(out(value), [] { throw 42; }); });
  try {
    hiroba::taskwait();
  } catch (int number) {
    caught = number == 42;
  }
  check(caught, "an exception of a child was lost");
  sms_free(shared);
}

void ends_later() {
  std::vector<std::thread> threads(20);
  std::vector<int> values(20, 0);
  long sum = 0;
  for (size_t i = 0; i < values.size(); ++i)
    hiroba::task(out(values[i]), [&, i] {
      void* const held = hiroba_task_hold();
      threads[i] = std::thread([&value = values[i], held] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        value = 1;
        hiroba_task_let_go(held);
      });
    });
  for (int& value : values) hiroba::task(in(value), inout(sum), [&] { sum += value; });
  hiroba::taskwait();
  for (std::thread& t : threads) t.join();
  check(sum == 20, "a task ended before it was let go");
}

void large_arguments() {
  std::array<uint64_t, 100> numbers;
  std::iota(numbers.begin(), numbers.end(), 1);
  const std::string text =
      "a text that is too long to lie in the string itself, and has to be kept until the task runs";
  uint64_t sum = 0;
  size_t length = 0;
  for (int i = 0; i < 100; ++i)
    hiroba::task(inout(sum), inout(length), [numbers, text, &sum, &length] {
      sum += std::accumulate(numbers.begin(), numbers.end(), uint64_t{0});
      length += text.size();
    });
  hiroba::taskwait();
  check(sum == 505000 && length == 100 * text.size(), "large arguments of tasks arrived damaged");
}

void loops_and_waits() {
  std::vector<long> squares(1000);
  hiroba::taskloop(
      0, 1000, 64,
      [&](int64_t first, int64_t last) {
        return std::tuple(out(&squares[static_cast<size_t>(first)], static_cast<size_t>(last - first)));
      },
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) squares[static_cast<size_t>(i)] = i * i;
      });
  hiroba::taskwait(in(squares));
  for (long i = 0; i < 1000; ++i) check(squares[static_cast<size_t>(i)] == i * i, "a loop of tasks has a hole");
  // A task with an OpenMP loop, or at least with threads of its own.
  std::atomic<int> count{0};
  for (int i = 0; i < 10; ++i)
    hiroba::task(hiroba::name("parallel"), [&] {
#pragma omp parallel for
      for (int k = 0; k < 100; ++k) ++count;
    });
  hiroba::taskwait();
  check(count == 1000, "loops inside of tasks are incomplete");
}

// With one thread, what has the greater priority runs first.
void priorities() {
  if (std::getenv("OMP_NUM_THREADS") == nullptr || std::string(std::getenv("OMP_NUM_THREADS")) != "1") return;
  int gate = 0;
  std::vector<int> order;
  hiroba::task(out(gate), [&] { gate = 1; });
  for (int i = 1; i <= 5; ++i) hiroba::task(in(gate), hiroba::priority(i), [&order, i] { order.push_back(i); });
  hiroba::taskwait();
  check(order == std::vector{5, 4, 3, 2, 1}, "tasks did not run in the order of their priorities");
}

void futures() {
  const int dim[] = {64, -1}, div[] = {sms_nprocs, -1};
  long* const a = static_cast<long*>(sms_mapalloc(dim, div, sizeof(long), 0, sms_nprocs));
  std::vector<hiroba::future<long>> values;
  for (int i = 0; i < 64; ++i) values.push_back(hiroba::async(out(a[i]), [=] { return a[i] = i * 7L; }));
  const int last = sms_nprocs - 1;
  hiroba::future<long> sum = hiroba::async(in(a, 64), hiroba::on(last), [=] { return std::accumulate(a, a + 64, 0L); });
  for (int i = 0; i < 64; ++i) check(values[static_cast<size_t>(i)].get() == i * 7L, "a future has a wrong value");
  check(sum.get() == 7L * 63 * 64 / 2, "a future over data of all ranks has a wrong value");
  hiroba::task(inout(a[0]), [=] { a[0] = hiroba::async([] { return 5L; }).get(); });  // on one rank alone
  hiroba::taskwait(in(a[0]));
  check(a[0] == 5, "a future of a child has a wrong value");
  hiroba::taskwait();
  sms_free(a);
}

std::string result_of(hiroba::future<long>& future) {
  try {
    return std::to_string(future.get());
  } catch (const hiroba::task_failed& e) {
    return "elsewhere " + std::to_string(e.rank());
  } catch (const std::exception& e) {
    return e.what();
  }
}

// A bug of 2026-11: the value was 0.
void futures_that_throw() {
  const int last = sms_nprocs - 1;
  long* const a = static_cast<long*>(sms_alloc(sizeof(long), 1, last));
  const std::string thrown = sms_rank == last ? "spilled" : "elsewhere " + std::to_string(last);
  const auto spill = [] { return hiroba::async([]() -> long { throw std::runtime_error("spilled"); }); };
  const auto spill_there = [a] {
    return hiroba::async(out(*a), []() -> long { throw std::runtime_error("spilled"); });
  };
  hiroba::future<long> own = spill(), there = spill_there();
  check(result_of(own) == "spilled" && result_of(own) == "spilled", "a future of a task that has thrown has a value");
  there = spill_there();
  check(result_of(there) == thrown && result_of(there) == thrown,
        "a future of a task that threw elsewhere has a value");
  // After a wait; and of a task that was not run.
  there = spill_there();
  hiroba::future<long> after = hiroba::async(inout(*a), [] { return 1L; });
  try {
    hiroba::taskwait();
  } catch (const std::runtime_error&) {
  }
  check(result_of(there) == thrown, "a future of a task that has thrown has a value after a wait");
  check(result_of(after).starts_with("elsewhere"), "a future of a task that was not run has a value");
  // What a wait for data and a future throw leaves nothing behind.
  there = spill_there();
  std::string waited;
  try {
    hiroba::taskwait(in(*a));
  } catch (const hiroba::task_failed& e) {
    waited = "elsewhere " + std::to_string(e.rank());
  } catch (const std::runtime_error& e) {
    waited = e.what();
  }
  check(waited == thrown, "a wait for data did not throw what a task has thrown");
  hiroba::task(out(*a), [=] { *a = 3; });
  hiroba::taskwait(in(*a));
  check(*a == 3, "a wait for data after an exception has lost a task");
  // In a task.
  hiroba::task(out(*a), [=] {
    hiroba::future<long> child = hiroba::async([]() -> long { throw std::runtime_error("spilled"); });
    *a = result_of(child) == "spilled" ? 4 : 0;
  });
  hiroba::taskwait(in(*a));
  check(*a == 4, "a future of a child that has thrown has a value");
  hiroba::taskwait();
  sms_free(a);
}

void reductions() {
  const int dim[] = {1000, -1}, div[] = {sms_nprocs, -1};
  long* const a = static_cast<long*>(sms_mapalloc(dim, div, sizeof(long), 0, sms_nprocs));
  long* const total = static_cast<long*>(sms_alloc(sizeof(long), 2, 0));
  const auto greater = [](long x, long y) { return std::max(x, y); };
  hiroba::reducer sum(total[0]);
  hiroba::reducer most(total[1], greater);
  for (int i = 0; i < 1000; ++i)
    hiroba::task(out(a[i]), sum.use(), most.use(), [=, &sum, &most] {
      a[i] = (i * 37L) % 1001;
      sum.local() += a[i];
      most.local() = std::max(most.local(), a[i]);
    });
  sum.finish();
  most.finish();
  hiroba::taskwait();
  long expected = 0, greatest = 0;
  for (long i = 0; i < 1000; ++i) expected += (i * 37) % 1001, greatest = std::max(greatest, (i * 37) % 1001);
  check(total[0] == expected && total[1] == greatest, "a reduction over tasks has a wrong result");
  sms_barrier();
  sms_free(total);
  sms_free(a);
}

// Tasks that write nothing else run where what they read is, and a reader waits for all of them, also of a child.
void named_reductions() {
  const int dim[] = {1000, -1}, div[] = {sms_nprocs, -1};
  long* const a = static_cast<long*>(sms_mapalloc(dim, div, sizeof(long), 0, sms_nprocs));
  long* const total = static_cast<long*>(sms_alloc(2 * sizeof(long), 2, 0));
  static std::atomic<int> here{0};
  here = 0;
  const int owned = 1000 / sms_nprocs + (sms_rank < 1000 % sms_nprocs ? 1 : 0);
  for (long i = 0; i < 1000; ++i) hiroba::task(out(a[i]), [=] { a[i] = i; });
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 1000; ++i) {
      const hiroba_access use[] = {hiroba_use(HIROBA_IN, a + i, sizeof *a),
                                   hiroba_use_reduction(HIROBA_SUM, HIROBA_INT64, total, 2)};
      const hiroba_task_spec* const spec = HIROBA_SPEC("add", HIROBA_ANYWHERE, 0);
      void* const argument = hiroba_task_create(use, 2, spec);
      if (argument == nullptr) continue;
      hiroba::detail::submit_task(argument, [=] {
        long* const mine = static_cast<long*>(hiroba_task_part(1, total));
        mine[0] += a[i], mine[1] += 1;
        ++here;
      });
    }
    hiroba::task(inout(total[0]), [=] { total[0] -= 1; });
  }
  hiroba::taskwait(in(total, 2));
  check(total[0] == 5 * 499500 - 5 && total[1] == 5000, "a named reduction has a wrong result");
  hiroba::taskwait();
  check(sms_nprocs == 1 || std::abs(here - 5 * owned) <= 5, "the tasks of a reduction ran on other ranks");
  long sum = 0;
  hiroba::task(inout(sum), [&sum] {
    long own = 7;
    for (long i = 0; i < 100; ++i) {
      const hiroba_access use = hiroba_use_reduction(HIROBA_SUM, HIROBA_INT64, &own, 1);
      hiroba::detail::submit_task(hiroba_task_create(&use, 1, HIROBA_SPEC("child", HIROBA_ANYWHERE, 0)),
                                  [i, &own] { *static_cast<long*>(hiroba_task_part(0, &own)) += i; });
    }
    hiroba::taskwait();
    sum = own;
    const hiroba_access use = hiroba_use_reduction(HIROBA_MAX, HIROBA_INT64, &sum, 1);  // its parent does not wait
    hiroba::detail::submit_task(hiroba_task_create(&use, 1, HIROBA_SPEC("child", HIROBA_ANYWHERE, 0)),
                                [&sum] { *static_cast<long*>(hiroba_task_part(0, &sum)) = 5000; });
  });
  long seen = 0;
  hiroba::task(in(sum), out(seen), [&] { seen = sum; });
  hiroba::taskwait();
  check(seen == 5000 && sum == 5000, "a reduction of children has a wrong result");
  sms_free(total);
  sms_free(a);
}

// A thread that waited in one of them, or created a child of it, went on with the next one, until its stack was full.
void many_parents() {
  std::atomic<int> bytes{0};
  for (int waits = 0; waits < 2; ++waits)
    for (int i = 0; i < 20000; ++i)
      hiroba::task([&bytes, waits] {
        volatile char large[4096];
        large[0] = 1;
        for (int child = 0; child < 2; ++child) hiroba::task([&bytes] { ++bytes; });
        if (waits != 0) hiroba::taskwait();
        bytes += large[0];
      });
  hiroba::taskwait();
  check(bytes == 2 * 20000 * 3, "parents or children did not run");
}

// Each rank creates its own tasks and the two beside them on each side: these use data that its own ones use, too. Its
// cells fill a page, so that no other rank's page has any.
void parts() {
  const int own = 64, n = own * sms_nprocs, steps = 6;
  const int dim[] = {2, n, -1}, div[] = {1, sms_nprocs, -1};
  Cell* const a = static_cast<Cell*>(sms_mapalloc(dim, div, sizeof(Cell), 0, sms_nprocs));
  std::vector<Cell> mirror(static_cast<size_t>(2 * n));
  const auto update = [n](Cell* cells, int from, int i) {
    const Cell* const row = cells + from * n;
    cells[(1 - from) * n + i].value =
        mix(row[i > 0 ? i - 1 : i].value) + 3 * row[i].value + mix(row[i < n - 1 ? i + 1 : i].value) + 1;
  };
  hiroba::task_parts(true);
  for (int s = 0; s < steps; ++s)
    for (int i = std::max(0, sms_rank * own - 2); i < std::min(n, (sms_rank + 1) * own + 2); ++i) {
      Cell* const row = a + s % 2 * n;
      hiroba::task(in(row[i > 0 ? i - 1 : i]), in(row[i]), in(row[i < n - 1 ? i + 1 : i]), out(a[(1 - s % 2) * n + i]),
                   [=] { update(a, s % 2, i); });
    }
  hiroba::taskwait();
  hiroba::task_parts(false);
  for (int s = 0; s < steps; ++s)
    for (int i = 0; i < n; ++i) update(mirror.data(), s % 2, i);
  for (int i = 0; i < 2 * n; ++i)
    check(a[i].value == mirror[static_cast<size_t>(i)].value, "parts of a sequence went wrong");
  sms_barrier();
  sms_free(a);
}

// A barrier ends the tasks before it.
void barriers() {
  int* const shared = static_cast<int*>(sms_alloc(sizeof(int), 1, 0));
  for (int i = 0; i < 50; ++i)
    hiroba::task(inout(*shared), hiroba::on(i % sms_nprocs), [=] { *shared = *shared * 3 + i; });
  sms_barrier();
  int expected = 0;
  for (int i = 0; i < 50; ++i)
    expected = static_cast<int>(static_cast<unsigned>(expected) * 3 + static_cast<unsigned>(i));
  check(*shared == expected, "sms_barrier did not wait for tasks");
  sms_free(shared);
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  graph_equals_loop(32, 20);
  graph_equals_loop(5, 3);
  graph_of_everything();
  graph_that_begins_with_commutative_tasks();
  graph_of_large_blocks();
  graph_that_throws();
  exceptions();
  ends_later();
  large_arguments();
  loops_and_waits();
  priorities();
  futures();
  futures_that_throw();
  reductions();
  named_reductions();
  many_parents();
  parts();
  barriers();
  if (sms_rank == 0) puts("ok");
  sms_shutdown();
}
