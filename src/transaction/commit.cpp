#include "transaction/commit.hpp"

#include <algorithm>

#include "transaction/write_set.hpp"

namespace hiroba {

bool Commit::run(uint64_t& version) {
  locks_.clear();
  return snapshot_.has_far() ? run_anywhere(version) : run_here(version);
}

bool Commit::lock_word(StripeWord& stripe) {
  uint64_t now = stripe.word.load(std::memory_order_relaxed);
  if (StripeWord::is_locked(now)) {
    const size_t index = StripeWord::index_of(now);
    return StripeWord::slot_of(now) == slot_ && index < locks_.size() && locks_[index].stripe == &stripe;
  }
  if (!stripe.word.compare_exchange_strong(now, StripeWord::locked(slot_, locks_.size()))) return false;
  locks_.push_back({&stripe, now});
  return true;
}

void Commit::unlock_unchanged() {
  for (const StripeLock& lock : locks_) lock.stripe->word.store(lock.version, std::memory_order_release);
}

// ---- memory of this node alone -------------------------------------------------------------------------------------

bool Commit::run_here(uint64_t& version) {
  const StripeWord* latest = nullptr;  // neighbours in memory are often neighbours in the list
  for (const WriteSet::Entry& entry : writes_.entries()) {
    StripeWord& stripe = snapshot_.stripe_of(entry.address);
    if (&stripe != latest && !lock_word(stripe)) return unlock_unchanged(), false;
    latest = &stripe;
  }
  version = domain_->clock.fetch_add(1, std::memory_order_acq_rel) + 1;
  // Nothing else has committed since the snapshot if the clock has advanced by this commit alone.
  if (version != snapshot_.version() + 1 && !snapshot_.is_valid(locks_)) return unlock_unchanged(), false;
  for (const WriteSet::Entry& entry : writes_.entries())
    store_masked(reinterpret_cast<char*>(entry.address), entry.value, entry.mask);  // NOLINT(performance-no-int-to-ptr)
  for (const StripeLock& lock : locks_) lock.stripe->word.store(version, std::memory_order_release);
  return true;
}

// ---- memory of any node --------------------------------------------------------------------------------------------

TransactionDomain& Commit::domain_of(const Target& target) const {
  return target.place.here ? *domain_ : *process_.domain(process_.memory()->job().node_of(target.place.rank));
}

Commit::Far& Commit::far_of(int node) {
  for (Far& far : far_)
    if (far.node == node) return far;
  far_.push_back({node, {}, {}});
  snapshot_.far_reads().stripes_of(node, far_.back().stripes);
  return far_.back();
}

// A stripe of which several words were read or are written occurs once.
void Commit::add_far(const WriteSet::Entry& entry, const Target& target, int node) {
  Far& far = far_of(node);
  const auto index = static_cast<uint32_t>(&snapshot_.stripe_of(entry.address) - &snapshot_.stripe_of(0));
  const auto same = [index](const FarStripe& stripe) { return stripe.index == index; };
  const auto found = std::find_if(far.stripes.begin(), far.stripes.end(), same);
  if (found == far.stripes.end()) far.stripes.push_back({index, FarStripe::lock | FarStripe::writes, 0});
  else found->flags |= FarStripe::lock | FarStripe::writes;
  far.writes.push_back({target.place.offset, entry.value, entry.mask});
}

void Commit::find_targets() {
  targets_.clear(), far_.clear();
  for (const WriteSet::Entry& entry : writes_.entries()) {
    Target target = {{0, 0, true}, reinterpret_cast<char*>(entry.address), false};  // NOLINT(performance-no-int-to-ptr)
    if (snapshot_.is_far(entry.address)) {
      process_.require(process_.locate(entry.address, domain_->slots[slot_], target.place));
      process_.memory()->past_cache().settle(target.place);
      target.data = process_.memory()->past_cache().reach(target.place);
      target.by_messages = target.data == nullptr;
      if (target.by_messages) add_far(entry, target, process_.memory()->job().node_of(target.place.rank));
    }
    targets_.push_back(target);
  }
  // The same stripe can have been read in several chunks.
  for (Far& far : far_) {
    const auto less = [](const FarStripe& a, const FarStripe& b) { return a.index < b.index; };
    std::stable_sort(far.stripes.begin(), far.stripes.end(), less);
    for (size_t i = far.stripes.size(); i-- > 1;) {
      if (far.stripes[i].index != far.stripes[i - 1].index) continue;
      far.stripes[i - 1].flags |= far.stripes[i].flags;
      far.stripes.erase(far.stripes.begin() + static_cast<ptrdiff_t>(i));
    }
  }
}

bool Commit::lock_reached() {
  for (size_t i = 0; i < targets_.size(); ++i) {
    if (targets_[i].by_messages) continue;
    TransactionDomain& domain = domain_of(targets_[i]);
    StripeWord& stripe = domain.words[&snapshot_.stripe_of(writes_.entries()[i].address) - &snapshot_.stripe_of(0)];
    const size_t before = locks_.size();
    if (!lock_word(stripe)) return false;
    if (locks_.size() > before) locked_in_.push_back(&domain);
  }
  return true;
}

bool Commit::ask(const Far& far, FarHomes::Kind kind, const void* items, size_t size, size_t count) const {
  const size_t most = (Piggyback::max_piggyback - sizeof(FarHomes::Head)) / size;
  for (size_t first = 0; first < count || first == 0; first += most) {
    const size_t part = std::min(most, count - first);
    FarHomes::Request request = {process_.memory()->job().first_rank_of(far.node),
                                 {kind, 0, slot_, static_cast<uint32_t>(part), first + part == count},
                                 static_cast<const char*>(items) + first * size,
                                 part * size,
                                 {}};
    process_.far_homes().ask({&request, 1});
    if (request.reply.ok == 0) return false;
  }
  return true;
}

// At a home that is not the last one to be locked, stripes that were only read are locked, too: then their validation
// holds until the commit, and needs no other message. At the last one all other locks are held already. A list in
// several messages counts as several homes.
bool Commit::lock_far(size_t& locked) {
  for (locked = 0; locked < far_.size(); ++locked) {
    Far& far = far_[locked];
    if (locked + 1 < far_.size() || far.stripes.size() > FarHomes::most_items<FarStripe>())
      for (FarStripe& stripe : far.stripes) stripe.flags |= FarStripe::lock;
    if (!ask(far, FarHomes::Kind::lock, far.stripes.data(), sizeof(FarStripe), far.stripes.size())) return false;
  }
  return true;
}

// The homes that are written have validated in lock_far().
bool Commit::validate() const {
  std::vector<int> locked;
  for (const Far& far : far_) locked.push_back(far.node);
  return snapshot_.is_near_valid(locks_) && (!snapshot_.far_reads().any() || snapshot_.far_reads().is_valid(locked));
}

// Versions come after the validation, because they are of several clocks: a reader whose snapshot has them finds all
// locks, or all stores.
void Commit::write_anywhere(uint64_t& version) {
  const PastCache& memory = process_.memory()->past_cache();
  for (size_t i = 0; i < targets_.size(); ++i) {
    const WriteSet::Entry& entry = writes_.entries()[i];
    if (!targets_[i].by_messages) store_masked(targets_[i].data, entry.value, entry.mask);
  }
  for (const Far& far : far_) ask(far, FarHomes::Kind::write, far.writes.data(), sizeof(FarWrite), far.writes.size());
  std::vector<TransactionDomain*> domains(locked_in_);
  std::sort(domains.begin(), domains.end());
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  for (TransactionDomain* domain : domains) {
    const uint64_t now = domain->clock.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (domain == domain_) version = now;
    for (size_t i = 0; i < locks_.size(); ++i)
      if (locked_in_[i] == domain) locks_[i].stripe->word.store(now, std::memory_order_release);
    if (domain != domain_) domain->wake_sleepers();
  }
  for (size_t i = 0; i < targets_.size(); ++i)
    if (snapshot_.is_far(writes_.entries()[i].address)) memory.changed(targets_[i].place);
}

bool Commit::run_anywhere(uint64_t& version) {
  locked_in_.clear();
  version = 0;
  find_targets();
  size_t locked = 0;
  bool done = lock_reached();
  if (done) done = lock_far(locked) && validate();
  if (done) return write_anywhere(version), true;
  for (size_t i = 0; i < locked; ++i) ask(far_[i], FarHomes::Kind::undo, nullptr, sizeof(FarStripe), 0);
  return unlock_unchanged(), false;
}

}  // namespace hiroba
