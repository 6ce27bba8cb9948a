#include "transaction/snapshot.hpp"

#include <algorithm>

#include "base/wait.hpp"

namespace hiroba {

Snapshot::Snapshot(TransactionProcess& process) : reads_(256), process_(process), far_reads_(process) {
  next_ = reads_.data(), end_ = next_ + reads_.size();
}

void Snapshot::note(StripeWord& stripe, uint64_t version) {
  if (next_ == end_) {
    const size_t used = reads_.size();
    reads_.resize(used * 2);
    next_ = reads_.data() + used, end_ = reads_.data() + reads_.size();
  }
  *next_++ = {&stripe, version};
}

void Snapshot::enter(TransactionDomain& domain, uint32_t slot) {
  domain_ = &domain, slot_ = &domain.slots[slot], slot_number_ = slot;
  words_ = domain.words, stripe_shift_ = process_.settings().stripe_shift;
  far_base_ = process_.far_base(), far_bytes_ = process_.far_bytes();
  clocks_.resize(static_cast<size_t>(process_.nodes()));
}

uint64_t Snapshot::begin() { return version_ = domain_->clock.load(std::memory_order_acquire); }

void Snapshot::clear() {
  next_ = reads_.data();
  if (!has_far()) return;
  far_reads_.clear();
  for (Clock& clock : clocks_) clock.known = false;
}

bool Snapshot::load_word(uint64_t address, uint64_t& out) {
  if (is_far(address)) return load_far(address, out);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return load_reached(*domain_, version_, address, reinterpret_cast<const char*>(address), out);
}

// A stripe that is locked will have a new version, so this attempt waits for it, a little. With a newer version than
// the snapshot, the snapshot moves on, if all that was read is still there.
bool Snapshot::load_reached(TransactionDomain& domain, uint64_t& version, uint64_t address, const char* data,
                            uint64_t& out) {
  StripeWord& stripe = domain.words[address >> stripe_shift_ & (TransactionDomain::stripes - 1)];
  auto& word = *reinterpret_cast<uint64_t*>(const_cast<char*>(data));
  for (Backoff backoff(process_.spins());;) {
    const uint64_t before = stripe.word.load(std::memory_order_acquire);
    if (StripeWord::is_locked(before)) {
      if (!backoff.step()) return false;
      continue;
    }
    out = std::atomic_ref(word).load(std::memory_order_acquire);
    if (before != stripe.word.load(std::memory_order_relaxed)) continue;
    if (before > version) {
      if (!extend(domain, version)) return false;
      continue;
    }
    note(stripe, before);
    return true;
  }
}

bool Snapshot::extend(TransactionDomain& domain, uint64_t& version) {
  const uint64_t now = domain.clock.load(std::memory_order_acquire);
  if (!is_valid({})) return false;
  version = now;
  if (&version == &version_) slot_->state.store(TransactionSlot::state_of(now), std::memory_order_release);
  return true;
}

// The first access to another node reads its clock, and validates: all that was read before holds at that moment, too.
bool Snapshot::load_far(uint64_t address, uint64_t& out) {
  PastCache::Place place = {};
  process_.require(process_.locate(address, *slot_, place));
  const int node = process_.memory()->job().node_of(place.rank);
  char* const data = process_.memory()->past_cache().reach(place);
  if (place.here) return load_reached(*domain_, version_, address, data, out);
  Clock& clock = clocks_[static_cast<size_t>(node)];
  if (data != nullptr) {
    TransactionDomain& domain = *process_.domain(node);
    if (!clock.known && !extend(domain, clock.version)) return false;
    clock.known = true;
    return load_reached(domain, clock.version, address, data, out);
  }
  for (Backoff backoff(process_.spins());;) {
    FarReads::Answer answer;
    if (far_reads_.find(address, out)) return true;
    far_reads_.get(place, address, stripe_shift_, answer);
    if (answer.locked) {
      if (!backoff.step()) return false;
      continue;
    }
    if (!clock.known || answer.version > clock.version) {
      // The answer's clock was read before its data.
      if (!is_valid({})) return false;
      clock = {answer.clock, true};
    }
    far_reads_.add(node, address, stripe_shift_, answer, out);
    return true;
  }
}

bool Snapshot::is_near_valid(const std::vector<StripeLock>& locks) const {
  return std::all_of(reads_.data(), static_cast<const Read*>(next_), [&](const Read& read) {
    const uint64_t now = read.stripe->word.load(std::memory_order_acquire);
    if (now == read.version) return true;
    if (!StripeWord::is_locked(now) || StripeWord::slot_of(now) != slot_number_) return false;
    const size_t index = StripeWord::index_of(now);
    return index < locks.size() && locks[index].stripe == read.stripe && locks[index].version == read.version;
  });
}

bool Snapshot::is_valid(const std::vector<StripeLock>& locks) const {
  return is_near_valid(locks) && (!far_reads_.any() || far_reads_.is_valid());
}

}  // namespace hiroba
