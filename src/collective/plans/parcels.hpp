// Parcels: small data that one rank sends to another in a collective operation.
//
// Messages are not ordered, so a parcel has a key that both sides know. What arrives before it is wanted is kept in
// this process's own memory, however much it is. Thread-safe. The handler may run in any thread, and in the page-fault
// handler; so the lock is held only around code that touches private memory.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <span>
#include <vector>

#include "collective/plans/operation.hpp"
#include "collective/world.hpp"

namespace hiroba {

class Parcels {
 public:
  void listen(Transport& transport);
  void start(const World& world) { world_ = &world; }

  struct Key {
    uint64_t team, number;  // which ranks, and the number of the parcel between them
    uint64_t digest;        // of the calls up to this operation; that of sender and receiver must be equal
    char what[64];          // the operation's name, for messages; the middle of a longer one is left out

    Key(uint64_t team_of, uint64_t number_of, uint64_t digest_of_calls, const char* name);
  };
  // The lowest bits of a number tell apart what ranks send each other in one operation.
  static constexpr int kind_bits = 32;
  static constexpr size_t most_bytes = Transport::max_message - sizeof(Key);
  // To that rank: more where it is on another machine.
  size_t most_bytes_to(int rank) const;
  void send(int rank, const Key& key, std::span<const char> data, std::span<const char> more = {});
  // For an Operation: `co_await receive(..)` waits until the parcel is in `data`, which is private memory. It has
  // `bytes` bytes; or more, which `more` is set to.
  class Receive;
  Receive receive(int rank, const Key& key, void* data, size_t bytes, std::vector<char>* more = nullptr);
  // `how` they differ.
  static Status calls_differ(const std::string& how);
  // That a team has received all that was sent to it here before the operation with this number.
  Status none_left(uint64_t team, uint64_t number, const Call& call) const;

 private:
  using Name = std::array<uint64_t, 3>;  // of a parcel: its key and sender
  bool expect(Receive& receive);
  void keep(int source, const void* payload, size_t bytes);

  const World* world_ = nullptr;
  int handler_ = 0;
  mutable SignalSafeLock lock_;                // guards what follows
  std::map<Name, std::vector<char>> arrived_;  // that no operation has waited for yet: what, and data
  std::map<Name, Receive*> expected_;          // that have not come yet
};

class Parcels::Receive final : public Operation::Awaited {
 public:
  bool ready() override { return here_.load(std::memory_order_acquire); }
  bool await_ready() const { return false; }
  // False if the parcel is there.
  bool await_suspend(Operation::Handle operation) {
    operation.promise().awaited.store(static_cast<int>(name_[2]), std::memory_order_relaxed);
    operation.promise().needed = this;
    other_ = &operation.promise().other;
    return parcels_->expect(*this);
  }
  void await_resume() const {}

 private:
  friend class Parcels;
  Receive(Parcels* parcels, const Name& name, const Key& key, void* data, size_t bytes, std::vector<char>* more)
      : parcels_(parcels), name_(name), key_(key), data_(data), bytes_(bytes), more_(more) {}
  // Takes the data of a parcel; false if they are of another operation, which ends this one.
  bool fill(const char* parcel, size_t size);
  bool is_of_other(const Name& name, const char* parcel) const;
  bool is_same(const char* parcel) const;
  void end(int source, const char* parcel);

  Parcels* parcels_;
  Name name_;
  Key key_;
  void* data_;
  size_t bytes_;
  std::vector<char>* more_;
  Other* other_ = nullptr;
  std::atomic<bool> here_{false};
};

}  // namespace hiroba
