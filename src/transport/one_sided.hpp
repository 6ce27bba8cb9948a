// Part of the contract of this floor (transport.hpp): access to memory of other ranks beyond the core's put and get.
// The functions here are the reference implementation, on the core; a transport overrides those that it does better.
//
// Owner: the transport. Threads: as those of the core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "section/walk.hpp"
#include "transport/packed.hpp"
#include "transport/two_sided.hpp"

namespace hiroba {

class Transport;

// The number types of accumulate().
enum class Number : uint8_t { int32, int64, float32, float64 };

// An active message on a get: the handler runs before the get reads. A get that is sent in pieces carries it in each,
// because a piece may overtake another; so the handler may run more than once.
struct Piggyback {
  int handler;
  const void* payload;
  size_t bytes;  // at most max_piggyback
  static constexpr size_t max_piggyback = 3968;
};

class OneSided {
 public:
  explicit OneSided(Transport& core) : core_(core) {}
  virtual ~OneSided() = default;

  virtual void put_strided(int rank, uint64_t to, const void* from, const Walk& walk);
  virtual void get_strided(void* to, int rank, uint64_t from, const Walk& walk);
  // Starts a put whose source must not change until the completion: await() waits for all puts started with it, of
  // which many can be under way.
  virtual void start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& completion);
  // Starts to scatter pieces (packed.hpp) to memory of one rank; a piece does not cross attached ranges. The pieces
  // must not change until the completion, so the next ones can be prepared during it.
  virtual void start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& completion);

  // Adds `count` numbers to those at `to`, in one attached range, as a put: complete at the next fence. Each addition
  // is atomic with other accumulates from any rank to that rank's memory, but with nothing else. Returns false, without
  // effect, if this transport has no such operation; a message to a handler can replace it.
  virtual bool accumulate(int /*rank*/, uint64_t /*to*/, const void* /*from*/, Number /*type*/, size_t /*count*/) {
    return false;
  }

  // Starts a get: await() waits for all that were started with this completion. The piggyback's handler runs before the
  // memory is read, in a process that can access it: this one, or the rank's. It must not block. A transport that
  // cannot access all memory implements this itself.
  virtual void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                         const Piggyback* piggyback);
  // Starts a get of the data as of the next barrier of all (not: group barrier). Its request precedes the barrier, so
  // the answer needs no wait for the request. Must not be awaited before the end of that barrier. Requires
  // defers_gets(rank).
  virtual bool defers_gets(int /*rank*/) const { return false; }
  virtual void start_deferred_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                                  const Piggyback* piggyback);
  virtual void await(Completion& /*completion*/) {}

  // Releases the cost of mapping the source of earlier gets in this range, which will not be needed soon.
  virtual void release_mapping(uint64_t /*offset*/, uint64_t /*bytes*/) {}

 private:
  Transport& core_;
};

}  // namespace hiroba
