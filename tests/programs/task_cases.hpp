// Common to programs that use tasks wrongly: an array of all ranks, and cases by name, of which the first argument
// chooses one.
#pragma once

#include <initializer_list>
#include <string>

#include "programs.h"

inline int* numbers(int count) {
  const int dim[] = {count, -1}, div[] = {sms_nprocs, -1};
  return static_cast<int*>(sms_mapalloc(dim, div, sizeof(int), 0, sms_nprocs));
}

struct Case {
  const char* name;
  void (*run)();
};
#define CASE(name) {#name, name}

inline int run_case(int argc, char** argv, std::initializer_list<Case> cases) {
  sms_startup(&argc, &argv);
  for (const Case& c : cases)
    if (argc == 2 && c.name == std::string(argv[1])) c.run();
  return sms_shutdown();
}
