// For option report: report_cases CASE [remedied] [part] [short] has one problem, or is the same program without it;
// with `part` it does less work, with `short` half of that. Arrays have names, so that advice can be compared.
// report_cases faults N makes N page faults on each rank.
#include <collective.h>
#include <sms.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <task.hpp>
#include <vector>

#include "programs.h"

namespace {

constexpr int page_doubles = PAGE / 8;
volatile double sink;
int fraction = 1;  // of the work

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void iterate(int times) {
  double x = 1;
  for (int i = 0; i < times; ++i) x = x * 1.0000001 + 1e-9;
  sink = x;
}

// A fixed amount of work, some microseconds for each unit.
void compute(int units) { iterate(units * 1000); }

double* doubles(size_t pages, bool divided, const char* name) {
  const int dim[] = {static_cast<int>(pages * page_doubles), -1}, div[] = {divided ? sms_nprocs : 1, -1};
  auto* const array = static_cast<double*>(sms_mapalloc(dim, div, sizeof(double), 0, divided ? sms_nprocs : 1));
  sms_name(array, name);
  return array;
}

// Where this rank's part of an array of `pages` for each rank begins, and the next rank's.
struct Parts {
  size_t own, next;
  explicit Parts(size_t pages)
      : own(static_cast<size_t>(sms_rank) * pages * page_doubles),
        next(static_cast<size_t>((sms_rank + 1) % sms_nprocs) * pages * page_doubles) {}
};

void false_sharing(bool remedied) {
  constexpr int pages = 16;
  double* const b = doubles(static_cast<size_t>(pages * sms_nprocs), remedied, "B");
  for (int step = 0; step < 8000 / fraction; ++step) {
    for (int i = 0; i < pages * page_doubles; i += 64)
      b[remedied ? sms_rank * pages * page_doubles + i : i + sms_rank] += 1;
    compute(1);
    sms_barrier();
  }
}

// Rank 0 fills what all ranks then read, each its own part.
void serial_fill(bool remedied) {
  const size_t pages = 512;
  double* const b = doubles(pages * static_cast<size_t>(sms_nprocs), true, "B");
  const size_t own = Parts(pages).own, part = pages * page_doubles;
  const size_t first = remedied ? own : 0, end = remedied ? own + part : part * static_cast<size_t>(sms_nprocs);
  double sum = 0;
  for (int step = 0; step < 30 / fraction; ++step) {
    for (size_t i = first; i < end && (remedied || sms_rank == 0); i += 8) {
      if (i % 128 == 0) compute(4);
      b[i] = static_cast<double>(i) + step;
    }
    sms_barrier();  // the end of a fill
    for (size_t i = own; i < own + part; i += page_doubles) sum += b[i];
    sms_barrier();
  }
  sink = sum;
}

// Every rank reads a part of what its neighbour has written, in order, and another part each time.
void missing_preload(bool remedied) {
  const size_t pages = 2048;
  double* const b = doubles(pages * static_cast<size_t>(sms_nprocs), true, "B");
  const auto [own, next] = Parts(pages);
  for (int step = 0; step < 160 / fraction; ++step) {
    const size_t first = static_cast<size_t>(step % 8);
    for (size_t page = 0; page < pages; ++page) b[own + page * page_doubles] = step;
    sms_barrier();
    const int64_t base = static_cast<int64_t>(next + first * page_doubles);
    const sms_range section[] = {{base, pages / 8, 8 * page_doubles}};
    if (remedied) sms_preload(b, section);
    double sum = 0;
    for (size_t page = first; page < pages; page += 8) sum += b[next + page * page_doubles];
    sink = sum;
    compute(200);
    sms_barrier();
  }
}

void lock_contention(bool remedied) {
  double* const sum = doubles(1, false, "sum");
  double mine = 0;
  for (int i = 0; i < 2000 / fraction; ++i) {
    if (!remedied) sms_lock(3);
    compute(100);
    if (remedied) mine += 1;
    else *sum += 1, sms_unlock(3);
  }
  mine = sms_reduce_double(mine, SMS_SUM);
  sms_barrier();
}

// Each for a time of 10 ms: alone, shared by all ranks, and if it is free.
void held_locks(bool /*remedied*/) {
  constexpr int times = 5, microseconds = 10000;
  for (int i = 0; i < times; ++i) sms_lock(5), usleep(microseconds), sms_unlock(5);
  for (int i = 0; i < times; ++i) sms_lock_shared(6), usleep(microseconds), sms_unlock_shared(6);
  sms_barrier();
  for (int i = 0; i < times && sms_rank == 0; ++i)
    if (sms_trylock(7) == 1) usleep(microseconds), sms_unlock(7);
}

void load_imbalance(bool remedied) {
  for (int step = 0; step < 100; ++step) {
    compute(remedied || sms_rank != 0 ? 800 : 3200);
    sms_barrier();  // the end of a step of uneven work
  }
}

// All ranks compute for equally long, but not before each barrier.
void uneven_in_turn(bool remedied) {
  for (int step = 0; step < 100; ++step) {
    compute(remedied || sms_rank != 0 ? 800 : 3200);
    sms_barrier();  // the end of the first loop
    compute(remedied || sms_rank == 0 ? 800 : 3200);
    sms_barrier();  // the end of the second loop
  }
}

// Ranks that meet in collective operations only.
void uneven_operations(bool remedied) {
  double mine = 1, sum = 0;
  for (int step = 0; step < 100; ++step) {
    compute(remedied || sms_rank != sms_nprocs - 1 ? 800 : 3200);
    hiroba_allreduce(&mine, &sum, 1, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL);  // after uneven work
  }
}

void slow_rank(bool remedied) {
  for (int step = 0; step < 100; ++step) {
    compute(800);
    if (!remedied && sms_rank == sms_nprocs - 1) usleep(10000);
    sms_barrier();  // the end of a step of a slow rank
  }
}

void worst_placement(bool remedied) {
  constexpr int pages = 256;
  double* const b = doubles(static_cast<size_t>(pages * sms_nprocs), remedied, "B");
  for (int step = 0; step < 2400 / fraction; ++step) {
    for (int i = 0; i < pages * page_doubles; ++i) b[sms_rank * pages * page_doubles + i] = step + i;
    sms_barrier();
  }
}

void irregular_order(bool remedied) {
  constexpr size_t pages = 4096;
  double* const b = doubles(pages * static_cast<size_t>(sms_nprocs), true, "B");
  const auto [own, next] = Parts(pages);
  rng random = {static_cast<uint64_t>(sms_rank)};
  for (int step = 0; step < 48 / fraction; ++step) {
    for (size_t page = 0; page < pages; ++page) b[own + page * page_doubles] = step;
    sms_barrier();
    const sms_range section[] = {{static_cast<int64_t>(next), pages * page_doubles, 1}};
    if (remedied) sms_preload(b, section);
    double sum = 0;
    for (int i = 0; i < 1000; ++i) sum += b[next + rng_below(&random, pages) * page_doubles];
    sink = sum;
    compute(200);
    sms_barrier();
  }
}

// Little is done between barriers, so most of the time goes into finding the pages that were written. A rank reads
// those of a rank of another node.
void short_epochs(bool remedied) {
  constexpr size_t pages = 256, apart = 4;
  double* const b = doubles(pages * static_cast<size_t>(sms_nprocs), true, "B");
  const size_t own = Parts(pages).own, part = pages * page_doubles;
  const size_t next = static_cast<size_t>((sms_rank + sms_nprocs / 2) % sms_nprocs) * part;
  for (int step = 0; step < 6000 / fraction; ++step) {
    for (size_t page = 0; page < pages; page += apart)
      b[own + page * page_doubles + static_cast<size_t>(step % 8)] = step;
    if (remedied && step % 100 != 99) continue;
    sms_barrier();  // the end of a short epoch
    const sms_range section[] = {{static_cast<int64_t>(next), pages / apart / 2, 2 * apart * page_doubles}};
    sms_preload(b, section);
    double sum = 0;
    for (size_t page = 0; page < pages; page += 2 * apart) sum += b[next + page * page_doubles];
    sink = sum;
    sms_barrier();
  }
}

// The remedy is option cache.
void thrashing(bool) {
  constexpr size_t pages = 1024;
  double* const b = doubles(pages * static_cast<size_t>(sms_nprocs), true, "B");
  const auto [own, next] = Parts(pages);
  for (size_t i = 0; i < pages * page_doubles; ++i) b[own + i] = 1;
  sms_barrier();
  for (int step = 0; step < 100; ++step) {
    double sum = 0;
    for (size_t i = 0; i < pages * page_doubles; i += 16) sum += b[next + i];
    sink = sum;
  }
  sms_barrier();
}

// Returns true, in all ranks alike, until the calls have taken long enough for advice: on a machine with much other
// work each takes a hundred times as long as on a fast one.
bool goes_on(int calls, double begin) {
  if (calls % 100 != 0) return true;
  return sms_reduce_double(now() - begin, SMS_MAX) < 0.4;
}

void collective_in_loop(bool remedied) {
  constexpr int most = 1 << 22;
  std::vector<double> values(most, 1), sums(most);
  const double begin = now();
  int i = 0;
  for (; remedied ? i < 100000 : i < most && goes_on(i, begin); ++i) {
    iterate(100);
    if (!remedied) hiroba_allreduce(&values[i], &sums[i], 1, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL);
  }
  if (sms_rank == 0) printf("%d times\n", i);
  if (remedied) hiroba_allreduce(values.data(), sums.data(), 100000, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL);
}

// The same by a reduction of one value.
void reduction_in_loop(bool remedied) {
  double sum = 0, mine = 0;
  const double begin = now();
  for (int i = 0; remedied ? i < 100000 : goes_on(i, begin); ++i) {
    iterate(100);
    if (remedied) mine += i;
    else sum += sms_reduce_double(i, SMS_SUM);
  }
  sink = sum + sms_reduce_double(mine, SMS_SUM);
}

void small_tasks(bool remedied) {
  static constexpr int many = 1 << 18, block = 1024;
  double* const b = doubles(many / page_doubles, true, "B");
  for (int i = 0; i < many; i += remedied ? block : 1) {
    const int count = remedied ? block : 1;
    hiroba::task(hiroba::out(b + i, static_cast<size_t>(count)), [=] {
      for (int k = i; k < i + count; ++k) b[k] = k;
    });
  }
  hiroba::taskwait();
  for (int step = 0; remedied && step < 100; ++step) compute(300);
}

// Each page of the next rank's part is fetched again and again, if option cache is smaller than the part, and option
// readahead does not bring more than that page. Prints what memory each rank takes.
void faults(size_t many) {
  constexpr size_t pages = 1024;
  double* const b = doubles(pages * static_cast<size_t>(sms_nprocs), true, "B");
  const auto [own, next] = Parts(pages);
  for (size_t page = 0; page < pages; ++page) b[own + page * page_doubles] = 1;
  sms_barrier();
  for (size_t done = 0; done < many; done += pages) {
    double sum = 0;
    for (size_t page = 0; page < pages; ++page) sum += b[next + page * page_doubles];
    sink = sum;
    b[own + done % pages * page_doubles] += 1;
    sms_barrier();
  }
  char line[128];
  std::FILE* const file = std::fopen("/proc/self/smaps_rollup", "re");
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, "Rss:", 4) == 0) printf("rank %d: %ld KiB\n", sms_rank, std::strtol(line + 4, nullptr, 10));
  if (file != nullptr) std::fclose(file);
}

