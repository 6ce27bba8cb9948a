/* An OpenMP program without anything of Hiroba: constructs by which threads of all ranks wait for each other, add up
 * what tasks compute, or ask about their team. Prints the parts that are wrong, and "ok". */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { n = 100, rows = 8, columns = 10 };
static int wrong;

static void expect(const char* what, double got, double wanted) {
  if (got == wanted) return;
  printf("%s: %.17g instead of %.17g\n", what, got, wanted);
  wrong = 1;
}

/* ---- depend(sink): each element needs those before it ---- */
static long sum_of_chain(int kind) {
  static long a[n], grid[rows][columns];
  long sum = 0;
  a[0] = 1, grid[0][0] = 0;
#pragma omp parallel
  {
    if (kind == 0) {
#pragma omp for ordered(1)
      for (int i = 1; i < n; ++i) {
#pragma omp ordered depend(sink : i - 1)
        a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
      }
    } else if (kind == 1) {
#pragma omp for ordered(1) schedule(static, 3)
      for (int i = 1; i < n; ++i) {
#pragma omp ordered depend(sink : i - 1)
        a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
      }
    } else {
#pragma omp for ordered(1) schedule(dynamic, 2)
      for (unsigned long i = 1; i < n; ++i) {
#pragma omp ordered depend(sink : i - 1)
        a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
      }
    }
#pragma omp for ordered(2) schedule(guided)
    for (int i = 1; i < rows; ++i)
      for (int k = 1; k < columns; ++k) {
#pragma omp ordered depend(sink : i - 1, k) depend(sink : i, k - 1)
        grid[i][k] = grid[i - 1][k] + grid[i][k - 1] + 1;
        grid[i][k] = grid[i][k] > 1000 ? 1000 : grid[i][k];
#pragma omp ordered depend(source)
      }
  }
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < columns; ++k) {
      const long wanted = i == 0 || k == 0 ? 0 : grid[i - 1][k] + grid[i][k - 1] + 1;
      sum += grid[i][k] == (wanted > 1000 ? 1000 : wanted);
    }
  return a[n - 1] * 1000 + sum;
}

static void chains(void) {
  for (int kind = 0; kind < 3; ++kind)
    expect("loops with depend(sink)", (double)sum_of_chain(kind), n * 1000.0 + rows * columns);
}

/* ---- reductions of tasks ---- */
static void reductions(void) {
  long loop = 0, group = 0, region = 0, product = 3, outer = 0, inner = 0, turns = 0;
#pragma omp parallel
  {
#pragma omp for reduction(task, + : loop)
    for (int i = 0; i < n; ++i) {
#pragma omp task in_reduction(+ : loop)
      loop += i;
      loop += 1;
    }
#pragma omp single
#pragma omp taskgroup task_reduction(+ : group) task_reduction(* : product)
    for (int i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : group) in_reduction(* : product)
      {
        group += i;
        if (i < 3) product *= 2;
      }
    }
  }
#pragma omp parallel
  {
#pragma omp for ordered reduction(task, + : turns)
    for (int i = 0; i < n; ++i) {
      turns += 1;
#pragma omp task in_reduction(+ : turns) /* a thread that is still in the barrier before the loop may run it */
      turns += 1;
#pragma omp ordered
      region += 5;
    }
  }
  expect("a reduction of tasks in an ordered loop", (double)turns, 2 * n);
#pragma omp parallel
#pragma omp scope reduction(task, + : outer)
  {
#pragma omp scope reduction(task, + : inner)
    {
#pragma omp for
      for (int i = 0; i < n; ++i) {
#pragma omp task in_reduction(+ : outer, inner)
        outer += i, inner += 2 * i;
      }
    }
  }
#pragma omp parallel reduction(task, + : region)
  {
#pragma omp task in_reduction(+ : region)
    region += 5;
  }
  expect("a loop's reduction of tasks", (double)loop, n * (n - 1) / 2.0 + n);
  expect("an outer scope's reduction of tasks", (double)outer, n * (n - 1) / 2.0);
  expect("an inner scope's reduction of tasks", (double)inner, n * (n - 1));
  expect("a taskgroup's sum", (double)group, 190);
  expect("a taskgroup's product", (double)product, 24);
  expect("a region's reduction of tasks", (double)(region % 5), 0);
}

/* ---- a loop that has a barrier before it ---- */
static void barrier_before_loop(void) {
  for (int round = 0; round < 4; ++round) {
    int last = 7, sum = 0, at = 5;
#pragma omp parallel for schedule(dynamic, 5) firstprivate(last) lastprivate(last) reduction(+ : sum)
    for (int i = 0; i < 103; ++i) last = i, sum += 1;
    expect("iterations of a loop with firstprivate and lastprivate", sum, 103);
    expect("its last value", last, 102);
#pragma omp parallel for schedule(dynamic, 3) linear(at : 2)
    for (int i = 0; i < 50; ++i) at += 2;
    expect("linear", at, 105);
  }
}

