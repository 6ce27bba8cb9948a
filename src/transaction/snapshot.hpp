// The view of memory that one attempt of a transaction has: values of one moment, which moves on when a load finds
// something newer. It notes what was read, and whether that is still there. README.md argues why this is opaque.
//
// Owner: a Transaction, whose thread alone uses it. Loads allocate only when the list of reads grows.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "transaction/far_homes.hpp"
#include "transaction/process_part.hpp"

namespace hiroba {

// Stripes that a commit has locked, with the versions that they had.
struct StripeLock {
  StripeWord* stripe;
  uint64_t version;
};

class Snapshot {
 public:
  explicit Snapshot(TransactionProcess& process);

  // The process has another domain. `slot`: this thread's in it.
  void enter(TransactionDomain& domain, uint32_t slot);
  // Begins an attempt, and returns the clock of this node.
  uint64_t begin() {
    limit_ = domain_->clock.load(std::memory_order_acquire) + 1;
    if (has_far()) [[unlikely]]
      begin_far();
    return version();
  }
  // Forgets what was read.
  void clear();

  uint64_t version() const { return limit_ - 1; }
  StripeWord& stripe_of(uint64_t address) const { return words_[TransactionDomain::index_of(address, stripe_shift_)]; }
  // Returns true if the home of the memory is on another node, or it is not to be accessed by its address.
  bool is_far(uint64_t address) const { return address - far_base_ < far_bytes_; }
  uint64_t stripe_bytes() const { return uint64_t{1} << stripe_shift_; }
  bool has_far() const { return far_bytes_ != 0; }

  // Loads an object at a multiple of its size. Returns false, without effect, in all cases that need more than a look.
  template <typename T>
  bool load(const T* at, T& out) {
    const auto address = reinterpret_cast<uint64_t>(at);
    if (is_far(address) || next_ == end_) [[unlikely]]
      return false;
    return load_noted(stripe_of(address), at, limit_, out);
  }
  // The same for memory that is far, but that this process reaches by another address.
  template <typename T>
  bool load_placed(const T* at, T& out) {
    const auto address = reinterpret_cast<uint64_t>(at);
    const KnownPage& known = known_pages_[page_of(address) % known_pages];
    if (known.page != page_of(address) || next_ == end_) return false;
    const auto* const there = reinterpret_cast<const T*>(address + known.distance);  // NOLINT(*-int-to-ptr)
    return load_noted(known.words[TransactionDomain::index_of(address, stripe_shift_)], there, *known.limit, out);
  }
  // Loads the word of 8 bytes at a multiple of 8. Returns false if the attempt has to restart.
  [[gnu::noinline]] bool load_word(uint64_t address, uint64_t& out);

  bool has_read() const { return next_ != reads_.data() || far_reads_.any(); }
  // Returns true if all that was read is still there, or locked by this thread with that version.
  bool is_valid(const std::vector<StripeLock>& locks) const;
  // The same for what has its home on this node, or in memory that this process reaches.
  bool is_near_valid(const std::vector<StripeLock>& locks) const;
  const FarReads& far_reads() const { return far_reads_; }

 private:
  struct Read {
    StripeWord* stripe;
    uint64_t version;
  };
  // A page that is far, and that this process reaches.
  struct KnownPage {
    uint64_t page;
    uint64_t distance;  // from the program's address of a byte to the one where this process reaches it
    StripeWord* words;
    const uint64_t* limit;  // of the home's node
  };
  static constexpr size_t known_pages = 1024;
  static uint64_t page_of(uint64_t address) { return address >> page_shift; }

  template <typename T>
  bool load_noted(StripeWord& stripe, const T* at, uint64_t limit, T& out) {
    const uint64_t before = stripe.word.load(std::memory_order_acquire);
    // Acquires: the second look at the stripe comes after it, and sees the lock of a thread whose store this is.
    out = std::atomic_ref(*const_cast<T*>(at)).load(std::memory_order_acquire);
    if (before != stripe.word.load(std::memory_order_relaxed) || before >= limit) [[unlikely]]
      return false;
    *next_++ = {&stripe, before};
    return true;
  }
  void begin_far();
  void note(StripeWord& stripe, uint64_t version);
  bool load_reached(TransactionDomain& domain, uint64_t& limit, uint64_t address, const char* data, uint64_t& out);
  bool load_far(uint64_t address, uint64_t& out);
  bool load_asked(const PastCache::Place& place, uint64_t address, uint64_t& out);
  bool extend(TransactionDomain& domain, uint64_t& limit);
  bool extend_far(int node, uint64_t clock);

  // Used by each load.
  StripeWord* words_ = nullptr;
  uint64_t limit_ = 1;  // versions below are in the snapshot
  int stripe_shift_ = 0;
  uint64_t far_base_ = 0, far_bytes_ = 0;
  Read *next_, *end_;  // in reads_: after the last one that is noted, and after the room
  std::vector<Read> reads_;

  TransactionProcess& process_;
  TransactionDomain* domain_ = nullptr;
  TransactionSlot* slot_ = nullptr;
  uint32_t slot_number_ = 0;
  // They are of other nodes, if there are any. A limit is 0 as long as nothing was read there.
  std::vector<uint64_t> limits_;
  std::vector<KnownPage> known_pages_;
  uint64_t known_at_ = 0;  // PastCache::changes()
  FarReads far_reads_;
};

}  // namespace hiroba
