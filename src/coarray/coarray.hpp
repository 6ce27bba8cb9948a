// The contract of this floor: coarrays, arrays of which every rank has a part, and the operations of images on them.
//
// A Coarrays object is one rank's part of that. A coarray is an allocation of the memory floor, divided into one part
// per rank whose home is that rank; so parts of this node are mapped here, at addresses `stride` apart, and the
// transport accesses the others. Accesses never go through the page cache.
//
// start, stop, allocate, free are collective over all ranks, calls with a team over that team; one thread makes them.
// All other calls are thread-safe. Puts and accumulates are complete after sync_memory or any other synchronisation;
// their source may be changed on return. Started operations are in progress until a wait (collective/requests.hpp). All
// other calls block until they are complete. Errors come back as a status; the caller (src/notation/xmp) ends the job
// with it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "coarray/section.hpp"
#include "memory/memory.hpp"

namespace hiroba {

struct Coarray {
  std::string name;                             // "a[1024][1024]"
  uint64_t offset = 0, stride = 0, bytes = 0;   // of rank 0's part, from one to the next, of a part that is used
  char* data = nullptr;                         // this rank's
  size_t element = 1;                           // for messages
  mutable uint64_t accesses = 0, accessed = 0;  // option stats: of other images' parts by calls, and their bytes
  uint64_t gap = 0;                             // option check: before each part, so that it ends where a page ends
};

struct Section {
  const Coarray* coarray = nullptr;  // null: memory of this process
  int rank = 0;
  char* address = nullptr;  // the first element, in this rank's part
  Box box;
  const char* place = "";  // in the program, "main.c:12"
};

class Coarrays {
 public:
  Coarrays();
  ~Coarrays();
  // Before the transport starts.
  void listen(Transport& transport);
  Status start(Memory& memory);
  Status stop();
  bool started() const { return memory_ != nullptr; }

  Status allocate(Coarray& coarray, const std::string& call, const char* place);
  Status free(Coarray& coarray, const std::string& call);

  // ---- moving ----
  class Assignment;
  Status assign(const Section& to, const Section& from, size_t element);
  // The assignment belongs to the caller, who must finish it.
  Status start_assign(const Section& to, const Section& from, size_t element, Assignment& assignment);
  Status fill(const Section& to, const void* value, size_t element);
  Status update(const Section& to, const Section& from, const Arithmetic& arithmetic);
  // For the checker: accesses of the program itself to memory here.
  void touch(const Section& section, size_t element, bool writes);

  // ---- synchronisation ----
  Status sync_memory(const Call& call);
  Status sync_all(const Team& team, const Call& call);
  Status sync_ranks(std::span<const int> ranks, const Call& call);
  static constexpr int64_t any_tag = INT64_MIN;
  static constexpr int any_rank = -1;
  Status post(int rank, int64_t tag, const Call& call);
  Status wait(int rank, int64_t tag, const Call& call, int& from);
  Requests& requests() { return memory_->collective().requests(); }
  Collective& collective() { return memory_->collective(); }
  // Option check, for started barriers: the words that release this image's accesses, and the acquire after the barrier
  // that has joined those of all. Without the option there are no words.
  Words release_order();
  void acquire_order(const Words& words);
  static void join_order(Words& into, std::span<const uint32_t> other);
  void report_statistics() const;  // option stats: a line for each coarray; for a freed one when it is freed

  // A lock is 24 zero bytes of a coarray: a ticket lock, and its holder.
  Status lock(const Section& lock, const Call& call);
  Status try_lock(const Section& lock, const Call& call, bool& taken);
  Status unlock(const Section& lock, const Call& call);

  // `bytes` is 4 or 8.
  Status atomic_add(const Section& word, unsigned bytes, uint64_t value, uint64_t& old);
  Status atomic_swap(const Section& word, unsigned bytes, uint64_t expected, uint64_t desired, uint64_t& old);

 private:
  struct Parts;
  void report_statistics(const Coarray& coarray) const;
  Status sync_team(const Team& team, const Call& call);
  Status move(const Section& to, const Section& from, size_t element, bool at_once, Assignment& assignment);
  Status locate(const Section& section, size_t element, Place& out) const;
  Status word_at(const Section& word, unsigned bytes, Place& out) const;
  bool may_fault(const Place& place, const Box& box, size_t element) const;
  std::unique_ptr<char[]> read_packed(const Place& from, const Box& box, size_t element);
  void write_packed(const Place& to, const Box& box, const char* packed, size_t element);
  Status lock_at(const Section& lock, Place& out) const;
  uint64_t holder_of(const Place& lock) const;
  void take_lock(const Place& lock, uint64_t holder) const;
  void pass_order(const Place& word, bool release, bool acquire);

  Memory* memory_ = nullptr;  // null before the start and after the stop
  const World* world_ = nullptr;
  std::unique_ptr<Parts> parts_;
  std::vector<const Coarray*> counted_;  // option stats
  std::atomic<bool> unfenced_{false};    // posts were sent whose puts are counted, not fenced
};

// An assignment in progress. Neither side may be used before finish(). Not thread-safe.
class Coarrays::Assignment final : public Request {
 public:
  void finish();
  Status advance(bool& complete) override;
  Status hasten(bool& complete) override;
  std::string missing() const override;

 private:
  friend class Coarrays;
  Coarrays* owner_ = nullptr;
  Completion under_way_;
  std::unique_ptr<char[]> buffer_;  // between source and target, if there must be one
  Place to_;
  Box box_;
  size_t element_ = 0;
};

}  // namespace hiroba
