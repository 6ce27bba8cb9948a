/* An OpenMP program without anything of Hiroba, run on the threads of all ranks: each part computes what a sequential
 * program knows. Usage: openmp. Prints the parts that are wrong, and "ok". */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 3000 };
static int wrong;
static int global = 1;
static double table[n];
static int private_copy;
#pragma omp threadprivate(private_copy)

static void expect(const char* what, double got, double wanted) {
  if (got == wanted) return;
  printf("%s: %.17g instead of %.17g\n", what, got, wanted);
  wrong = 1;
}

static void regions(void) {
  const int all = omp_get_max_threads();
  int count = 0, seen[1024] = {0}, size = 0;
  global = 17;
#pragma omp parallel
  {
#pragma omp atomic
    count += global;
    seen[omp_get_thread_num()]++;
#pragma omp master
    size = omp_get_num_threads();
  }
  expect("a global in a region", count, 17.0 * all);
  expect("threads", size, all);
  int once = 0;
  for (int i = 0; i < all; ++i) once += seen[i] == 1;
  expect("thread numbers", once, all);
  expect("outside", omp_get_num_threads(), 1);
  int few = 0;
#pragma omp parallel num_threads(1)
  few += omp_get_num_threads();
  expect("a team of one", few, 1);
  int alone = 0;
#pragma omp parallel if (alone)
  few += omp_get_num_threads();
  expect("a region that is not parallel", few, 2);
}

static void loops(void) {
  double sum = 0;
  long product = 1;
  int least = n, most = -1;
  double* const heap = malloc(n * sizeof *heap);
  double* const large = malloc((size_t)1 << 20);
#pragma omp parallel for reduction(+ : sum) reduction(min : least) reduction(max : most)
  for (int i = 0; i < n; ++i) {
    table[i] = i, heap[i] = 2 * i, large[i] = 3 * i;
    sum += i;
    least = i < least ? i : least, most = i > most ? i : most;
  }
  expect("a sum", sum, n * (n - 1) / 2.0);
  expect("a minimum", least, 0);
  expect("a maximum", most, n - 1);
#pragma omp parallel for reduction(* : product) schedule(static, 1)
  for (int i = 0; i < 10; ++i) product *= i + 1;
  expect("a product", (double)product, 3628800);
  double all = 0;
  for (int i = 0; i < n; ++i) all += table[i] + heap[i] + large[i];
  expect("memory that threads have written", all, 6.0 * n * (n - 1) / 2);
  int last = 0;
  static int times[n];
  memset(times, 0, sizeof times);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 7) lastprivate(last) nowait
    for (int i = 0; i < n; ++i) {
      last = i;
#pragma omp atomic
      times[i] += 1;
    }
#pragma omp for schedule(guided)
    for (int i = n - 1; i >= 0; --i) {
#pragma omp atomic
      times[i] += 10;
    }
#pragma omp for schedule(monotonic : dynamic, 5)
    for (unsigned long i = 0; i < n; ++i) {
#pragma omp atomic
      times[i] += 100;
    }
#pragma omp for schedule(runtime)
    for (int i = 0; i < n; i += 2) {
#pragma omp atomic
      times[i] += 1000;
    }
  }
  int right = 0;
  for (int i = 0; i < n; ++i) right += times[i] == (i % 2 == 0 ? 1111 : 111);
  expect("iterations of all schedules", right, n);
  expect("lastprivate", last, n - 1);
  int order[200], at = 0;
#pragma omp parallel for ordered schedule(dynamic, 3)
  for (int i = 0; i < 200; ++i) {
#pragma omp ordered
    order[at++] = i;
  }
  right = 0;
  for (int i = 0; i < 200; ++i) right += order[i] == i;
  expect("ordered", right, 200);
  free(heap), free(large);
}

static void shares(void) {
  int first = 0, second = 0, third = 0, given = 0, value = 0;
#pragma omp parallel
  {
#pragma omp sections
    {
#pragma omp section
      first = 1;
#pragma omp section
      second = 2;
#pragma omp section
      third = 3;
    }
#pragma omp single
    value = first + second + third;
#pragma omp single copyprivate(private_copy)
    private_copy = 5;
#pragma omp atomic
    given += private_copy;
  }
  expect("sections and single", value, 6);
  expect("copyprivate", given, 5.0 * omp_get_max_threads());
  private_copy = 3, given = 0;
#pragma omp parallel copyin(private_copy)
  {
#pragma omp atomic
    given += private_copy;
  }
  expect("copyin", given, 3.0 * omp_get_max_threads());
}

