// What a wire may offer beyond frames and bulk data: one-sided operations of its library on the memory of nodes. That
// memory is Hiroba's own, at addresses that we choose, sparse and too large to be registered with a network card; so a
// library qualifies that works on any memory of a process, in software at the owner (GASNet-EX built for it, ARMCI).
//
// Owner: the wire. Threads and errors: as for the wire (wire.hpp), one call at a time. Unlike a wire's other calls
// these may wait until the owner's library makes progress, which everyone's library does while it waits itself.
#pragma once

#include "transport/net/wire.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class NodeMemory {
 public:
  virtual ~NodeMemory() = default;

  // Memory [base, base + extent) of this process is what others name by offsets. Only attached parts of it are
  // accessed. Once, after open(); collective.
  virtual Status cover(char* base, uint64_t extent) = 0;

  // `owner` is a wire rank, not this process. `from` may be reused on return; what was written is there after
  // complete().
  virtual void write(int owner, uint64_t to, const void* from, size_t bytes) = 0;
  virtual void read(void* to, int owner, uint64_t from, size_t bytes) = 0;
  virtual void write_strided(int owner, uint64_t to, const void* from, const Strided& box) = 0;
  virtual void read_strided(void* to, int owner, uint64_t from, const Strided& box) = 0;
  virtual void complete() = 0;

  // Transport::accumulate; the owner may be this process, too. As for write.
  virtual bool accumulates() const { return false; }
  virtual void accumulate(int owner, uint64_t to, const void* from, Number type, size_t count) {
    (void)owner, (void)to, (void)from, (void)type, (void)count;
  }

  static constexpr size_t max_bytes = size_t{8} << 20;  // of one operation
};

}  // namespace hiroba
