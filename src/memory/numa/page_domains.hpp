// Sets the NUMA domains from which new pages of a node's memory file come, moves pages, and finds their domains.
// README.md, "NUMA domains", has the rules.
//
// Owner: MemoryParts. Offsets are those of the address range. Thread-safe; move_touched() also in the fault handler.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/machine/numa_calls.hpp"
#include "base/status.hpp"
#include "memory/numa/memory_place.hpp"

namespace hiroba {

class PageDomains {
 public:
  // locate() returns it for a page that is not in use.
  static constexpr int absent = NumaCalls::absent;

  struct Config {
    NumaCalls* calls = nullptr;
    std::vector<int> domains;  // of this machine
    int fd = -1;               // of the node's memory
    char* base = nullptr;      // address of offset 0 in this process
    bool huge = false;         // memory will be collapsed into huge pages
  };
  void start(Config config) { config_ = std::move(config); }
  const std::vector<int>& domains() const { return config_.domains; }
  bool exists(int domain) const;

  // Sets the place of pages that come into use from now on. `owner`: the domain of the rank that owns them; -1: it has
  // none.
  Status set_place(uint64_t offset, uint64_t bytes, const MemoryPlace& place, int owner) const;

  // Moves pages in use that no process has mapped.
  MovedPages move(uint64_t first_page, uint64_t pages, int to) const;
  // Moves a few pages that the calling thread is about to touch, and that only this process may have mapped.
  MovedPages move_touched(uint64_t first_page, uint64_t pages, int to) const;
  // Stores the domain of each page, or `absent`.
  Status locate(uint64_t first_page, uint64_t pages, int* out) const;
  // Gives up this process's mapping of the pages, so that another process may move them; their bytes stay.
  void unmap(uint64_t first_page, uint64_t pages) const;

 private:
  Status set_policy(uint64_t offset, uint64_t bytes, NumaCalls::Policy policy, std::vector<int> domains) const;
  // Calls visit(first page, pages) for the pages with memory in [first_page, first_page + pages).
  void for_each_in_use(uint64_t first_page, uint64_t pages, const std::function<void(uint64_t, uint64_t)>& visit) const;
  int with_mapping(uint64_t first_page, uint64_t pages, const std::function<int(char*)>& visit) const;
  MovedPages move_mapped(char* mapped, uint64_t pages, int to) const;
  int locate_mapped(char* mapped, uint64_t pages, int* out) const;

  Config config_;
};

}  // namespace hiroba
