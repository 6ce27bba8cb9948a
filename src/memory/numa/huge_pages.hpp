// Home memory in huge pages. The memory of a rank's own parts comes in huge pages at its first touch, where the kernel
// has them for the node's file (base/backing/node_memory.hpp). What is in small pages is collapsed after it has been
// used for so long that this is cheap beside it. README.md, "Huge pages", says when that pays.
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
    bool sparse = false;  // arrays are touched in parts only
  };
  void start(const Config& config) { config_ = config, on_ = true; }  // not called without option huge
  bool on() const { return on_; }

  // Collapses what has been in use for long enough.
  void at_barrier();
  // Asks for huge pages at the first touch of this rank's parts.
  void advise(Array& array) const;
  // The same, after this rank's parts have changed; collapses at once what is in use of them.
  void parts_changed(Array& array);
  // Asks for them in a piece of this rank's part of a sparse array that will be used as a whole.
  void advise(uint64_t begin, uint64_t bytes) const;
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
  void gather(Array& array, uint64_t used);
  uint64_t in_use(const Array& array) const;
  void make(const Array& array, const HomeRun& part, const Bytes& come) const;
  static Bytes whole(const Bytes& in_use, const Bytes& part);
  template <typename Visit>
  void for_each_in_use(const Array& array, const Visit& visit) const;

  Config config_;
  bool on_ = false;
};

}  // namespace hiroba
