// What Memory is made of, for the files that implement it. Owner: Memory; each part says what is thread-safe.
#pragma once

#include <memory>

#include "memory/cache.hpp"
#include "memory/home_writes.hpp"
#include "memory/memory.hpp"
#include "memory/races.hpp"

namespace hiroba {

struct Memory::Parts {
  Userfaultfd uffd;
  Pagemap pagemap;
  PageStates states;
  NoticeLog notices;
  std::unique_ptr<Cache> cache;  // null on a single node: nothing is ever cached
  HomeWrites home_writes;
  RaceChecker races;
};

}  // namespace hiroba
