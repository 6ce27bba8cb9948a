// A library of an OpenMP program, as projects build them: its variables, objects and regions are the program's.
#pragma once

#include <memory>
#include <string>
#include <vector>

extern int library_level;  // the program has the variable, by a copy relocation
extern std::vector<int> library_list;
extern thread_local int library_local;
extern int library_private[100];
#pragma omp threadprivate(library_private)

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
std::unique_ptr<Shape> make_shape(const std::string& kind, double size);
bool refuses_other_shapes();

void add_word(const std::string& word);
int count_of(const std::string& word);
int made_once();
int copied_in();  // returns how many threads have other values

// For programs that open the library by dlopen().
extern "C" {
int library_calls();
long sum_in_critical(int n);
long sum_in_tasks(int n);
int copied_in_plugin();
}
