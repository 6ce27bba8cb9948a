// An OpenMP program in C++: global objects that are made before main, streams, containers that threads fill, and exit
// in the place of a return. Prints "ok".
#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::vector<int> made_before(100, 7);
std::map<std::string, int> names = {{"one", 1}, {"two", 2}};
std::atomic<long> counted{0};
struct Pair {
  long first, second;
};
struct Four {
  long part[4];
};
std::atomic<Pair> counted_twice{{0, 0}};
std::atomic<Four> counted_fourfold{{{0, 0, 0, 0}}};

template <typename T, typename Change>
void change(std::atomic<T>& object, const Change& by) {
  for (T old = object.load();;) {
    T next = old;
    by(next);
    if (object.compare_exchange_strong(old, next)) return;
  }
}

struct AtEnd {
  ~AtEnd() { std::cout << (made_before.size() == 100 ? "ok\n" : "the objects are gone\n"); }
} at_end;

bool fails(const char* what, bool right) {
  if (!right) std::cout << what << " is wrong\n";
  return !right;
}

}  // namespace

int main() {
  std::vector<std::string> texts(50);
  long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (int i = 0; i < 50; ++i) {
    std::ostringstream text;
    text << "text " << i << " of a length that no small string has: " << i * i;
    texts[static_cast<size_t>(i)] = text.str();
    sum += made_before[static_cast<size_t>(i)] + names.at("two");
    counted.fetch_add(1);
    change(counted_twice, [](Pair& pair) { ++pair.first, pair.second += 2; });
    change(counted_fourfold, [](Four& four) { ++four.part[0], four.part[3] += 3; });
  }
  bool wrong = fails("a sum over global objects", sum == 50 * 9);
  wrong = fails("an atomic of C++", counted == 50) || wrong;
  wrong =
      fails("an atomic of 16 bytes", counted_twice.load().first == 50 && counted_twice.load().second == 100) || wrong;
  const Four four = counted_fourfold.load();
  wrong = fails("an atomic of 32 bytes", four.part[0] == 50 && four.part[3] == 150) || wrong;
  for (int i = 0; i < 50; ++i)
    wrong = fails("a string", texts[static_cast<size_t>(i)].find("text " + std::to_string(i) + " of") == 0) || wrong;
  std::vector<std::unique_ptr<std::vector<double>>> parts(static_cast<size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
    auto& mine = parts[static_cast<size_t>(omp_get_thread_num())];
    mine = std::make_unique<std::vector<double>>(30000, omp_get_thread_num());
  }
  double all = 0;
  for (const auto& part : parts) all += part->front() + part->back();
  const double threads = omp_get_max_threads();
  wrong = fails("what threads have allocated", all == threads * (threads - 1)) || wrong;
  parts.clear();
  std::exit(wrong ? 1 : 0);
}
