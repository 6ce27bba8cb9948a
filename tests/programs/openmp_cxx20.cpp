// Uses of newer parts of the C++ library by OpenMP programs, in regions of all ranks. Prints "ok". With a word: without
// what does not work with option check, std::barrier and other locales.
#include <omp.h>

#include <atomic>
#include <barrier>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <latch>
#include <locale>
#include <memory>
#include <optional>
#include <random>
#include <semaphore>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

void draw_random_numbers() {
  std::set<unsigned> drawn;
  unsigned count = 0;
#pragma omp parallel
  {
    std::random_device device;
    const unsigned number = device();
#pragma omp critical
    drawn.insert(number), ++count;
  }
  expect(drawn.size() + 1 >= count, "random_device");
}

void wait_and_notify() {
  static std::atomic<int> turn{0};
  static std::atomic_flag all_came;
#pragma omp parallel
  {
    const int own = omp_get_thread_num();
    for (int seen = turn.load(); seen != own; seen = turn.load()) turn.wait(seen);
    turn.store(own + 1), turn.notify_all();
    if (own == omp_get_num_threads() - 1) all_came.test_and_set(), all_came.notify_all();
    else all_came.wait(false);
  }
  expect(turn == omp_get_max_threads(), "atomic::wait");
}

void use_atomics_of_every_size() {
  struct Triple {
    int first, second, third;
  };
  static std::atomic<double> sum{0};
  static std::atomic<Triple> triple{Triple{0, 0, 0}};
#pragma omp parallel
  {
    sum.fetch_add(1.5);
    Triple old = triple.load(), next = old;
    do next = {old.first + 1, old.second + 2, old.third + 3};
    while (!triple.compare_exchange_weak(old, next));
  }
  expect(sum == 1.5 * omp_get_max_threads() && triple.load().third == 3 * omp_get_max_threads(), "atomics");
}

void meet(bool with_barrier) {
  const int threads = omp_get_max_threads();
  std::latch done(threads);
  std::counting_semaphore<64> places(2);
  std::barrier phase(threads);
  std::atomic<int> inside{0}, most{0};
  int before = 0, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    places.acquire();
    const int here = ++inside;
    for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
    }
    --inside, places.release();
#pragma omp atomic
    ++before;
    if (with_barrier) {
      phase.arrive_and_wait();
      wrong += before != threads;
    }
    done.count_down();
    if (omp_get_thread_num() == 0) done.wait();
  }
  expect(wrong == 0 && most <= 2 && done.try_wait(), "latch, barrier, semaphore");
  std::binary_semaphore given(0);
  std::thread giver([&given] { given.release(); });
  given.acquire(), giver.join();
}

void keep_states_of_streams(bool with_locale) {
  int wrong = 0;
  std::cout << std::fixed << std::setprecision(3);
  expect(std::setlocale(LC_NUMERIC, "C") != nullptr, "setlocale");
  if (with_locale) std::locale::global(std::locale("C.UTF-8"));
#pragma omp parallel reduction(+ : wrong)
  {
    std::ostringstream out;
    std::istringstream in("1 x");
    int value = 0;
    out << std::setprecision(2) << 3.14159 << std::hex << std::setw(4) << std::setfill('0') << 255;
    in >> value >> value;
    wrong += out.str() != "3.100ff" || !in.fail() || std::cout.precision() != 3;
    wrong += with_locale && std::locale().name() != "C.UTF-8";
  }
  expect(wrong == 0, "states of streams");
}

struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};

// An exception may leave the thread by an exception_ptr.
void pass_exceptions() {
  int caught = 0;
  std::exception_ptr last;
#pragma omp parallel reduction(+ : caught)
  {
    const int own = omp_get_thread_num();
    try {
      throw Failure("from " + std::to_string(own));
    } catch (const std::runtime_error& failure) {
      caught += failure.what() == "from " + std::to_string(own);
      if (own == omp_get_num_threads() - 1) last = std::current_exception();
    }
  }
  expect(caught == omp_get_max_threads(), "exceptions in regions");
  try {
    std::rethrow_exception(last);
  } catch (const Failure& failure) {
    expect(failure.what() == "from " + std::to_string(caught - 1), "an exception of another thread");
  }
}

// A locale with facets of the program's own has no name.
struct Points : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

void group_digits() {
  const std::locale before = std::locale::global(std::locale(std::locale(), new Points));
  int wrong = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < 12; ++i) {
    std::ostringstream text;
    text << 1234567;
    wrong += text.str() != "1.234.567";
  }
  std::locale::global(before);
  expect(wrong == 0, "a facet of the program's own");
}

void use_file_systems() {
  namespace fs = std::filesystem;
  char name[] = "/tmp/openmp-XXXXXX";
  expect(mkdtemp(name) != nullptr, "mkdtemp");
  const fs::path folder(name);
  fs::create_directories(folder / "a/b");
  int wrong = 0, found = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < 8; ++i) {
    const fs::path own = folder / ("f" + std::to_string(i));
    std::ofstream(own) << i;
    wrong += fs::file_size(own) != 1;
  }
#pragma omp parallel reduction(+ : wrong)
  {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder)) files += entry.is_regular_file();
    wrong += files != 8 || !fs::exists(folder / "a/b") || fs::current_path().empty();
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder)) found += entry.is_regular_file();
  expect(wrong == 0 && found == 8 && fs::remove_all(folder) == 11, "file systems");
}

struct Last {
  ~Last() { std::puts("ok"); }
};
std::optional<Last> last;  // its destructor runs after main

}  // namespace

int main(int argc, char**) {
  draw_random_numbers();
  wait_and_notify();
  use_atomics_of_every_size();
  meet(argc == 1);
  keep_states_of_streams(argc == 1);
  pass_exceptions();
  use_file_systems();
  group_digits();
  last.emplace();
}
