// One thread's transaction: what it has read and stored, and its way from begin to commit.
//
// Owner: its thread. Loads and stores take no lock, allocate only when a set grows, and make no system call. begin()
// and the ends may block: for a transaction that runs alone, and for readers of memory that is private now.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "transaction/commit.hpp"
#include "transaction/domain.hpp"
#include "transaction/process_part.hpp"
#include "transaction/snapshot.hpp"
#include "transaction/write_set.hpp"

namespace hiroba {

class Transaction {
 public:
  // This thread's, while it is in a transaction; else null.
  static Transaction* running() { return running_; }

  // The block of the program. restart() does not return.
  struct Block {
    void (*restart)(void* context) = nullptr;
    void* context = nullptr;
    const char* place = "";
  };
  struct Action {
    void (*function)(void* argument);
    void* argument;
  };

  explicit Transaction(TransactionProcess& process)
      : snapshot_(process), process_(process), commit_(process, snapshot_, writes_) {
    process_.add_counts(counts_);
  }
  Transaction(const Transaction&) = delete;
  ~Transaction();

  int depth() const { return depth_; }
  bool alone() const { return alone_; }
  const Block& block() const { return block_; }
  // Begins, or, if it has begun, goes deeper. `alone`: nothing else runs until its end.
  void begin(const Block& block, bool alone);
  // Ends the innermost block; true if the transaction has committed by that. Then run_actions() is due.
  bool commit();
  void run_actions();
  // Undoes everything; the transaction is over.
  void cancel();
  // Undoes everything, and runs the block again.
  [[noreturn]] void restart();
  // The same once something that was read has changed.
  [[noreturn]] void retry();
  void await_change();  // undoes everything, and returns
  bool has_read() const { return snapshot_.has_read(); }
  // Goes on as one that runs alone; restarts unless it does.
  void run_alone();

  // `at` is a multiple of the size.
  template <typename T>
  T load(const T* at) {
    const auto address = reinterpret_cast<uint64_t>(at), word = address & ~uint64_t{7};
    T value;
    if (!writes_.may_have(word) && snapshot_.load(at, value)) [[likely]]
      return value;
    const unsigned shift = address % 8 * 8;
    return static_cast<T>(load_word(word, mask_of<T>() << shift) >> shift);
  }
  template <typename T>
  void store(T* at, T value) {
    const auto address = reinterpret_cast<uint64_t>(at);
    const unsigned shift = address % 8 * 8;
    writes_.add(address & ~uint64_t{7}, static_cast<uint64_t>(value) << shift, mask_of<T>() << shift);
  }
  void read(void* to, const void* from, size_t bytes);
  void write(void* to, const void* from, size_t bytes);

  // The commit gives these bytes, which it frees, a new version: who has seen them restarts. Needed if is_far().
  bool is_far(const void* object) const { return snapshot_.is_far(reinterpret_cast<uint64_t>(object)); }
  void touch(const void* object, size_t bytes);
  void on_commit(const Action& action) { on_commit_.push_back(action); }
  void on_abort(const Action& action) { on_abort_.push_back(action); }

  struct Savepoint {
    WriteSet::Savepoint writes;
    uint64_t on_commit, on_abort;
  };
  Savepoint save() { return {writes_.save(), on_commit_.size(), on_abort_.size()}; }
  void undo(const Savepoint& to);
  void release() { writes_.release(); }

 private:
  static inline constinit thread_local Transaction* running_ __attribute__((tls_model("initial-exec"))) = nullptr;

  template <typename T>
  static constexpr uint64_t mask_of() {
    return ~uint64_t{0} >> (64 - 8 * sizeof(T));
  }
  void require(const Status& status) const;
  Status enter();
  void begin_attempt();
  void end_attempt();
  void undo_all();
  [[gnu::noinline]] uint64_t load_word(uint64_t address, uint64_t mask);
  bool commit_writes();
  void back_off();

  WriteSet writes_;
  Snapshot snapshot_;
  TransactionProcess& process_;
  TransactionDomain* domain_ = nullptr;
  TransactionSlot* slot_ = nullptr;
  uint32_t slot_number_ = 0;
  int depth_ = 0;
  bool alone_ = false, wants_alone_ = false;
  uint64_t aborts_ = 0;  // of this transaction
  uint64_t random_ = 0;
  TransactionCounts counts_;
  Block block_;
  Commit commit_;
  std::vector<Action> on_commit_, on_abort_;
};

}  // namespace hiroba
