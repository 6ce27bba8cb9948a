// Wrong uses of tasks, by name; tasks_misuse.py checks what comes of them.
#include <stdexcept>
#include <string>
#include <task.hpp>
#include <thread>
#include <vector>

#include "programs.h"

using hiroba::in;
using hiroba::inout;
using hiroba::out;

namespace {

int* numbers(int count) {
  const int dim[] = {count, -1}, div[] = {sms_nprocs, -1};
  return static_cast<int*>(sms_mapalloc(dim, div, sizeof(int), 0, sms_nprocs));
}

void outside() {
  int* const a = numbers(100);
  hiroba::task(out(a + 90, 20), [] {});
  hiroba::taskwait();
}

void unowned() {
  int* const a = numbers(100);
  sms_free(a);
  hiroba::task(out(a, 10), [] {});
  hiroba::taskwait();
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
  hiroba::task(out(a[0]), hiroba::on(0), [] { throw std::runtime_error("spilled"); });
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

void hold_outside() { hiroba_task_hold(); }

void no_wait() {  // the end of the program waits for all tasks
  int* const a = numbers(100);
  for (int i = 0; i < 1000; ++i) hiroba::task(inout(a[i % 100]), [] {});
}

const struct {
  const char* name;
  void (*run)();
} cases[] = {{"outside", outside},
             {"unowned", unowned},
             {"different", different},
             {"fewer", fewer},
             {"throws", throws},
             {"never_ends", never_ends},
             {"never_let_go", never_let_go},
             {"wrong_rank", wrong_rank},
             {"wrong_priority", wrong_priority},
             {"wrong_thread", wrong_thread},
             {"other_graph", other_graph},
             {"waits_in_graph", waits_in_graph},
             {"waits_for_data_in_graph", waits_for_data_in_graph},
             {"different_graphs", different_graphs},
             {"hold_outside", hold_outside},
             {"no_wait", no_wait}};

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  for (const auto& c : cases)
    if (argc == 2 && c.name == std::string(argv[1])) c.run();
  sms_shutdown();
}
