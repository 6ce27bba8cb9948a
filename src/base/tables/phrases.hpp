// The calls that messages of lower floors tell users to make, by the names of the notation that offers them. The
// notation sets them when the library is loaded; they are only read from then on.
#pragma once

#include "base/shown.hpp"

namespace hiroba {

struct Phrases {
  const char* end = "the call that ends the job";
  const char* exit = "exit or by returning from main";  // what ends a program early
  const char* bring_pages = "a preload";
  const char* free_object = "the call of its allocator";
  const char* resize_object = "the call of its allocator";
  const char* allocate_array = "a call of all ranks";
  const char* set_homes = "the call that sets homes";
  const char* move_homes = "a new distribution";
  const char* set_scalar = "its size";
  const char* stray = "";   // what an address that is not shared may be, after a comma
  const char* one_thread =  // where a thread makes collective calls for others
      "put it outside of the parallel region, or under `omp master` with barriers of OpenMP around it";
};

[[HIROBA_SHOWN]] Phrases& phrases();

}  // namespace hiroba
