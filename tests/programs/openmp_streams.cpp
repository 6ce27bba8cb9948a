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
  }
  bool wrong = fails("a sum over global objects", sum == 50 * 9);
  wrong = fails("an atomic of C++", counted == 50) || wrong;
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