// The name of an array that a page must not take for its own text.
void names(bool) {
  doubles(1, false, "</script><b>\"bold\"\\")[0] = 1;
  sms_barrier();
}

// Two arrays of one name and size. The last rank writes a page of both.
void twins(bool) {
  double* const twins[] = {doubles(4, false, "B"), doubles(4, false, "B")};
  for (double* const b : twins)
    if (sms_rank == sms_nprocs - 1) b[page_doubles] = 1;
  sms_barrier();
}

void killed(bool) {
  for (int step = 0; step < 50; ++step) compute(200), sms_barrier();
  if (sms_rank == sms_nprocs - 1) raise(SIGKILL);
  sms_barrier();
}

// A chain of 16 tasks, twice as many shorter ones beside it, twice.
void chain(bool) {
  double* const b = doubles(64, true, "B");
  // A task that is created after its predecessor has ended begins a new chain, so the first one waits for the last.
  static std::atomic<int> phases_created = 0;
  for (int phase = 0; phase < 2; ++phase) {
    for (int i = 0; i < 16; ++i) {
      hiroba::task(hiroba::inout(b, size_t{1}), [phase] {
        while (phases_created <= phase) usleep(100);
        compute(1200);
      });
      for (int k = 1; k <= 2; ++k)
        hiroba::task(hiroba::inout(b + (2 * i + k) * page_doubles, size_t{1}), [] { compute(200); });
    }
    ++phases_created;
    hiroba::taskwait();
  }
}

