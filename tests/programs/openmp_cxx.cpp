// What OpenMP programs use of the C++ library, in regions of all ranks. Prints "ok".
#include <omp.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

struct Node : std::enable_shared_from_this<Node> {
  int value = 3;
};

// The counts are 1 again when the region has ended.
void count_references() {
  const auto shared = std::make_shared<int>(5);
  const auto node = std::make_shared<Node>();
  const std::weak_ptr<int> weak = shared;
  const auto array = std::make_shared<std::vector<int>>(3);
  const std::function<int()> captures = [array] { return (*array)[0] + 1; };
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 300; ++i) {
    const std::shared_ptr<int> copy = shared, locked = weak.lock();
    const std::shared_ptr<Node> self = node->shared_from_this();
    const std::function<int()> same = captures;
    sum += *copy + *locked + self->value + same();
  }
  expect(sum == 300 * 14, "values by shared_ptr");
  expect(shared.use_count() == 1 && node.use_count() == 1 && array.use_count() == 2, "counts of shared_ptr");
}

// Pointers that other threads have made, and the last of which any thread drops.
void drop_elsewhere() {
  static std::atomic<int> living{0};
  struct Counted {
    Counted() { ++living; }
    ~Counted() { --living; }
  };
  const int threads = omp_get_max_threads();
  std::vector<std::shared_ptr<Counted>> all(static_cast<size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const auto me = static_cast<size_t>(omp_get_thread_num());
    all[me] = std::make_shared<Counted>();
#pragma omp barrier
    std::shared_ptr<Counted> next = all[(me + 1) % all.size()];
#pragma omp barrier
    all[me].reset();
  }
  expect(living == 0, "objects that the last shared_ptr frees");
}

void use_flags() {
  static std::atomic_flag global = ATOMIC_FLAG_INIT;
  std::atomic_flag local = ATOMIC_FLAG_INIT;
  const auto allocated = std::make_unique<std::atomic_flag>();
  int count[3] = {};
  const auto add = [](std::atomic_flag& flag, int& value) {
    while (flag.test_and_set(std::memory_order_acquire)) {
    }
    ++value;
    flag.clear(std::memory_order_release);
  };
#pragma omp parallel for
  for (int i = 0; i < 60; ++i) {
    add(global, count[0]);
    add(local, count[1]);
    add(*allocated, count[2]);
  }
  expect(count[0] == 60 && count[1] == 60 && count[2] == 60, "std::atomic_flag");
  global.test_and_set();
  int seen = 0;
#pragma omp parallel reduction(+ : seen)
  seen += std::atomic_flag_test_and_set(&global);
  std::atomic_flag_clear(&global);
  expect(seen == omp_get_max_threads() && !global.test_and_set(), "a flag that main has set");
}

// A thread raises a flag and enters a barrier; another waits for it by flushes.
void wait_for_a_flag_before_a_barrier() {
  static int flag = 0, data = 0;
  for (int round = 1; round <= 5; ++round) {
    int got = 0;
#pragma omp parallel num_threads(omp_get_max_threads())
    {
      if (omp_get_thread_num() == round % omp_get_num_threads()) {
        data = 10 * round;
        flag = round;
      } else {
        while (*static_cast<volatile int*>(&flag) != round) {
#pragma omp flush
        }
#pragma omp critical
        got += data;
      }
    }
    expect(got == 10 * round * (omp_get_max_threads() - 1), "a flag before a barrier");
  }
}

}  // namespace

int main() {
  count_references();
  drop_elsewhere();
  use_flags();
  wait_for_a_flag_before_a_barrier();
  std::puts("ok");
}