static void exclusion(void) {
  int count = 0, named = 0, locked = 0, nested = 0;
  unsigned char byte = 0;
  short half = 0;
  float real = 0;
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
#pragma omp parallel
  for (int i = 0; i < 20; ++i) {
#pragma omp critical
    count += 1;
#pragma omp critical(name)
    named += 2;
    omp_set_lock(&lock);
    locked += 3;
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    nested += 1;
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
#pragma omp atomic
    byte += 1;
#pragma omp atomic
    half += 1;
#pragma omp atomic
    real += 0.5f;
  }
  const double all = 20.0 * omp_get_max_threads();
  expect("critical", count, all);
  expect("critical with a name", named, 2 * all);
  expect("a lock", locked, 3 * all);
  expect("a nested lock", nested, all);
  expect("a byte", byte, (unsigned char)all);
  expect("two bytes", half, all);
  expect("a float", real, all / 2);
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
}

static long fibonacci(int i) {
  if (i < 2) return i;
  long a, b;
#pragma omp task shared(a)
  a = fibonacci(i - 1);
#pragma omp task shared(b)
  b = fibonacci(i - 2);
#pragma omp taskwait
  return a + b;
}

static void tasks(void) {
  long result = 0;
  int chain = 0, loop = 0;
#pragma omp parallel
#pragma omp single
  {
    result = fibonacci(12);
    for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : chain)
      chain = chain * 2 + 1;
    }
#pragma omp taskloop
    for (int i = 0; i < 100; ++i) {
#pragma omp atomic
      loop += i;
    }
  }
  expect("tasks", (double)result, 144);
  expect("tasks with depend", chain, 1023);
  expect("taskloop", loop, 4950);
}

static void flush(void) {
  int flag = 0, data = 0, got = 0;
#pragma omp parallel num_threads(omp_get_max_threads())
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      data = 42;
#pragma omp flush
      *(volatile int*)&flag = 1;
#pragma omp flush
    }
    if (omp_get_thread_num() == 0) {
      while (*(volatile int*)&flag == 0) {
#pragma omp flush
      }
#pragma omp flush
      got = data;
    }
  }
  expect("flush", got, 42);
}

static void memory(void) {
  char* words[64] = {0};
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 64; ++i) {
    char text[32];
    snprintf(text, sizeof text, "word %d", i);
    words[i] = strdup(text);
    words[i] = realloc(words[i], i % 4 == 0 ? 200000 : 100);
  }
  int right = 0;
  for (int i = 0; i < 64; ++i) {
    char text[32];
    snprintf(text, sizeof text, "word %d", i);
    right += strcmp(words[i], text) == 0;
  }
  expect("objects of other threads", right, 64);
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < 64; ++i) free(words[i]);
  long* const zeros = calloc(100000, sizeof *zeros);
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100000; ++i) sum += zeros[i]++;
  expect("calloc", (double)sum, 0);
  free(zeros);
}

static void nesting(void) {
  int inner = 0;
#pragma omp parallel
  {
    int mine = 0;
#pragma omp parallel for reduction(+ : mine)
    for (int i = 0; i < 10; ++i) mine += i;
#pragma omp atomic
    inner += mine;
  }
  expect("nested regions", inner, 45.0 * omp_get_max_threads());
}

// The older atomic operations of GCC, which -fno-inline-atomics leaves instructions.
static void sync_calls(void) {
  enum { few = 60 };
  static int counts[few];
  static unsigned char bytes[few];
  static volatile int lock;
  int count = 0, guarded = 0;
  long most = 0;
  const int* last = NULL;
  memset(counts, 0, sizeof counts);
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < few; ++i) {
    counts[__sync_fetch_and_add(&count, 1)] = 1;
    __sync_xor_and_fetch(&bytes[i / 2], 1);
    for (long seen = most; seen < i && !__sync_bool_compare_and_swap(&most, seen, i);) seen = most;
    (void)__sync_val_compare_and_swap(&last, NULL, &counts[0]);
    while (__sync_lock_test_and_set(&lock, 1)) {
    }
    ++guarded;
    __sync_lock_release(&lock);
  }
  int right = 0;
  for (int i = 0; i < few; ++i) right += counts[i] == 1 && bytes[i] == 0;
  expect("counts of __sync", right, few);
  expect("the most of __sync", (double)most, few - 1);
  expect("a pointer of __sync", last == counts, 1);
  expect("a lock of __sync", guarded, few);
}

int main(int argc, char** argv) {
  expect("argv", argc == 2 && strcmp(argv[1], "word") == 0, 1);
  for (int round = 0; round < 3; ++round) {
    regions(), loops(), shares(), exclusion(), tasks(), memory(), nesting(), sync_calls();
    if (argc > 2) flush();
  }
  flush();
  if (!wrong) puts("ok");
  return wrong;
}
