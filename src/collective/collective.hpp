// The contract of this floor: what the ranks of a job, or of a team, do together: barriers, split barriers, gather,
// reduction, broadcast.
//
// A Collective object is one rank's part; Memory owns it, because barriers are where memory becomes consistent. It lies
// below memory: it needs the transport, and of each rank some scratch memory in the address range, nothing of arrays.
// Buffers are memory of this process that is there: the floors above bring pages first.
//
// Calls for all ranks, and for a team, are made by one thread of each of its ranks, all in one order with equal names;
// unequal calls end in a status that names both. What starts returns at once; everything else blocks. Data is combined
// in the order of ranks, so all get the same bits.
//
// What is started is carried on by threads of this rank that wait, and by its progress thread (option progress).
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/combine.hpp"
#include "collective/plans.hpp"
#include "collective/requests.hpp"
#include "collective/settings.hpp"
#include "collective/team.hpp"
#include "collective/ticket_lock.hpp"
#include "collective/world.hpp"

namespace hiroba {

struct Running;
using RunningPtr = std::shared_ptr<Running>;

// What was started. A handle: copies are the same operation.
class Started {
 public:
  Started() = default;
  explicit Started(RunningPtr running) : running_(std::move(running)) {}
  bool done() const;
  // "rank 3 has not come"
  std::string missing() const;
  // That no rank was found in another operation. If one was, this is never done.
  Status agrees() const;
  // Once it is done: of operations on a copy; of a barrier.
  const char* data() const;
  const Words& words() const;

 private:
  friend class Collective;
  RunningPtr running_;
};

class Collective {
 public:
  Collective();
  ~Collective();

  // Of each rank: its arrivals, its lanes, its staging.
  static constexpr uint64_t arrivals_bytes = 4096, scratch_bytes = uint64_t{128} << 20;
  void listen(Transport& transport);  // before the transport starts
  // Once it has. What the caller leaves out of `world` is filled in here. `scratch`: offset of rank 0's scratch_bytes;
  // `stride`: from one rank's to the next; `settings` are those of the job.
  void start(const World& world, uint64_t scratch, uint64_t stride, const Settings& settings);
  const Tuning& tuning() const { return settings_.tuning; }
  // Before the transport stops.
  Status stop();
  // Carries on what was started; for threads that wait in the transport.
  static bool meantime(void* self);
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
  // In place.
  Status reduce(const Team& team, char* data, int64_t count, const Combine& combine, const Call& call);
  // From the member `root`.
  Status broadcast(const Team& team, int root, char* data, size_t bytes, const Call& call);

  // All ranks of the team agree on the number of operations that follow.
  Sequence begin_sequence(const Team& team, uint64_t operations, const char* what);
  // The `which`-th of a sequence.
  Started start_barrier(const Sequence& sequence, int which, const Words& words, Join join);
  // On copies.
  Started start_reduce(const Team& team, const char* data, int64_t count, const Combine& combine, const char* what);
  Started start_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what);

  // ---- any operation (plans.hpp) ----
  // The team of all ranks.
  Members& all() { return all_; }
  // Members with the same colour become a team, in the order of their keys; none with a negative colour. All members of
  // `members` call it.
  Status split(Members& members, int color, int key, std::unique_ptr<Members>& out, const Call& call);
  void release(Members& members);
  // `call.name` says what all must have in common.
  Status perform(Members& members, Plan plan, const Call& call);
  // Buffers must stay until it is done.
  Status start(Members& members, Plan plan, const char* what, Started& out);
  // Calls function(context) after it is done, in a thread that carries operations on, or now.
  Status then(const Started& started, void (*function)(void*), void* context);
  // What was started is carried on between them only, from the first end on.
  void begin_progress();
  void end_progress();

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
  template <typename Begin>
  Started by_tree(const RunningPtr& running, size_t bytes, const Begin& begin_tree);
  Status finish(const Started& started, const Call& call);
  Status reduce_word(char* data, const Combine& combine, const Call& call);
  bool goes_by_tree(const Team& team, size_t bytes) const;
  void apply_settings(Plan& plan) const;
  RunningPtr make(const Sequence& sequence, const char* what) const;
  static void prepare(Running& running, Plan plan);
  RunningPtr start_plan(const Team& team, Plan plan, const char* what);
  template <typename Begin>
  Started begin(const RunningPtr& running, const Begin& begin);
  Status none_left(const Team& team, const Call& call);
  Status perform_now(Members& members, Plan plan, const Call& call);
  Status perform_on(const Team& team, Plan plan, const Call& call);
  Status agree_on_lane(Members& parent, Members& members, const Call& call);

  std::unique_ptr<Parts> parts_;
  World world_;
  uint64_t scratch_ = 0, stride_ = 0;
  std::atomic<pthread_t> thread_{};  // that is in a call for all ranks
  const char* split_ = nullptr;      // the call that has started a barrier and not ended it
  Waits waits_;
  Settings settings_;
  std::function<void(double)> told_;
  std::vector<uint64_t> words_;  // for exchanges whose words are not used
  Members all_;
  std::map<uint64_t, uint64_t> numbers_;  // of operations, by team
  std::shared_ptr<void> token_ = std::make_shared<char>();
};

}  // namespace hiroba
