// The contract of this floor: what the ranks of a job, or of a team, do together: barriers, split barriers, gather,
// reduction, broadcast.
//
// A Collective object is one rank's part; Memory owns it, because barriers are where memory becomes consistent. It lies
// below memory: it needs the transport, and of each rank some scratch memory in the address range, nothing of arrays.
// Buffers are memory of this process that is there: the floors above bring pages first.
//
// Calls for all ranks, and for a team, are made by one thread of each of its ranks, all in one order with equal names;
// unequal calls end in a status that names both. What starts returns at once, and goes on in the handlers of parcels,
// so any call that lets the transport progress lets it progress, in this rank and in those between; everything else
// blocks. Data is combined in the order of ranks, so all get the same bits.
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/arithmetic.hpp"
#include "collective/requests.hpp"
#include "collective/team.hpp"
#include "collective/ticket_lock.hpp"
#include "collective/world.hpp"

namespace hiroba {

// Combines elements of a later rank into those of an earlier one: numbers, or records that begin with a number, of
// which one is chosen.
struct Combine {
  Arithmetic arithmetic;
  size_t record = 0;                                   // bytes; 0: numbers
  static Status make(Type type, Op op, Combine& out);  // of numbers; refuses what C does not have
  size_t element() const { return record > 0 ? record : bytes_of(arithmetic.to()); }
  void operator()(char* mine, const char* theirs, int64_t count) const;
};

// Operations of one team that follow each other, and that its ranks have agreed on at once.
struct Sequence {
  Team team;
  int me;  // this rank's index in it
  uint64_t name, number;
  const char* what;  // for the others to compare; outlives the operations
};

// Words that ranks join at a barrier: `into` with `other`, of equal length. No words: nothing is joined.
using Words = std::vector<uint32_t>;
using Join = void (*)(Words& into, std::span<const uint32_t> other);

// What was started, and the data that it works on, which is a copy.
class Started {
 public:
  bool done() const;
  // "rank 3 has not come"
  std::string missing() const;
  // That no rank was found in another operation. If one was, this is never done.
  Status agrees() const;
  // Once it is done.
  const char* data() const;
  const Words& words() const;

 private:
  friend class Trees;
  struct Work;
  struct Lanes;
  std::shared_ptr<Work> work_;  // the operations', too
  std::shared_ptr<Lanes> lanes_;
};

class Collective {
 public:
  Collective();
  ~Collective();

  static constexpr uint64_t room_bytes = uint64_t{256} << 10, scratch_bytes = 2 * room_bytes + 4096;
  void listen(Transport& transport);  // before the transport starts
  // Once it has. What the caller leaves out of `world` is filled in here. `scratch`: offset of rank 0's scratch_bytes;
  // `stride`: from one rank's to the next; `measure`: option stats.
  void start(const World& world, uint64_t scratch, uint64_t stride, bool measure);
  const World& world() const;
  Requests& requests();

  // ---- all ranks ----
  static uint64_t tag_of(const char* call);  // the same calls have the same tag
  // A barrier that hands every rank's word to every rank. All give the same tag; without one it is that of the name.
  Status exchange(const char* call, uint64_t tag, uint64_t word, std::span<uint64_t> words);
  Status exchange(const char* call, uint64_t word, std::span<uint64_t> words);
  Status barrier(const char* call, uint64_t tag);
  Status barrier(const char* call);
  // That in two halves, between which this rank makes no other call for all ranks.
  Status start_barrier(const char* call, uint64_t tag);
  bool between() const { return split_ != nullptr; }
  Status end_barrier();  // after a start
  // Waits only for `others`, each of which names this rank in turn. Every rank makes the call.
  Status group_barrier(const char* call, std::span<const int> others);
  // all[r] is what rank r gave.
  Status gather(const char* call, std::span<const char> mine, std::vector<std::vector<char>>& all);

  // ---- the split barrier of some: where this process reaches all ranks' memory ----
  // Every rank calls arrive(); await() returns when `others` have arrived as often as this rank. A rank may first
  // arrive with a part of its work; await(part) does not wait for the rest of it.
  enum class Work { part, all };
  bool reaches_all() const;
  // Whether this rank has arrived with a part only.
  bool arrived_with_part() const;
  void arrive(const char* call, Work done);
  bool arrived(std::span<const int> others, Work needed) const;
  Status await(const char* call, std::span<const int> others, Work needed);

  // ---- teams ----
  Status barrier(const Team& team, const Call& call);
  // The same, whatever the program calls it; joins the words of all.
  Status barrier(const Team& team, const Call& call, Words& words, Join join);
  Status reduce(const Team& team, char* data, int64_t count, const Combine& combine, const Call& call);
  // From the member `root`.
  Status broadcast(const Team& team, int root, char* data, size_t bytes, const Call& call);

  // All ranks of the team agree on the number of operations that follow.
  Sequence begin_sequence(const Team& team, uint64_t operations, const char* what);
  // The `which`-th of a sequence.
  Started start_barrier(const Sequence& sequence, int which, const Words& words, Join join);
  static const size_t most_started;  // bytes of an element
  Started start_reduce(const Team& team, const char* data, int64_t count, const Combine& combine, const char* what);
  Started start_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what);

  // ---- the time that calls for all ranks wait ----
  struct Waits {
    double seconds = 0;
    std::vector<double> for_rank;  // by the rank that came last, where this rank sees when others came
  };
  const Waits& waits() const { return waits_; }  // option stats
  void tell_waits(std::function<void(double seconds)> told) { told_ = std::move(told); }

 private:
  struct Parts;
  Status come(const char* call);
  template <typename Wait>
  Status wait_for_others(const Wait& wait);
  template <typename Wait>
  Status enter(const char* call, const Wait& wait);
  void note_wait(double seconds);
  uint64_t arrivals_at(int rank) const;
  std::atomic<uint32_t>& arrivals(int rank, int word) const;
  bool has_arrived(int rank, Work needed) const;
  Status finish(const Started& started, const Call& call);
  Status reduce_word(const Team& team, char* data, const Combine& combine, const Call& call);
  Status reduce_room(const Team& team, char* data, int64_t count, const Combine& combine, const Call& call);
  Status reduce_slice(const Team& team, int64_t first, int64_t count, const Combine& combine);
  uint64_t room(int rank, int half) const;
  void read_room(int rank, int half, uint64_t at, char* to, size_t bytes) const;

  std::unique_ptr<Parts> parts_;
  World world_;
  uint64_t scratch_ = 0, stride_ = 0;
  std::atomic<pthread_t> thread_{};  // that is in a call for all ranks
  const char* split_ = nullptr;      // the call that has started a barrier and not ended it
  Waits waits_;
  bool measure_ = false;
  std::function<void(double)> told_;
  std::vector<uint64_t> words_;  // for exchanges whose words are not used
  std::vector<char> buffer_;
};

}  // namespace hiroba
