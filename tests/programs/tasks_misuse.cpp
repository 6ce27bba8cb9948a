// Wrong uses of tasks, by name; tasks_misuse.py checks what comes of them.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <task_values.hpp>
#include <thread>
#include <vector>

#include "task_cases.hpp"

using hiroba::in;
using hiroba::inout;
using hiroba::out;

namespace {

void outside() {
  int* const a = numbers(100);
  hiroba::task(out(a + 90, 20), [] {});
  hiroba::taskwait();
}

void negative_count() {
  int* const a = numbers(100);
  const hiroba_access box = hiroba_use_box(HIROBA_IN, a + 30, sizeof(int), -2, 40);
  hiroba_task([](void*) {}, nullptr, &box, 1);
  hiroba::taskwait();
}

void negative_bytes() {
  std::vector<int> a(100);
  hiroba::task(in(a.data(), static_cast<size_t>(-3)), [] {});
  hiroba::taskwait();
}

void unowned() {
  int* const a = numbers(100);
  sms_free(a);
  hiroba::task(out(a, 10), [] {});
  hiroba::taskwait();
}

void freed() {
  int* const a = numbers(100);
  int* const b = numbers(100);
  hiroba::task(out(a, 10), inout(b, 10), [] {});
  hiroba::taskwait();
  sms_free(a);
  hiroba::task(inout(b, 10), [] {});
  hiroba::task(out(a, 10), [] {});
  hiroba::taskwait();
}

void freed_early() {  // the tasks end before
  int* const a = numbers(4096);
  for (int r = 0; r < sms_nprocs; ++r)
    hiroba::task(inout(a[4095]), hiroba::on(r), [=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      a[4095] += 1;
    });
  sms_free(a);
}

void different() {
  int* const a = numbers(100);
  for (int i = 0; i < 20; ++i) hiroba::task(inout(a[sms_rank == 1 && i == 13 ? 5 : 50]), [] {});
  hiroba::taskwait();
}

void fewer() {
  int* const a = numbers(100);
  for (int i = 0; i < 20 - sms_rank; ++i) hiroba::task(inout(a[0]), hiroba::on(0), [] {});
  hiroba::taskwait();
}

void throws() {
  int* const a = numbers(100);
  hiroba::task(out(a[0]), hiroba::on(0), hiroba::name("boom"), [] { throw std::runtime_error("spilled"); });
  hiroba::taskwait();
}

void never_ends() {
  int* const a = numbers(100);
  hiroba::task(out(a[0]), hiroba::on(0), hiroba::name("endless"),
               [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  hiroba::task(inout(a[0]), hiroba::on(0), hiroba::name("after"), [] {});
  hiroba::taskwait();
}

void never_let_go() {
  int* const a = numbers(100);
  hiroba::task(out(a[0]), hiroba::on(0), hiroba::name("held"), [] { hiroba_task_hold(); });
  hiroba::task(in(a[0]), hiroba::on(0), hiroba::name("after"), [] {});
  hiroba::taskwait();
}

// In an iteration that is replayed. What ends later still depends on what does not.
void never_ends_in_graph() {
  int* const a = numbers(100);
  int round = 0;
  hiroba::graph g([&] {
    hiroba::task(inout(a[0]), hiroba::on(0), hiroba::name("endless"), [&] {
      if (++round == 5) std::this_thread::sleep_for(std::chrono::hours(1));
    });
    hiroba::task(in(a[0]), out(a[1]), hiroba::on(0), hiroba::name("after"), [] {});
    hiroba::task(in(a[1]), out(a[99]), hiroba::name("last"), [] {});
  });
  g.run(10);
}

void never_let_go_in_graph() {
  int* const a = numbers(100);
  int round = 0;
  hiroba::graph g([&] {
    hiroba::task(inout(a[0]), hiroba::on(0), hiroba::name("held"), [&] {
      if (++round == 5) hiroba_task_hold();
    });
    hiroba::task(in(a[0]), out(a[1]), hiroba::on(0), hiroba::name("after"), [] {});
  });
  g.run(10);
}

void wrong_rank() {
  hiroba::task(hiroba::on(sms_nprocs), [] {});
  hiroba::taskwait();
}

void wrong_priority() {
  hiroba::task(hiroba::priority(-1), [] {});
  hiroba::taskwait();
}

void wrong_thread() {
  int x = 0;
  std::thread([&] { hiroba::task(out(x), [] {}); }).join();
  hiroba::taskwait();
}

void other_graph() {
  int x = 0, calls = 0;
  hiroba::graph g([&] {
    for (int i = 0; i <= calls; ++i) hiroba::task(inout(x), [] {});
    ++calls;
  });
  g.run(3);
}

void waits_in_graph() {
  int* const a = numbers(100);
  hiroba::graph g([&] {
    hiroba::task(inout(a[0]), [] {});
    hiroba::taskwait();
  });
  g.run(3);
}

void waits_for_data_in_graph() {
  int* const a = numbers(100);
  hiroba::graph g([&] {
    hiroba::task(inout(a[0]), [] {});
    hiroba::taskwait(in(a[0]));
  });
  g.run(3);
}

void different_graphs() {
  int* const a = numbers(100);
  hiroba::graph g([&] {
    for (int i = 0; i < 20; ++i) hiroba::task(inout(a[sms_rank == 1 && i == 13 ? 5 : 50]), [] {});
  });
  g.run(3);
}

// ---- option check: data that is not named --------------------------------------------------------------------------

// Each rank's own part: 64 pages.
constexpr int part = 64 * 1024;

int* parts() { return numbers(part * sms_nprocs); }

void unnamed() {
  int* const a = parts();
  const int mine = part * (sms_nprocs - 1);
  hiroba::task(out(a + mine, 100), hiroba::name("right"), [=] { std::fill(a + mine, a + mine + 100, 1); });
  hiroba::task(out(a + mine, 100), hiroba::name("wrong"), [=] { a[mine + 4321] = 2; });
  hiroba::taskwait();
}

void only_read() {
  int* const a = parts();
  hiroba::task(in(a + 10, 10), out(a + 20, 10), hiroba::name("wrong"), [=] { a[19] = a[20] = 1; });
  hiroba::taskwait();
}

void of_another_rank() {  // to another node the write would be lost
  int* const a = parts();
  hiroba::task(out(a[0]), hiroba::name("wrong"), [=] { a[0] = a[part * (sms_nprocs - 1) + 7] = 1; });
  hiroba::taskwait();
}

void one_past() {  // beside what is named, in a row that begins and ends in a page
  int* const a = parts();
  const hiroba::tiles<int> tiles(a, 64, 1000, 16, 100);
  const auto tile = tiles.tile(1, 2);
  hiroba::task(out(tile), hiroba::name("wrong"), [=] {
    for (int i = 0; i < 16; ++i)
      for (int k = 0; k <= (i == 9 ? 100 : 99); ++k) tile(i, k) = 5;
  });
  hiroba::taskwait();
}

// So much is right that not every write can be looked at; what is wrong is found in the twin of the page.
void late() {
  int* const a = parts();
  hiroba::task(out(a + 100, 800), hiroba::name("wrong"), [=] {
    for (int round = 0; round < 200; ++round)
      for (int i = 100; i < 900; ++i) static_cast<volatile int*>(a)[i] = round + 1;
    a[950] = 1;
  });
  hiroba::taskwait();
}

// The same after many tasks, when pages are open from the beginning of a task.
void later() {
  int* const a = parts();
  const auto fill = [=](int round) {
    for (int i = 100; i < 3100; ++i) static_cast<volatile int*>(a)[i] = round + 2;
  };
  for (int round = 0; round < 400; ++round)
    hiroba::task(inout(a + 100, 3000), hiroba::name("right"), [=] { fill(round); });
  hiroba::task(inout(a + 100, 3000), hiroba::name("wrong"), [=] { fill(0), a[3150] = 1; });
  hiroba::taskwait();
}

void child() {
  int* const a = parts();
  hiroba::task(out(a + 100, 100), hiroba::name("parent"), [=] {
    a[100] = 1;
    hiroba::task(out(a[101]), hiroba::name("right"), [=] { a[101] = 2; });
    hiroba::taskwait();
    a[102] = 3;
    hiroba::task(out(a[103]), hiroba::name("wrong"), [=] { a[104] = 4; });
  });
  hiroba::taskwait();
}

void parent() {  // what a child names is not named by its parent
  int* const a = parts();
  hiroba::task(out(a[100]), hiroba::name("wrong"), [=] {
    a[100] = 1;
    hiroba::task(out(a[101]), hiroba::name("right"), [=] { a[101] = 2; });
    hiroba::taskwait();
    a[101] = 3;
  });
  hiroba::taskwait();
}

// ---- option check: children that use what their parent does not name -----------------------------------------------

// A task of the last part after one of the first part, whose child uses data of the last part.
template <typename Child, typename After>
void nested(const Child& child, const After& after) {
  int* const a = parts();
  int* const last = a + part * (sms_nprocs - 1) + 100;
  hiroba::task(inout(a[0]), hiroba::name("parent"), [=] { child(a, last); });
  after(last);
  hiroba::taskwait();
}

void child_writes() {
  nested([](int*, int* last) { hiroba::task(inout(*last), hiroba::name("child"), [=] { *last = 1; }); },
         [](int* last) { hiroba::task(inout(*last), hiroba::name("after"), [=] { *last = *last * 10 + 5; }); });
}

void child_reads() {
  nested([](int* a, int* last) { hiroba::task(in(*last), out(*a), hiroba::name("child"), [=] { *a = *last; }); },
         [](int* last) { hiroba::task(out(*last), hiroba::name("after"), [=] { *last = 5; }); });
}

void grandchild_writes() {
  nested(
      [](int* a, int* last) {
        hiroba::task(in(*a), hiroba::name("middle"),
                     [=] { hiroba::task(inout(*last), hiroba::name("child"), [=] { *last = 1; }); });
      },
      [](int* last) { hiroba::task(inout(*last), hiroba::name("after"), [=] { *last = *last * 10 + 5; }); });
}

void child_writes_what_is_read() {
  int* const a = parts();
  hiroba::task(in(*a), hiroba::on(0), hiroba::name("parent"),
               [=] { hiroba::task(out(*a), hiroba::name("child"), [=] { *a = 1; }); });
  hiroba::taskwait();
}

void child_writes_more() {
  int* const a = parts();
  hiroba::task(inout(a, 10), hiroba::name("parent"),
               [=] { hiroba::task(out(a, 20), hiroba::name("child"), [=] { *a = 1; }); });
  hiroba::taskwait();
}

void child_writes_own_memory() {
  int x[2] = {};
  hiroba::task(inout(x[0]), hiroba::name("parent"),
               [&] { hiroba::task(inout(x[1]), hiroba::name("child"), [&] { x[1] = 1; }); });
  hiroba::task(inout(x[1]), hiroba::name("after"), [&] { x[1] = x[1] * 10 + 5; });
  hiroba::taskwait();
}

void children_named() {  // by halves; memory of the parent; data that nobody else uses; data that was waited for
  int* const a = parts();
  int* const last = a + part * (sms_nprocs - 1) + 100;
  hiroba::task(out(*last), [=] { *last = 3; });
  hiroba::taskwait(in(*last));
  hiroba::task(inout(a, 10), inout(a + 10, 10), [=] {
    std::vector<int> own(10);
    hiroba::task(out(own), in(*last), [&] { own[5] = *last; });
    hiroba::task(out(a + 5, 10), in(own), [&] { a[5] = own[5]; });
    hiroba::task(out(a[30]), in(a + 5, 10), [=] { a[30] = a[5]; });
    hiroba::taskwait();
  });
  hiroba::taskwait();
  if (a[30] != 3) fail("children of a task have made %d of 3", a[30]);
}

void by_memset() {
  int* const a = parts();
  hiroba::task(out(a + 100, 100), hiroba::name("wrong"), [=] { std::memset(a + 100, 1, 101 * sizeof(int)); });
  hiroba::taskwait();
}

void in_graph() {
  int* const a = parts();
  int round = 0;
  hiroba::graph g(
      [&] { hiroba::task(inout(a + 10, 10), hiroba::name("wrong"), [=, &round] { a[++round == 6 ? 20 : 19] = 1; }); });
  g.run(10);
}

void all_named() {
  int* const a = parts();
  hiroba::task(hiroba::commutative(a[1]), hiroba::concurrent(a + 2, 3), inout(a + 10, 5000), hiroba::name("right"),
               [=] {
                 a[1] = a[4] = 1;
                 for (int i = 10; i < 5010; ++i) a[i] = i;
               });
  hiroba::taskwait();
}

void held_elsewhere() {  // another thread writes what is named, while another task runs
  int* const a = parts();
  std::thread elsewhere;
  std::atomic<bool> begun{false};
  hiroba::task(out(a[0]), hiroba::on(0), [&] {
    elsewhere = std::thread([&, held = hiroba_task_hold()] {
      while (!begun) std::this_thread::yield();
      a[0] = 1;
      hiroba_task_let_go(held);
    });
  });
  hiroba::task(out(a[1]), hiroba::on(0), [&] {
    begun = true;
    for (int i = 0; i < 1000; ++i) a[1] = i;
  });
  hiroba::taskwait();
  if (elsewhere.joinable()) elsewhere.join();
}

void hold_outside() { hiroba_task_hold(); }
void iwait_outside() {
  hiroba_request none = HIROBA_NO_REQUEST;
  hiroba_task_iwait(&none);
}

void reduce(const hiroba_access& access, int number) {
  hiroba_task_on(0, [](void* n) { hiroba_task_part(*static_cast<int*>(n), nullptr); }, &number, &access, 1);
  hiroba::taskwait();
}

void waits_for_successor() {
  int x = 0;
  hiroba::future<int> after;
  hiroba::task(out(x), hiroba::on(0), [&] {
    while (__atomic_load_n(&x, __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();
    after.get();
  });
  after = hiroba::async(in(x), [] { return 1; });
  __atomic_store_n(&x, 1, __ATOMIC_RELEASE);
  hiroba::taskwait();
}

void reduction_of_own() {  // each rank has its own, and only one adds to it
  double own = 0;
  reduce(hiroba_use_reduction(HIROBA_SUM, HIROBA_DOUBLE, &own, 1), 0);
}

void reduction_elsewhere() { reduce(hiroba_use_reduction(HIROBA_SUM, HIROBA_INT32, numbers(100), 1), 1); }

void reduction_without_order() { reduce(hiroba_use_reduction(HIROBA_MAX, HIROBA_DOUBLE_COMPLEX, numbers(100), 1), 0); }

void reduction_of_bytes() {
  hiroba_access access = hiroba_use_reduction(HIROBA_SUM, HIROBA_DOUBLE, numbers(100), 2);
  access.section.bytes = 12;
  reduce(access, 0);
}

void reduction_by_function() {
  static const hiroba_operator first = {[](void*, const void*, int64_t, void*) {}, nullptr, "first"};
  reduce(hiroba_use_reduction(&first, HIROBA_DOUBLE, numbers(100), 1), 0);
}

void no_wait() {  // the end of the program waits for all tasks
  int* const a = numbers(100);
  for (int i = 0; i < 1000; ++i) hiroba::task(inout(a[i % 100]), [] {});
}

}  // namespace

int main(int argc, char** argv) {
  // clang-format off: it would give each case a line
  return run_case(argc, argv, {
    CASE(outside), CASE(negative_count), CASE(negative_bytes), CASE(unowned), CASE(waits_for_successor),
    CASE(reduction_of_own), CASE(reduction_elsewhere), CASE(reduction_without_order), CASE(reduction_of_bytes),
    CASE(reduction_by_function), CASE(freed), CASE(freed_early), CASE(different), CASE(fewer), CASE(throws),
    CASE(never_ends), CASE(never_let_go), CASE(never_ends_in_graph), CASE(never_let_go_in_graph), CASE(wrong_rank),
    CASE(wrong_priority), CASE(wrong_thread), CASE(other_graph), CASE(waits_in_graph), CASE(waits_for_data_in_graph),
    CASE(different_graphs), CASE(hold_outside), CASE(iwait_outside), CASE(no_wait), CASE(unnamed), CASE(only_read),
    CASE(of_another_rank), CASE(one_past), CASE(late), CASE(later), CASE(child), CASE(parent), CASE(by_memset),
    CASE(child_writes), CASE(child_reads), CASE(grandchild_writes), CASE(child_writes_what_is_read),
    CASE(child_writes_more), CASE(child_writes_own_memory), CASE(children_named), CASE(in_graph), CASE(all_named),
    CASE(held_elsewhere)});
  // clang-format on
}