// Runs until it is ended; rank 0 comes last to each barrier.
void endless(bool) {
  double* const b = doubles(static_cast<size_t>(64 * sms_nprocs), true, "B");
  const auto [own, next] = Parts(64);
  for (int step = 0;; ++step) {
    for (int page = 0; page < 64; ++page) b[own + static_cast<size_t>(page * page_doubles)] = step;
    sms_barrier();
    double sum = 0;
    for (int page = 0; page < 64; ++page) sum += b[next + static_cast<size_t>(page * page_doubles)];
    sink = sum;
    if (sms_rank == 0) usleep(50000);
    sms_barrier();
  }
}

constexpr struct {
  const char* name;
  void (*run)(bool);
} cases[] = {{"false_sharing", false_sharing},
             {"serial_fill", serial_fill},
             {"missing_preload", missing_preload},
             {"lock_contention", lock_contention},
             {"held_locks", held_locks},
             {"load_imbalance", load_imbalance},
             {"uneven_in_turn", uneven_in_turn},
             {"uneven_operations", uneven_operations},
             {"slow_rank", slow_rank},
             {"twins", twins},
             {"worst_placement", worst_placement},
             {"irregular_order", irregular_order},
             {"short_epochs", short_epochs},
             {"thrashing", thrashing},
             {"collective", collective_in_loop},
             {"reduction", reduction_in_loop},
             {"small_tasks", small_tasks},
             {"chain", chain},
             {"endless", endless},
             {"killed", killed},
             {"names", names}};

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  bool remedied = false;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "remedied") == 0) remedied = true;
    if (std::strcmp(argv[i], "part") == 0) fraction *= 4;
    if (std::strcmp(argv[i], "short") == 0) fraction *= 2;
  }
  const double begin = now();
  for (const auto& one : cases)
    if (argc > 1 && std::strcmp(one.name, argv[1]) == 0) one.run(remedied);
  if (argc > 2 && std::strcmp(argv[1], "faults") == 0) faults(std::strtoul(argv[2], nullptr, 10));
  sms_barrier();
  if (sms_rank == 0) printf("%.3f s\n", now() - begin);
  return sms_shutdown();
}
