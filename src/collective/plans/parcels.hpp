// Parcels: small data that one rank sends to another in a collective operation.
//
// Messages are not ordered, so a parcel has a key that both sides know. This process's own memory holds early parcels,
// without limit. Thread-safe. The handler may run in any thread, and in the page-fault handler; so the lock is held
// only around code that touches private memory.
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
    uint64_t team, number;  // the team's name, and the number of the parcel in it
    uint64_t digest;        // digest of the calls up to this operation; equal for sender and receiver
    char what[64];          // the operation's name, for messages; a longer one loses its middle

    Key(uint64_t team_of, uint64_t number_of, uint64_t digest_of_calls, const char* name);
  };
  // The lowest bits of a number distinguish the parcels of one operation between two ranks.
  static constexpr int kind_bits = 32;
  static constexpr size_t most_bytes = Transport::max_message - sizeof(Key);
  // Returns the maximum to that rank, which is larger on another machine.
  size_t most_bytes_to(int rank) const;
  void send(int rank, const Key& key, std::span<const char> data, std::span<const char> more = {});
  // For an Operation: `co_await receive(..)` waits until the parcel is in `data`, which is private memory. The parcel
  // has `bytes` bytes; `more`, if given, receives the rest of a longer one.
  class Receive;
  Receive receive(int rank, const Key& key, void* data, size_t bytes, std::vector<char>* more = nullptr);
  // `how` describes the difference.
  static Status calls_differ(const std::string& how);
  // Checks that this rank has taken all parcels of the team for operations before this number.
  Status none_left(uint64_t team, uint64_t number, const Call& call) const;

 private:
  using Name = std::array<uint64_t, 3>;  // identifies a parcel: its key and sender
  bool expect(Receive& receive);
  void keep(int source, const void* payload, size_t bytes);

  const World* world_ = nullptr;
  int handler_ = 0;
  mutable SignalSafeLock lock_;                // guards the next members
  std::map<Name, std::vector<char>> arrived_;  // parcels that no operation has waited for yet: what, and data
  std::map<Name, Receive*> expected_;          // parcels that have not arrived yet
};

class Parcels::Receive final : public Operation::Awaited {
 public:
  bool ready() override { return here_.load(std::memory_order_acquire); }
  bool await_ready() const { return false; }
  // Returns false if the parcel is there.
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
  // Takes the data of a parcel; returns false if it is of another operation, which ends this one.
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
