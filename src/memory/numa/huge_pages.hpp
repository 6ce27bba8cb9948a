// Home memory in huge pages: the memory in use of a rank's own parts of new arrays is collapsed at the first barriers.
// README.md, "Huge pages", says when that pays.
//
// Owner: MemoryParts. For the thread that makes collective calls.
#pragma once

#include "memory/array_table.hpp"

namespace hiroba {

class HugePages {
 public:
  struct Config {
    char* base = nullptr;  // address of offset 0
    const ArrayTable* arrays = nullptr;
    int fd = -1;  // of the node's memory
    int rank = 0;
    bool several_nodes = false;
  };
  void start(const Config& config) { config_ = config, on_ = true; }  // not called without option huge
  bool on() const { return on_; }

  void at_barrier();
  void gather(Array& array);
  // Makes empty huge pages for pages of which this rank has become the home, before others write their bytes: each
  // takes one fault, and the bytes need not be copied again to collapse small pages.
  void prepare(const Array& array, uint64_t page, uint64_t pages) const;
  // Makes whole huge pages of a part of the node's file, of which [used, end) will be written.
  void make_whole(uint64_t begin, uint64_t end, uint64_t used) const;
  // Makes memory for the pages that lie in this part of a new array, and in which this rank is about to write, if they
  // are half of the part or more.
  void fill(Array& array, const HomeRun& part, uint64_t page, uint64_t pages) const;

 private:
  struct Bytes {
    uint64_t begin, end;
  };
  bool pays(const Array& array) const;
  void make(const Array& array, const HomeRun& part, const Bytes& come) const;
  static Bytes whole(const Bytes& in_use, const Bytes& part);
  template <typename Visit>
  void for_each_in_use(const Array& array, const Visit& visit) const;

  Config config_;
  bool on_ = false;
};

}  // namespace hiroba
