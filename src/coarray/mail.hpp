// Messages between images: posts, the counts of pairwise synchronisation, and parcels, small data that one image sends
// to another in a collective operation.
//
// Messages are not ordered, so nothing here depends on their order: posts are matched by sender and tag, counts add up,
// parcels have a key that both sides know. What arrives is kept in this process's own memory, however much it is.
// Thread-safe. Handlers may run in any thread, and in the page-fault handler; so the lock is held only around code that
// touches private memory. Operations that wait for a parcel go on in the handler that it comes to.
#pragma once

#include <array>
#include <atomic>
#include <coroutine>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "coarray/checker.hpp"
#include "coarray/operation.hpp"

namespace hiroba {

class Mail {
 public:
  void listen(Transport& transport);
  void start(const World& world);

  // ---- post and wait ----
  static constexpr int64_t any_tag = INT64_MIN;
  static constexpr int any_rank = -1;
  // What posts and pairs carry for the checker is handed on as it is.
  void post(int rank, int64_t tag, const Checker::Stamp& stamp);
  // Takes the oldest post that matches and says who made it.
  Status wait(int rank, int64_t tag, const Call& call, int& from, Checker::Stamp& stamp);

  // ---- pairs: after meet(r) here and there, both know that the other has come ----
  void announce(int rank, const Checker::Stamp& stamp);
  Status await_pair(int rank, const Call& call, Checker::Stamp& stamp);

  // ---- parcels ----
  struct Key {
    uint64_t set, number;  // which images, and the how manieth parcel between them
    char what[48];         // in which operation, as its name; that of sender and receiver must be equal

    Key(uint64_t set_of, uint64_t number_of, const char* name);
  };
  // The lowest bits of a number tell apart what images send each other in one operation.
  static constexpr int kind_bits = 8;
  static constexpr size_t most_parcel = Transport::max_message - sizeof(Key);
  void send(int rank, const Key& key, const void* data, size_t bytes);
  // For an Operation: `co_await parcel(..)` waits until the parcel is in `data`, which is private memory.
  class Parcel;
  Parcel parcel(int rank, const Key& key, void* data, size_t bytes);
  // `how` they differ.
  static Status calls_differ(const std::string& how);
  // That a set has received all that was sent to it here before the operation with this key.
  Status none_left(const Key& next, const Call& call) const;

 private:
  using Name = std::array<uint64_t, 3>;  // of a parcel: its key and sender
  struct Post {
    int rank;
    int64_t tag;
    Checker::Stamp stamp;
  };
  struct Pair {
    std::atomic<uint32_t> heard{0};
    uint32_t told = 0;     // pairs are synchronised by one thread at a time
    Checker::Stamp stamp;  // the last heard (lock_)
  };
  bool take_post(int rank, int64_t tag, int& from, Checker::Stamp& stamp);
  void keep_post(int source, const void* payload, size_t bytes);
  void hear(int source, const void* payload, size_t bytes);
  bool expect(Parcel& parcel);
  void keep_parcel(int source, const void* payload, size_t bytes);
  std::string queued() const;

  const World* world_ = nullptr;
  std::unique_ptr<Pair[]> pairs_;
  mutable SignalSafeLock lock_;                // guards what follows
  std::deque<Post> posts_;                     // that nobody has waited for yet
  std::map<Name, std::vector<char>> parcels_;  // likewise; what, and data
  std::map<Name, Parcel*> expected_;           // that have not come yet
};

class Mail::Parcel {
 public:
  bool await_ready() const { return false; }
  // False if the parcel is there. Else the operation may go on in another thread before this returns.
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> operation) {
    operation.promise().awaited.store(static_cast<int>(name_[2]), std::memory_order_relaxed);
    other_ = &operation.promise().other;
    static_assert(sizeof other_->what == sizeof key_.what);
    then_ = operation;
    return mail_->expect(*this);
  }
  void await_resume() const {}

 private:
  friend class Mail;
  Parcel(Mail* mail, const Name& name, const Key& key, void* data, size_t bytes)
      : mail_(mail), name_(name), key_(key), data_(data), bytes_(bytes) {}
  // Takes what and data of a parcel; false if they are of another operation, which ends this one.
  bool fill(const char* parcel, size_t size);
  bool is_of_other(const Name& name, const char* parcel) const;
  void end(int source, const char* what);

  Mail* mail_;
  Name name_;
  Key key_;
  void* data_;
  size_t bytes_;
  Other* other_ = nullptr;
  std::coroutine_handle<> then_;
};

}  // namespace hiroba
