// An OpenMP program without anything of Hiroba: tasks, which threads of all ranks execute. Prints the parts that are
// wrong, and "ok". Argument: the seed of a random graph.
#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static int wrong;

static void expect(const char* what, double got, double wanted) {
  if (got == wanted) return;
  std::printf("%s: %.17g instead of %.17g\n", what, got, wanted);
  wrong = 1;
}

// ---- recursion ----
static int fib(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a) if (n > 4)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static void recursion() {
  int result = 0;
#pragma omp parallel
#pragma omp single
  result = fib(16);
  expect("recursion with taskwait", result, 987);
}

// Each task makes the next one and ends: that must not use stack.
static void chain_of(int left, long* sum) {
#pragma omp atomic
  *sum += left;
  if (left == 0) return;
#pragma omp task firstprivate(left, sum)
  chain_of(left - 1, sum);
}

static void chain() {
  long sum = 0;
#pragma omp parallel
#pragma omp single
  chain_of(20000, &sum);
  expect("a chain of tasks", static_cast<double>(sum), 20000.0 * 20001 / 2);
}

// ---- who executes them ----
static void spread() {
  int by[256] = {}, all = 0, some = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 40; ++i) {
#pragma omp task shared(by)
    {
      usleep(3000);
#pragma omp atomic
      ++by[omp_get_thread_num()];
    }
  }
  for (int b : by) all += b, some += b > 0;
  expect("tasks of one thread", all, 40);
  if (omp_get_max_threads() > 1 && some < 2) expect("threads that execute them", some, omp_get_max_threads());
}

static void many() {
  long sum = 0;
  std::vector<long> part(3000);
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < 1000; ++i) {
#pragma omp task shared(part)
      part[i] = i;
    }
#pragma omp barrier
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 1000; ++i) sum += part[i];
#pragma omp single nowait
    for (int i = 1000; i < 3000; ++i) {
#pragma omp task shared(part)
      part[i] = i;
    }
  }
  for (int i = 1000; i < 3000; ++i) sum += part[i];
  expect("tasks of all threads, and of one", static_cast<double>(sum), 2999.0 * 3000 / 2);
}

// ---- data ----
struct alignas(64) Large {
  double value[300];
};

static void data() {
  std::string text = "short", longer(100, 'x');
  Large large = {};
  for (int i = 0; i < 300; ++i) large.value[i] = i;
  std::vector<double> got(20);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; ++i) {
    text[0] = static_cast<char>('a' + i), large.value[0] = i;
#pragma omp task shared(got) firstprivate(text, longer, large, i)
    {
      usleep(100);
      const bool same = text.size() == 5 && text[0] == 'a' + i && longer == std::string(100, 'x');
      const bool is_aligned = reinterpret_cast<unsigned long>(&large) % 64 == 0;
      got[i] = same && is_aligned ? large.value[0] + large.value[299] : -1;
    }
  }
  for (int i = 0; i < 20; ++i) expect("firstprivate", got[i], 299 + i);
}

// ---- groups, undeferred ----
static void deep(int depth, int* count) {
#pragma omp atomic
  ++*count;
  if (depth == 0) return;
  for (int i = 0; i < 3; ++i) {
#pragma omp task
    deep(depth - 1, count);
  }
}

static void groups() {
  int count = 0, seen = 0, before = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(before)
    {
      usleep(2000);
      before = 1;
    }
#pragma omp taskgroup
    deep(5, &count);
    seen = count;
#pragma omp taskwait
    expect("a task before the group", before, 1);
#pragma omp task if (0) shared(count)
    count = -1;
    expect("a task that is not deferred", count, -1);
  }
  expect("a taskgroup", seen, 364);
}

// ---- taskloop ----
template <typename T>
static void loops_of() {
  std::vector<int> a(1000), b(1000), c(1000), d(7);
  T last = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop shared(a) lastprivate(last)
    for (T i = 0; i < 1000; ++i) ++a[i], last = i;
#pragma omp taskloop grainsize(32) shared(b) nogroup
    for (long i = 999; i > 0; i -= 2) ++b[i];
#pragma omp taskloop num_tasks(17) collapse(2) shared(c)
    for (T i = 0; i < 10; ++i)
      for (T k = 0; k < 100; ++k) ++c[i * 100 + k];
#pragma omp taskloop grainsize(strict : 3) shared(d) if (0)
    for (T i = 0; i < 7; ++i) ++d[i];
#pragma omp taskloop
    for (T i = 5; i < 5; ++i) std::abort();
  }
  for (int i = 0; i < 1000; ++i) expect("taskloop", a[i] * 100 + b[i] * 10 + c[i], 101 + (i % 2) * 10);
  for (int x : d) expect("taskloop, not deferred", x, 1);
  expect("lastprivate", static_cast<double>(last), 999);
}

