// The page cache: copies of pages whose home is on another node, in this rank's memory, at the addresses where the
// program sees them. README.md has the states of a page, the order of steps, and why nothing written is lost.
//
// Owner: MemoryParts. Each part says which threads may use it.
#pragma once

#include "memory/cache/copies.hpp"
#include "memory/cache/fetches.hpp"
#include "memory/cache/writeback.hpp"

namespace hiroba {

struct Cache {
  Copies copies;
  Fetches fetches{copies, writeback};
  Writeback writeback{copies, fetches};

  // Clears the pages of an array that is being freed, or whose writes will be tracked in another way.
  void remove(Array& array) {
    fetches.finish();
    const PageRun all = {array.first_page, array.end_page - array.first_page};
    copies.remove(array, {&all, 1});
    fetches.forget(all);
  }

  // Gives back what tables have for pages that no array has any more.
  void clear_tables(const PageRun& room) {
    copies.closed.clear(room);
    fetches.forget(room);
  }
};

}  // namespace hiroba
