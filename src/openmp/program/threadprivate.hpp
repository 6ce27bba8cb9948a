// The thread-local variables of the program, and of the libraries of its own that it is linked with, in the thread that
// runs its main. Regions read them by their addresses (copyin, copyprivate), which hold in that process only; the other
// ranks keep a copy of them at the same addresses: in their first thread, which runs no code of the program then.
//
// Owner: Regions. For the thread that begins regions, and one thread of each other rank.
#pragma once

#include <link.h>

#include <cstdint>
#include <vector>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class MainVariables {
 public:
  // Call it in the first thread of each rank. Collective.
  Status allocate(Memory& memory);
  bool any() const { return !blocks_.empty(); }

  // Returns true if there are addresses of such variables between the two, and the other ranks have to take them: they
  // have changed since it has last returned true.
  bool give(const char* begin, const char* end);
  void take();

 private:
  struct Block {  // of the program, or of a library
    char* here;
    uint64_t bytes;
    char* shared;
  };
  static int find_blocks(dl_phdr_info* object, size_t, void* variables);

  std::vector<Block> blocks_;
};

}  // namespace hiroba::openmp
