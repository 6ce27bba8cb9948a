// A few tasks whose edges are known; task_graph.py compares them with what option task-graph writes.
#include <task.hpp>

#include "programs.h"

using hiroba::in, hiroba::inout, hiroba::name, hiroba::out;

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int dim[] = {2048 * sms_nprocs, -1}, div[] = {sms_nprocs, -1};
  int* const a = static_cast<int*>(sms_mapalloc(dim, div, sizeof(int), 0, sms_nprocs));
  int &x = a[0], &y = a[2048 * (sms_nprocs - 1) + 1024];  // on the first and on the last rank
  hiroba::task(out(x), name("make"), [&] { x = 1; });
  hiroba::task(in(x), out(y), name("copy"), [&] { y = x; });
  for (int i = 1; i <= 6; ++i) hiroba::task(in(y), out(a[i]), name("read"), [&, i] { a[i] = y; });
  hiroba::task(in(x), inout(y), name("last"), [&] { y += x; });
  hiroba::taskwait();
  hiroba::task(inout(x), name("after"), [&] {
    ++x;
    int here = 0;
    hiroba::task(out(here), name("child"), [&] { here = 1; });
    hiroba::task(in(here), name("grandchild"), [&] {
      if (here != 1) fail("task_graph: a child has run too early");
    });
    hiroba::taskwait();
  });
  for (int i = 0; argc > 1 && i < 3000; ++i) hiroba::task(inout(a[i % 3]), name("many"), [] {});
  hiroba::taskwait();
  if (x != 2 || y != 2 || a[6] != 1) fail("task_graph: %d %d %d", x, y, a[6]);
  sms_barrier();
  sms_shutdown();
}