/* ---- chunks have the size that the program asks for, but the last ---- */
static void sizes_of_chunks(void) {
  int thread[1000], first[1000], wrong_sizes = 0;
#pragma omp parallel
  {
    int mine = 0, before = -2;
#pragma omp for schedule(dynamic, 7)
    for (int i = 0; i < 1000; ++i) {
      if (i != before + 1 || i % 7 == 0) mine = i;
      before = i, first[i] = mine, thread[i] = omp_get_thread_num();
    }
  }
  for (int i = 0; i < 1000; ++i) wrong_sizes += first[i] % 7 != 0 || thread[i] != thread[first[i]];
  expect("iterations in chunks of another size", wrong_sizes, 0);
}

/* ---- what threads ask for ---- */
static void settings(void) {
  const int before = omp_get_max_threads();
  int errors = 0;
  /* A program allocates an array of this length within a region, and each thread of the team has an element. */
#pragma omp parallel reduction(+ : errors)
  {
    errors += omp_get_max_threads() < omp_get_num_threads();
    omp_set_num_threads(1);
    errors += omp_get_max_threads() != 1;
  }
  errors += omp_get_max_threads() != before;
  omp_set_schedule(omp_sched_guided, 7);
  omp_set_num_threads(4);
  omp_set_dynamic(1);
#pragma omp parallel reduction(+ : errors)
  {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    errors += (kind & ~omp_sched_monotonic) != omp_sched_guided || chunk != 7 || omp_get_max_threads() != 4;
    errors += omp_get_dynamic() != 1;
  }
  omp_set_num_threads(before);
  omp_set_dynamic(0);
  expect("settings in a region", errors, 0);
  int threads = 0;
#pragma omp parallel for schedule(dynamic) num_threads(4)
  for (int i = 0; i < n; ++i)
    if (i == 0) threads = omp_get_num_threads();
  expect("threads of a dynamic loop", threads, 4);
  const int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(0);
#pragma omp parallel
  errors += omp_get_num_threads() != 1;
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2) reduction(+ : errors)
  {
    const int mine = omp_get_thread_num();
#pragma omp parallel num_threads(2) reduction(+ : errors)
    errors += omp_get_num_threads() != 1 || omp_in_parallel() != 1 || omp_get_ancestor_thread_num(1) != mine ||
              omp_get_team_size(1) != 2;
  }
  omp_set_max_active_levels(levels);
  expect("nested regions", errors, 0);
#pragma omp teams num_teams(2) thread_limit(4)
  {
    const int team = omp_get_team_num();
#pragma omp parallel num_threads(8) reduction(+ : errors)
    errors += omp_get_team_num() != team || omp_get_num_teams() != 2 || omp_get_num_threads() > 4 ||
              omp_get_thread_limit() != 4;
  }
  expect("regions of teams", errors, 0);
#pragma omp parallel num_threads(4) reduction(+ : errors)
#pragma omp target map(tofrom : errors)
  errors += omp_get_num_threads() != 1;
  expect("target in a region", errors, 0);
}

static void locks_of_tasks(void) {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
  int errors = 0, count = 0;
  omp_set_nest_lock(&lock);
#pragma omp parallel num_threads(1)
  errors += omp_test_nest_lock(&lock) != 0;
  errors += omp_test_nest_lock(&lock) != 2;
  omp_unset_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
#pragma omp parallel
  for (int i = 0; i < 5; ++i) {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    ++count;
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
  expect("a nested lock of a task", errors, 0);
  expect("a nested lock", count, 5.0 * omp_get_max_threads());
}

/* Threads read each other's threadprivate variables by address. */
static int kept[300];
static struct {
  double real;
  int* element;
} record;
#pragma omp threadprivate(kept, record)

static void threadprivate(void) {
  int errors = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 300; ++i) kept[i] = i + round;
    record.real = round + 0.5, record.element = &kept[7];
#pragma omp parallel copyin(kept, record) reduction(+ : errors)
    {
      for (int i = 0; i < 300; ++i) errors += kept[i] != i + round;
      errors += record.real != round + 0.5 || *record.element != 7 + round;
#pragma omp single copyprivate(kept)
      kept[3] = 99 + round;
      errors += kept[3] != 99 + round;
      kept[4] = omp_get_thread_num();
    }
#pragma omp parallel reduction(+ : errors)
    errors += kept[4] != omp_get_thread_num() || kept[3] != 99 + round;
  }
  expect("copyin and copyprivate of arrays", errors, 0);
}

