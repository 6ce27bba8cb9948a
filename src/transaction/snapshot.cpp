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
  limits_.assign(static_cast<size_t>(process_.nodes()), 0);
  known_pages_.assign(has_far() ? known_pages : 0, KnownPage());
}

void Snapshot::clear() {
  next_ = reads_.data();
  if (!has_far()) return;
  far_reads_.clear();
}

// Nothing has been read on other nodes.
void Snapshot::begin_far() {
  std::fill(limits_.begin(), limits_.end(), 0);
  const uint64_t changes = process_.memory()->past_cache().changes();
  if (changes == known_at_) return;
  known_at_ = changes;
  std::fill(known_pages_.begin(), known_pages_.end(), KnownPage());
}

bool Snapshot::load_word(uint64_t address, uint64_t& out) {
  if (is_far(address)) return load_far(address, out);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return load_reached(*domain_, limit_, address, reinterpret_cast<const char*>(address), out);
}

// A stripe that is locked will have a new version, so this attempt waits for it, a little. With a newer version than
// the snapshot, the snapshot moves on, if all that was read is still there.
bool Snapshot::load_reached(TransactionDomain& domain, uint64_t& limit, uint64_t address, const char* data,
                            uint64_t& out) {
  StripeWord& stripe = domain.words[TransactionDomain::index_of(address, stripe_shift_)];
  auto& word = *reinterpret_cast<uint64_t*>(const_cast<char*>(data));
  for (Backoff backoff(process_.spins());;) {
    const uint64_t before = stripe.word.load(std::memory_order_acquire);
    if (StripeWord::is_locked(before)) {
      if (!backoff.step()) return false;
      continue;
    }
    out = std::atomic_ref(word).load(std::memory_order_acquire);
    if (before != stripe.word.load(std::memory_order_relaxed)) continue;
    if (before >= limit) {
      if (!extend(domain, limit)) return false;
      continue;
    }
    note(stripe, before);
    return true;
  }
}

bool Snapshot::extend(TransactionDomain& domain, uint64_t& limit) {
  const uint64_t now = domain.clock.load(std::memory_order_acquire);
  if (!is_valid({})) return false;
  limit = now + 1;
  if (&limit == &limit_) slot_->state.store(TransactionSlot::state_of(now), std::memory_order_release);
  return true;
}

// The first access to another node reads its clock, and validates: all that was read before holds at that moment, too.
bool Snapshot::load_far(uint64_t address, uint64_t& out) {
  PastCache::Place place = {};
  process_.require(process_.locate(address, *slot_, place));
  process_.memory()->past_cache().settle(place);
  const int node = process_.memory()->job().node_of(place.rank);
  char* const data = process_.memory()->past_cache().reach(place);
  if (data == nullptr) return load_asked(place, address, out);
  TransactionDomain& domain = place.here ? *domain_ : *process_.domain(node);
  uint64_t& limit = place.here ? limit_ : limits_[static_cast<size_t>(node)];
  if (!process_.checking())  // which sees the accesses that come here
    known_pages_[page_of(address) % known_pages] = {page_of(address), reinterpret_cast<uint64_t>(data) - address,
                                                    domain.words, &limit};
  if (limit == 0 && !extend(domain, limit)) return false;
  return load_reached(domain, limit, address, data, out);
}

bool Snapshot::load_asked(const PastCache::Place& place, uint64_t address, uint64_t& out) {
  const int node = process_.memory()->job().node_of(place.rank);
  uint64_t& limit = limits_[static_cast<size_t>(node)];
  for (Backoff backoff(process_.spins());;) {
    FarReads::Answer answer;
    if (far_reads_.find(address, out)) return true;
    far_reads_.get(place, address, stripe_shift_, answer);
    if (answer.locked) {
      if (!backoff.step()) return false;
      continue;
    }
    if (answer.version >= limit) {
      // The answer's clock was read before its data.
      if (!is_valid({})) return false;
      limit = answer.clock + 1;
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