// ---- dependences ----
static void wavefront() {
  enum { n = 24 };
  static int m[n + 1][n + 1], w[n + 1][n + 1];
  for (int i = 0; i <= n; ++i) m[i][0] = m[0][i] = w[i][0] = w[0][i] = 1;
  for (int i = 1; i <= n; ++i)
    for (int k = 1; k <= n; ++k) w[i][k] = (w[i - 1][k] + w[i][k - 1]) % 1000003;
#pragma omp parallel
#pragma omp single
  for (int i = 1; i <= n; ++i)
    for (int k = 1; k <= n; ++k) {
#pragma omp task depend(in : m[i - 1][k], m[i][k - 1]) depend(out : m[i][k])
      m[i][k] = (m[i - 1][k] + m[i][k - 1]) % 1000003;
    }
  expect("a wavefront", std::memcmp(m, w, sizeof m), 0);
}

static void kinds_of_depend() {
  int x = 0, sum = 0, seen = 0, late = 0, by_object = 0;
  omp_depend_t object;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    {
      usleep(1000);
      x = 1;
    }
    for (int i = 0; i < 10; ++i) {
#pragma omp task depend(mutexinoutset : sum) depend(in : x) shared(sum, x)
      sum += x;
    }
#pragma omp task depend(in : sum, x) if (0) shared(seen, sum)
    seen = sum;
    expect("depend of a task that is not deferred", seen, 10);
#pragma omp task depend(out : late) shared(late)
    {
      usleep(1000);
      late = 5;
    }
#pragma omp taskwait depend(in : late)
    expect("taskwait depend", late, 5);
#pragma omp depobj(object) depend(inout : late)
#pragma omp task depend(depobj : object) shared(late)
    {
      usleep(1000);
      late = 6;
    }
#pragma omp task depend(in : late) shared(late, by_object)
    by_object = late;
#pragma omp taskwait
#pragma omp depobj(object) destroy
  }
  expect("depobj", by_object, 6);
}

static unsigned mixed(unsigned a, unsigned b) { return (a * 2654435761u) ^ (b + 0x9e3779b9u + (a << 6)); }

// Tasks read two objects and change a third one; the order of the program decides.
static void random_graph(unsigned seed) {
  enum { objects = 12, tasks = 600 };
  static unsigned shared_x[objects], x[objects];
  struct Choice {
    int read, other, changed;
  };
  std::vector<Choice> choices;
  unsigned state = seed;
  const auto choose = [&] { return static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % objects; };
  for (int i = 0; i < tasks; ++i) choices.push_back({choose(), choose(), choose()});
  for (int i = 0; i < objects; ++i) shared_x[i] = x[i] = static_cast<unsigned>(i);
  for (const Choice& c : choices) x[c.changed] = mixed(x[c.changed], x[c.read] + x[c.other]);
#pragma omp parallel
#pragma omp single
  for (const Choice& c : choices) {
    const int read = c.read, other = c.other, changed = c.changed;
#pragma omp task depend(in : shared_x[read], shared_x[other]) depend(inout : shared_x[changed])
    shared_x[changed] = mixed(shared_x[changed], shared_x[read] + shared_x[other]);
  }
  for (int i = 0; i < objects; ++i)
    if (shared_x[i] != x[i]) std::printf("seed %u: ", seed), expect("a random graph", shared_x[i], x[i]);
}

// ---- with other constructs ----
static void beside_others() {
  omp_lock_t lock;
  omp_init_lock(&lock);
  long sum = 0, inner = 0, waited = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_set_lock(&lock);
    for (int i = 0; i < 70; ++i) {
#pragma omp task shared(waited, lock)
      {
        omp_set_lock(&lock);
        ++waited;
        omp_unset_lock(&lock);
      }
    }
    omp_unset_lock(&lock);
  }
#pragma omp parallel
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(sum, lock)
      {
        omp_set_lock(&lock);
        long more = 0;
#pragma omp task shared(more)
        more = 1;
#pragma omp taskwait
        sum += more;
        omp_unset_lock(&lock);
      }
    }
#pragma omp single
    {
#pragma omp task shared(inner)
      {
#pragma omp parallel num_threads(2) reduction(+ : inner)
        inner += 1;
      }
    }
    for (int i = 0; i < 5; ++i) {
#pragma omp task shared(sum)
#pragma omp critical
      sum += 100;
    }
  }
  // The number of threads that a task sets is its own.
  int set = 0, kept = 0;
#pragma omp parallel
#pragma omp single
  {
    const int before = omp_get_max_threads();
#pragma omp task if (0) shared(set)
    {
      omp_set_num_threads(before + 3);
      set = omp_get_max_threads() - before;
    }
    kept = omp_get_max_threads() - before;
  }
  expect("threads of a task", set * 10 + kept, 30);
  const int threads = omp_get_max_threads();
  expect("tasks with locks", static_cast<double>(sum), threads * 520.0);
  expect("tasks that want a lock of their maker", static_cast<double>(waited), 70);
  if (inner != 1) expect("a region in a task", static_cast<double>(inner), 2);
  omp_destroy_lock(&lock);
}

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  recursion();
  chain();
  spread();
  many();
  data();
  groups();
  loops_of<int>();
  loops_of<unsigned long long>();
  wavefront();
  kinds_of_depend();
  for (unsigned i = 0; i < 3; ++i) random_graph(seed + i);
  beside_others();
  std::puts(wrong ? "wrong" : "ok");
  return wrong;
}
