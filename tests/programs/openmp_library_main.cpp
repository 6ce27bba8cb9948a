// Changes what a library has, and reads it in a region.
#include "openmp_library.hpp"

#include <cstdio>

int main() {
  library_level = 20;
  library_list.push_back(9);
  add_word("a"), add_word("c");
  const auto square = make_shape("square", 2);
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    wrong += library_level != 20;
    wrong += library_list.size() != 1001 || library_list[1000] != 9;
    wrong += count_of("a") != 2 || count_of("b") != 2 || count_of("c") != 1;
    wrong += library_local != 5;
    wrong += square->area() != 4 || make_shape("square", 3)->area() != 9;
    wrong += !refuses_other_shapes();
    wrong += made_once() != 42;
  }
  std::printf("%d wrong, %ld, %ld, %d not copied\n", wrong, sum_in_critical(1000), sum_in_tasks(100), copied_in());
  return wrong;
}
