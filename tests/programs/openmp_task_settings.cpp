// An OpenMP program without anything of Hiroba: tasks with settings and reductions, which libgomp has to know. Prints
// the parts that are wrong, and "ok".
#include <omp.h>
#include <unistd.h>

#include <cstdio>

static int wrong;

static void expect(const char* what, int got, int wanted) {
  if (got == wanted) return;
  std::printf("%s: %d instead of %d\n", what, got, wanted);
  wrong = 1;
}

static void final_tasks() {
  int finals = 0, inner = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task final(1) shared(finals, inner)
    {
      finals = omp_in_final();
#pragma omp task shared(inner)
      inner = omp_in_final();
      inner += 10 * omp_in_final();
    }
    expect("outside of final", omp_in_final(), 0);
  }
  expect("final", finals * 100 + inner, 111);
}

static void reductions() {
  int sum = 0, product = 1;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 1; i <= 100; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
#pragma omp taskloop reduction(* : product)
    for (int i = 1; i <= 10; ++i) product *= i;
  }
  expect("a reduction of tasks", sum, 5050);
  expect("a reduction of a taskloop", product, 3628800);
}

static int schedule_chunk() {
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  return chunk;
}

// Settings that a task makes end with it, for the tasks that it makes and for those beside it.
static void settings() {
  int others = 0, inside = 0, made = 0;
  omp_set_schedule(omp_sched_dynamic, 7);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; ++i) {
#pragma omp task shared(others)
    {
      const int chunk = schedule_chunk();
#pragma omp atomic
      others += chunk;
    }
#pragma omp task shared(inside, made)
    {
      omp_set_schedule(omp_sched_dynamic, 9);
      const int mine = schedule_chunk();
#pragma omp atomic
      inside += mine;
#pragma omp task shared(made)
      {
#pragma omp atomic
        made += 1;
      }
    }
  }
  expect("the settings of other tasks", others, 50 * 7);
  expect("a task's own settings", inside, 50 * 9);
  expect("tasks of tasks with settings", made, 50);
}

// Constructs of the target wait for the tasks on which they depend, and tasks for them.
static void targets() {
  int x = 0, y = 0, errors = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#pragma omp task depend(out : x)
    {
      usleep(2000);
      x += 1;
    }
#pragma omp target map(tofrom : x, y, errors) depend(inout : x) nowait
    {
      errors += x != 2 * i + 1;
      y = x, x += 1;
    }
#pragma omp target enter data map(to : y) depend(inout : x)
#pragma omp target update to(y) depend(inout : x) nowait
#pragma omp task depend(in : x) shared(errors)
    errors += x != 2 * i + 2 || y != 2 * i + 1;
#pragma omp target exit data map(release : y) depend(inout : x)
  }
  expect("dependences of targets", errors, 0);
  expect("what tasks and targets have added", x, 20);
}

int main() {
  targets();
  final_tasks();
  reductions();
  settings();
  std::puts(wrong ? "wrong" : "ok");
  return wrong;
}
