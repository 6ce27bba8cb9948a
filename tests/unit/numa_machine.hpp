// A machine with several NUMA domains, for tests: it records the calls that place memory, and keeps where pages are.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <vector>

#include "base/machine/numa_calls.hpp"
#include "memory/layout.hpp"

namespace hiroba {

class NumaMachine : public NumaCalls {
 public:
  struct Placed {
    uint64_t offset, bytes;  // of the file
    Policy policy;
    std::vector<int> domains;
    bool operator==(const Placed&) const = default;
  };
  struct Move {
    uint64_t first_page, pages;
    int to;
    bool operator==(const Move&) const = default;
  };

  // Of `pages` pages in a memory file, whose first is at offset 0, all on domain 0 at first.
  NumaMachine(std::vector<int> domains, uint64_t pages) : domains(std::move(domains)), pages_(pages) {
    fd = memfd_create("numa-test", MFD_CLOEXEC);
    if (ftruncate(fd, static_cast<off_t>(pages << page_shift)) != 0) fd = -1;
    base = static_cast<char*>(mmap(nullptr, pages << page_shift, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    where.assign(pages, this->domains[0]);
  }
  ~NumaMachine() override { munmap(base, pages_ << page_shift), close(fd); }

  int set_policy(void* address, size_t bytes, Policy policy, std::span<const int> to) override {
    placed.push_back({offset_of(address), bytes, policy, {to.begin(), to.end()}});
    return error;
  }
  int query(std::span<void* const> pages, std::span<int> out) override {
    for (size_t i = 0; i < pages.size(); ++i) out[i] = where[page_of(pages, i)];
    return error;
  }
  int move(std::span<void* const> pages, int to, std::span<int> out) override {
    for (size_t i = 0; i < pages.size(); ++i) {
      const uint64_t page = page_of(pages, i);
      if (int& busy = refusals[page]; busy > 0) {
        out[i] = -EBUSY, --busy;
        continue;
      }
      if (moves.empty() || moves.back().to != to || moves.back().first_page + moves.back().pages != page)
        moves.push_back({page, 0, to});
      ++moves.back().pages, out[i] = where[page] = to;
    }
    return error;
  }

  std::vector<int> domains;
  int fd = -1;
  char* base = nullptr;
  std::vector<int> where;            // of each page
  std::map<uint64_t, int> refusals;  // how often a page will not move
  int error = 0;                     // of all calls
  std::vector<Placed> placed;
  std::vector<Move> moves;

 private:
  // All of one call are in one mapping.
  static uint64_t page_of(std::span<void* const> pages, size_t i) {
    return (offset_of(pages[0]) >> page_shift) +
           static_cast<uint64_t>((static_cast<const char*>(pages[i]) - static_cast<const char*>(pages[0])) >>
                                 page_shift);
  }
  // What is mapped there: mappings are made for single calls, too.
  static uint64_t offset_of(const void* address) {
    unsigned long first = 0, end = 0, offset = 0;
    uint64_t found = UINT64_MAX;
    FILE* const maps = fopen("/proc/self/maps", "re");
    for (char line[512]; fgets(line, sizeof line, maps) != nullptr;)
      if (sscanf(line, "%lx-%lx %*s %lx", &first, &end, &offset) == 3 &&
          first <= reinterpret_cast<unsigned long>(address) && reinterpret_cast<unsigned long>(address) < end)
        found = offset + (reinterpret_cast<unsigned long>(address) - first);
    fclose(maps);
    return found;
  }

  uint64_t pages_;
};

}  // namespace hiroba
