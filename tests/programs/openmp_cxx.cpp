// Uses of the C++ library by OpenMP programs, in regions of all ranks. Prints "ok".
#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <memory>
#include <mutex>
#include <regex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
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

// A stream of main, and streams of threads, whose names main has made.
void use_streams() {
  const char* const folder = std::getenv("TMPDIR");
  const std::string name = std::string(folder != nullptr ? folder : "/tmp") + "/openmp-cxx-" + std::to_string(getpid());
  std::ofstream out(name);
  out << "begin" << std::setw(4);
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 9; ++i) {
#pragma omp ordered
    out << i << ' ';
  }
  out << std::hex << 255 << std::endl;
  out.close();
  std::ifstream in(name);
  std::string line;
  expect(static_cast<bool>(std::getline(in, line)) && line == "begin   0 1 2 3 4 5 6 7 8 ff", "std::ofstream");
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back(name + "." + std::to_string(i));
  int wrong = 0;
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 12; ++i) std::ofstream(names[static_cast<size_t>(i)]) << i << '\n';
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < 12; ++i) {
    const std::string& other = names[static_cast<size_t>((i + 1) % 12)];
    int got = -1;
    std::ifstream(other) >> got;
    wrong += got != (i + 1) % 12;
  }
  for (const std::string& each : names) wrong += std::remove(each.c_str()) != 0;
  expect(wrong == 0 && std::remove(name.c_str()) == 0, "streams of threads");
}

// Locks, condition variables, and what is done once.
void exclude() {
  static std::mutex mutex;
  static std::recursive_timed_mutex timed;
  static std::shared_mutex readers;
  static std::once_flag once;
  std::condition_variable ready;
  int count[3] = {}, calls = 0, turn = 0;
#pragma omp parallel for
  for (int i = 0; i < 60; ++i) {
    {
      const std::scoped_lock guard(mutex, timed);
      ++count[0];
    }
    {
      const std::unique_lock<std::recursive_timed_mutex> outer(timed), inner(timed);
      ++count[1];
    }
    {
      const std::unique_lock<std::shared_mutex> guard(readers);
      ++count[2];
    }
    const std::shared_lock<std::shared_mutex> guard(readers);
    std::call_once(once, [&calls] { ++calls; });
  }
  expect(count[0] == 60 && count[1] == 60 && count[2] == 60 && calls == 1, "locks, and call_once");
#pragma omp parallel num_threads(omp_get_max_threads())
  {
    std::unique_lock<std::mutex> guard(mutex);
    ready.wait(guard, [&turn] { return turn == omp_get_thread_num(); });
    ++turn;
    ready.notify_all();
  }
  expect(turn == omp_get_max_threads(), "a condition variable");
}

int make_once() {
  static std::atomic<int> made{0};
  static const int value = [] { return 7 + made++; }();
  return value;
}

// The program has variables of the C++ library that streams use, too, here by way of the expression: the first page
// that came over a network had to wait for itself.
void match() {
  const std::regex pattern("k([0-9]+)");
  int wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < 20; ++i) {
    const std::string text = "k" + std::to_string(i);
    std::smatch found;
    wrong += !std::regex_match(text, found, pattern) || std::stoi(found[1]) != i;
  }
  expect(wrong == 0, "regular expressions");
}

void begin_once() {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  for (int i = 0; i < 10; ++i) wrong += make_once() != 7;
  expect(wrong == 0, "a variable that is static in a function");
}

// Futures and threads of main; exceptions that are caught where they are thrown.
void run_beside() {
  std::future<int> later = std::async(std::launch::async, [] { return 5; });
  std::promise<int> promise;
  std::future<int> kept = promise.get_future();
  std::thread([&promise] { promise.set_value(6); }).join();
  int caught = 0;
#pragma omp parallel for reduction(+ : caught)
  for (int i = 0; i < 12; ++i) {
    try {
      if (i % 2 == 0) throw std::runtime_error("even");
      static_cast<void>(std::stoi("no number"));
    } catch (const std::exception& error) {
      caught += error.what()[0] == 'e' || error.what()[0] == 's';
    }
  }
  expect(later.get() == 5 && kept.get() == 6 && caught == 12, "futures, and exceptions");
}

}  // namespace

int main() {
  std::ios_base::sync_with_stdio(false);
  use_streams();
  match();
  exclude();
  begin_once();
  run_beside();
  count_references();
  drop_elsewhere();
  use_flags();
  wait_for_a_flag_before_a_barrier();
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 2; ++i) {
#pragma omp ordered
    std::cout << "ok"[i];
  }
  std::cout << std::endl;
}