/* Tasks that end in the barrier after the region allocate memory that all ranks use. */
static void memory_of_tasks(void) {
  int* made[64] = {0};
#pragma omp parallel
  {
    const int mine = omp_get_thread_num();
#pragma omp task shared(made) firstprivate(mine)
    {
      made[mine] = malloc(sizeof(int));
      *made[mine] = mine + 1;
    }
  }
  int right = 0;
  const int all = omp_get_max_threads();
#pragma omp parallel for reduction(+ : right) schedule(static, 1)
  for (int i = 0; i < all; ++i) right += *made[all - 1 - i] == all - i;
  for (int i = 0; i < all; ++i) free(made[i]);
  expect("memory that tasks have allocated", right, all);
}

/* A file that main has opened gets the text of all threads in the order of barriers. */
static void files(void) {
  FILE* file = tmpfile();
  const int threads = omp_get_max_threads();
  int own = 0;
  fputs("begin\n", file);
#pragma omp parallel reduction(+ : own)
  {
    const int thread = omp_get_thread_num();
    fprintf(file, "first %d\n", thread);
#pragma omp barrier
    fputs("second", file);
    fputc('!', file);
    fwrite("\n", 1, 1, file);
    FILE* mine = tmpfile();
    int read = -1;
    fprintf(mine, "%d", thread);
    rewind(mine);
    own += fscanf(mine, "%d", &read) == 1 && read == thread;
    fclose(mine);
  }
  fputs("end", file);
  rewind(file);
  char word[100];
  int marks = 0, numbers = 0, at = 0, number;
  expect("the first word of a file", fscanf(file, "%99s", word) == 1 && strcmp(word, "begin") == 0, 1);
  while (fscanf(file, " first %d", &number) == 1) numbers += number, ++at;
  expect("threads that have written to it", at, threads);
  expect("what they have written", numbers, threads * (threads - 1) / 2);
  long bytes = 0, letters = 0;
  for (int c; (c = fgetc(file)) != EOF && bytes < 10000; ++bytes) marks += c == '!', letters += c == 'c';
  expect("what they have written after a barrier", marks == threads && letters == threads, 1);
  fclose(file);
  expect("files of threads", own, threads);
}

// The last thread alone writes the page for long, so the page moves to its rank. A thread's plain and atomic accesses
// to a variable are in the order of its program.
static _Alignas(4096) struct {
  long count;
  double value;
  char marks[4080];
} moved;
static void plain_beside_atomic(void) {
  int errors = 0;
  long seen;
  for (int round = 0; round < 40; ++round) {
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) moved.marks[round] = 1;
  }
  for (int round = 0; round < 3; ++round) {
    moved.count = 5, moved.value = 0.5;
#pragma omp atomic
    moved.count += 2;
#pragma omp atomic
    moved.value += 2;
    errors += moved.count != 7 || moved.value != 2.5;
    moved.count = 20;
#pragma omp atomic read
    seen = moved.count;
    errors += seen != 20;
#pragma omp atomic capture
    seen = moved.count++;
    errors += seen != 20 || moved.count != 21;
#pragma omp parallel
    {
#pragma omp atomic
      ++moved.count;
    }
    errors += moved.count != 21 + omp_get_max_threads();
  }
  expect("plain accesses beside atomic ones", errors, 0);
}

/* ---- a variable that single nowait sets, to which others add soon after: rank 0 comes late ---- */
static void late_single(void) {
  static int sum;
  sum = 1000;
#pragma omp parallel
  {
    if (omp_get_thread_num() < omp_get_max_threads() / 2) usleep(20000);
#pragma omp single nowait
    sum = 0;
    usleep(20000);
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += i;
  }
  expect("a sum that a late single begins", sum, n * (n - 1) / 2);
}

/* The same on a page that other ranks write most, round after round, and so may become the home of. It is a race, with
   which threads of one process are wrong now and then. */
static void often_single(void) {
  if (getenv("HIROBA_JOB") == NULL) return;
  static struct {
    double sum, work[511];
  } page __attribute__((aligned(4096)));
  int errors = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < 511; ++i)
        if (i > 511 / omp_get_num_threads()) page.work[i] = i + round;
      for (int turn = 0; turn < 30; ++turn) {
#pragma omp single nowait
        page.sum = 0;
        double mine = 0;
#pragma omp for nowait
        for (int i = 0; i < n; ++i) mine += i;
#pragma omp atomic
        page.sum += mine;
#pragma omp barrier
#pragma omp atomic
        errors += page.sum != n * (n - 1) / 2;
#pragma omp barrier
      }
    }
  }
  expect("sums that single begins, many times", errors, 0);
}

int main(void) {
  for (int round = 0; round < 2; ++round) {
    chains(), reductions(), barrier_before_loop(), sizes_of_chunks(), settings(), locks_of_tasks(), threadprivate();
    memory_of_tasks(), files(), plain_beside_atomic(), late_single(), often_single();
  }
  if (!wrong) puts("ok");
  return wrong;
}
