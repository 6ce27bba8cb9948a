// One thread's transaction: what it has read and stored, and its way from begin to commit.
//
// Owner: its thread. Loads and stores take no lock, allocate only when a set grows, and make no system call. begin()
// and the ends may block: for a transaction that runs alone, and for readers of memory that is private now.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/shown.hpp"
#include "transaction/access_check.hpp"
#include "transaction/actions.hpp"
#include "transaction/checked_turn.hpp"
#include "transaction/commit.hpp"
#include "transaction/domain.hpp"
#include "transaction/process_part.hpp"
#include "transaction/snapshot.hpp"
#include "transaction/write_set.hpp"

namespace hiroba {

// The word by which a type of 1, 2, 4 or 8 bytes is loaded and stored. For another type it has another size.
template <typename T>
using WordOf = std::conditional_t<
    sizeof(T) == 8, uint64_t,
    std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;

class Transaction {
 public:
  // This thread's, while it is in a transaction; else null.
  static Transaction* running() { return running_; }

  // The block of the program. restart() does not return.
  struct Block {
    void (*restart)(void* context) = nullptr;
    void* context = nullptr;
    const char* place = "";
    bool calls_checked = false;   // a compiler has checked which functions it calls
    const void* stack = nullptr;  // memory of the stack below it belongs to functions that the block has called
  };
  explicit Transaction(TransactionProcess& process)
      : snapshot_(process), process_(process), commit_(process, snapshot_, writes_) {
    process_.counts().add(counts_);
  }
  Transaction(const Transaction&) = delete;
  ~Transaction();

  int depth() const { return depth_; }
  // It runs alone because the program has asked for that, and may do what cannot be undone. One that runs alone because
  // it has failed often may still be undone, as its stores are buffered.
  bool irrevocable() const { return alone_ && wants_alone_; }
  const Block& block() const { return block_; }
  // Begins, or, if it has begun, goes deeper. `alone`: nothing else runs until its end.
  void begin(const Block& block, bool alone) {
    if (depth_++ > 0) return;
    block_ = block, wants_alone_ |= alone;
    begin_attempt();
  }
  // Ends the innermost block; true if the transaction has committed by that. Then actions().run_committed() is due.
  bool commit();
  // Undoes everything; the transaction is over.
  void cancel();
  // Undoes everything, and runs the block again.
  [[noreturn]] void restart();
  // Undoes everything once something that was read has changed. The block is to run again.
  void await_change();
  // Becomes irrevocable; restarts unless it runs alone.
  void run_alone();

  // `at` is a multiple of the size; of a load the usual case does not look at that.
  template <typename T>
  T load(const T* at) {
    const auto address = reinterpret_cast<uint64_t>(at), word = address & ~uint64_t{7};
    T value;
    if (!writes_.may_have(word) && snapshot_.load(at, value)) [[likely]]
      return value;
    return load_part(at);
  }
  // Loads the bytes that the mask selects of the word at this multiple of 8.
  [[HIROBA_SHOWN]] uint64_t load_word(uint64_t address, uint64_t mask);
  template <typename T>
  void store(T* at, T value) {
    const auto address = reinterpret_cast<uint64_t>(at);
    check_.require_aligned(address, sizeof(T));
    const unsigned shift = address % 8 * 8;
    store_bytes(address & ~uint64_t{7}, static_cast<uint64_t>(value) << shift,
                (~uint64_t{0} >> (64 - 8 * sizeof(T))) << shift);
  }
  // Stores the bytes that the mask selects of the word at this multiple of 8. With none of them, the commit gives the
  // memory a new version all the same: who has seen it restarts.
  void store_bytes(uint64_t word, uint64_t value, uint64_t mask) {
    if (writes_.watched()) [[unlikely]]
      check_.require_not_freed(word);
    writes_.add(word, value, mask);
  }
  // The commit frees the object of the action. Later accesses of this transaction to it are refused.
  void free_later(const TransactionActions::Action& action);

  const Snapshot& snapshot() const { return snapshot_; }
  TransactionActions& actions() { return actions_; }

  struct Savepoint {
    WriteSet::Savepoint writes;
    TransactionActions::Savepoint actions;
  };
  Savepoint save() { return {writes_.save(), actions_.save()}; }
  void undo(const Savepoint& to);
  void release() { writes_.release(); }

 private:
  // NOLINTNEXTLINE(readability-identifier-naming): it is a member.
  static inline constinit thread_local Transaction* running_ __attribute__((tls_model("initial-exec"))) = nullptr;

  void begin_attempt();
  void end_attempt();
  void undo_all();
  // Not inlined, so that the usual load saves no registers.
  template <typename T>
  [[gnu::noinline]] T load_part(const T* at) {
    const auto address = reinterpret_cast<uint64_t>(at);
    T value;
    if (snapshot_.is_far(address) && !writes_.may_have(address & ~uint64_t{7}) && snapshot_.load_placed(at, value))
      return value;
    check_.require_aligned(address, sizeof(T));
    const unsigned shift = address % 8 * 8;
    return static_cast<T>(load_word(address & ~uint64_t{7}, (~uint64_t{0} >> (64 - 8 * sizeof(T))) << shift) >> shift);
  }

  WriteSet writes_;
  Snapshot snapshot_;
  TransactionProcess& process_;
  TransactionDomain* domain_ = nullptr;
  TransactionSlot* slot_ = nullptr;
  uint32_t slot_number_ = 0;
  int depth_ = 0;
  bool alone_ = false, wants_alone_ = false;
  uint64_t aborts_ = 0;  // of this transaction
  ConflictBackoff backoff_;
  TransactionCounts counts_;
  Block block_;
  Commit commit_;
  TransactionActions actions_;
  CheckedTurn turn_{process_};
  const AccessCheck check_{process_, actions_, block_.place};
};

// Returns Transaction::running() of libhiroba, for libhiroba_tm.
[[HIROBA_SHOWN]] Transaction* transaction_of_this_thread();

// Copy memory of any length and alignment. Give an object that a commit will free, of memory that is far (Snapshot), a
// new version.
void read_bytes(Transaction& transaction, void* to, const void* from, size_t bytes);
void write_bytes(Transaction& transaction, void* to, const void* from, size_t bytes);
void touch_bytes(Transaction& transaction, const void* object, size_t bytes);

}  // namespace hiroba
