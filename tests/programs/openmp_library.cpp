#include "openmp_library.hpp"

#include <cstdio>
#include <map>
#include <stdexcept>

int library_level = 7;
std::vector<int> library_list(1000, 3);
thread_local int library_local = 5;
int library_private[100];

namespace {

std::map<std::string, int> words = {{"a", 1}, {"b", 2}};
int calls = 0;

struct Announced {
  Announced() { std::printf("constructed\n"); }
  ~Announced() { std::printf("destructed with %zu words\n", words.size()); }
} announced;

__attribute__((constructor(101))) void begin_early() { library_level = 8; }
__attribute__((destructor)) void end_late() { std::printf("late\n"); }

struct Square : Shape {
  explicit Square(double size) : size(size) {}
  double area() const override { return size * size; }
  double size;
};

int make_once() {
  std::printf("made once\n");
  return 42;
}

}  // namespace

std::unique_ptr<Shape> make_shape(const std::string& kind, double size) {
  if (kind == "square") return std::make_unique<Square>(size);
  throw std::invalid_argument(kind);
}

bool refuses_other_shapes() {
  try {
    make_shape("other", 1);
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

void add_word(const std::string& word) { ++words[word]; }

int count_of(const std::string& word) {
  const auto found = words.find(word);
  return found == words.end() ? 0 : found->second;
}

int made_once() {
  static const int value = make_once();
  return value;
}

int copied_in() {
  int wrong = 0;
  library_private[7] = 99;
#pragma omp parallel copyin(library_private) reduction(+ : wrong)
  wrong += library_private[7] != 99;
  return wrong;
}

int library_calls() { return ++calls; }

long sum_in_critical(int n) {
  static long total;
  total = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp critical(library)
    total += i;
  }
  return total;
}

long sum_in_tasks(int n) {
  static long total;
  total = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; i++)
#pragma omp task firstprivate(i)
  {
#pragma omp atomic
    total += i;
  }
  return total;
}

int copied_in_plugin() { return copied_in(); }
