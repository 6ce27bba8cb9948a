#include "transaction/attempt.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/thread.hpp"

namespace hiroba {

Transaction* transaction_of_this_thread() { return Transaction::running(); }

Transaction::~Transaction() {
  if (slot_ != nullptr && domain_ == &process_.here()) process_.give_slot(*domain_, slot_number_);
  process_.counts().remove(counts_);
}

// ---- begin and end -------------------------------------------------------------------------------------------------

// The exchange comes before all loads of the attempt: a thread that has committed sees the slot, or its commit is seen.
// It also comes before the look at `serial`: a thread that wants to run alone sees the slot, or its word is seen.
void Transaction::begin_attempt() {
  if (domain_ != &process_.here()) {  // a job has begun or ended since; what an ended one had is gone
    domain_ = &process_.here();
    process_.require(process_.take_slot(slot_number_));
    slot_ = &domain_->slots[slot_number_];
    snapshot_.enter(*domain_, slot_number_), commit_.enter(*domain_, slot_number_);
  }
  slot_->begun.store(reinterpret_cast<uint64_t>(block_.place), std::memory_order_relaxed);
  if (wants_alone_ || aborts_ >= process_.settings().attempts || backoff_.is_old(aborts_)) {
    process_.require(process_.others().begin_alone(block_.place));
    alone_ = true;
    counts_.add(TransactionCounts::alone);
  }
  for (;;) {
    slot_->state.exchange(TransactionSlot::state_of(snapshot_.begin()));
    if (alone_ || domain_->serial.load(std::memory_order_acquire) == 0) break;
    slot_->state.store(0, std::memory_order_release);
    process_.require(process_.others().await_end_of_alone(block_.place));
  }
  running_ = this;
  if (turn_.on()) turn_.begin();
}

// After it, others need not wait for this attempt.
void Transaction::end_attempt() {
  slot_->state.exchange(0);
  if (alone_) process_.others().end_alone(), alone_ = false;
}

bool Transaction::commit() {
  if (depth_ > 1) return --depth_, false;
  const bool wrote = !writes_.empty();
  uint64_t version = 0;
  if (wrote && !commit_.run(version)) restart();
  // One that runs alone may have accessed memory directly: it counts as a commit that writes.
  if (turn_.on()) turn_.commit(writes_, snapshot_.version(), alone_ ? domain_->clock.fetch_add(1) + 1 : version);
  if (wrote || alone_) end_attempt();
  else slot_->state.store(0, std::memory_order_release);
  counts_.commit(aborts_, wrote);
  depth_ = 0, aborts_ = 0, wants_alone_ = false, running_ = nullptr;
  writes_.clear(), snapshot_.clear();
  actions_.committed();
  if (version != 0) {  // of what it has written on this node; older attempts may end in the meantime
    domain_->wake_sleepers();
    process_.require(process_.others().await_older(version, slot_number_));
  }
  return true;
}

void Transaction::undo_all() {
  if (turn_.on()) turn_.end(snapshot_.version(), 0);
  writes_.clear(), snapshot_.clear();
  end_attempt();
  depth_ = 0, running_ = nullptr;
  actions_.run_aborted();
}

void Transaction::cancel() {
  undo_all();
  aborts_ = 0, wants_alone_ = false;
}

void Transaction::restart() {
  undo_all();
  ++aborts_;
  counts_.add(TransactionCounts::aborts);
  backoff_.wait(aborts_);
  process_.drive();
  block_.restart(block_.context);
  __builtin_unreachable();
}

void Transaction::run_alone() {
  if (irrevocable()) return;
  const bool at_once = alone_ && writes_.empty();  // then nothing is to be undone before memory is used directly
  wants_alone_ = true;
  if (at_once) return;
  undo_all();
  block_.restart(block_.context);
}

void Transaction::undo(const Savepoint& to) {
  writes_.undo(to.writes);
  actions_.undo(to.actions);
}

// ---- retry ---------------------------------------------------------------------------------------------------------

// The slot is idle during the sleep, so that nobody waits for it, and others may run.
void Transaction::await_change() {
  counts_.add(TransactionCounts::retries);
  end_attempt();
  const uint32_t serial_ended = domain_->serial_ended;
  process_.require(process_.await_commit(
      [&] { return domain_->serial_ended != serial_ended || !snapshot_.is_valid({}); },
      [&] { return format("retry in the transaction at %s: nothing that it has read changes", block_.place); }));
  undo_all();
}

// ---- loads and stores ----------------------------------------------------------------------------------------------

uint64_t Transaction::load_word(uint64_t address, uint64_t mask) {
  if (writes_.watched()) check_.require_not_freed(address);
  const WriteSet::Entry* const written = writes_.may_have(address) ? writes_.find(address) : nullptr;
  if (written != nullptr && (written->mask & mask) == mask) return written->value;
  if (turn_.on()) turn_.access(address, mask, false);
  uint64_t value = 0;
  if (!snapshot_.load_word(address, value)) restart();
  return written == nullptr ? value : (value & ~written->mask) | written->value;
}

void Transaction::free_later(const TransactionActions::Action& action) {
  check_.require_first_free(action);
  if (snapshot_.is_far(reinterpret_cast<uint64_t>(action.argument))) touch_bytes(*this, action.argument, action.frees);
  actions_.on_commit(action);
  writes_.watch();
}

namespace {

uint64_t mask_of(uint64_t first, uint64_t bytes) { return ~uint64_t{0} >> (64 - 8 * bytes) << (8 * first); }

}  // namespace

void read_bytes(Transaction& transaction, void* to, const void* from, size_t bytes) {
  auto* out = static_cast<char*>(to);
  for (auto at = reinterpret_cast<uint64_t>(from); bytes > 0;) {
    const uint64_t skip = at % 8, part = std::min<uint64_t>(bytes, 8 - skip);
    const auto* const from_word = reinterpret_cast<const uint64_t*>(at - skip);  // NOLINT(performance-no-int-to-ptr)
    const uint64_t word =
        part == 8 ? transaction.load(from_word) : transaction.load_word(at - skip, mask_of(skip, part));
    std::memcpy(out, reinterpret_cast<const char*>(&word) + skip, part);
    out += part, at += part, bytes -= part;
  }
}

void write_bytes(Transaction& transaction, void* to, const void* from, size_t bytes) {
  const auto* in = static_cast<const char*>(from);
  for (auto at = reinterpret_cast<uint64_t>(to); bytes > 0;) {
    const uint64_t skip = at % 8, part = std::min<uint64_t>(bytes, 8 - skip);
    uint64_t word = 0;
    std::memcpy(reinterpret_cast<char*>(&word) + skip, in, part);
    transaction.store_bytes(at - skip, word, mask_of(skip, part));
    in += part, at += part, bytes -= part;
  }
}

void touch_bytes(Transaction& transaction, const void* object, size_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(object);
  const uint64_t stripe = transaction.snapshot().stripe_bytes();
  for (uint64_t at = begin / 8 * 8; at < begin + bytes; at = (at / stripe + 1) * stripe)
    transaction.store_bytes(at, 0, 0);
}

}  // namespace hiroba
