#include "transaction/process_part.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "base/thread.hpp"
#include "base/wait.hpp"
#include "collective/collective.hpp"

namespace hiroba {

namespace {

TransactionDomain* make_domain() {
  void* const at = mmap(nullptr, sizeof(TransactionDomain), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<TransactionDomain*>(at);
}

}  // namespace

TransactionProcess::TransactionProcess()
    : own_(make_domain()), here_(own_), spins_(spins_for(2, static_cast<int>(cpus_of_rank().size()))) {}

Status TransactionProcess::start(Memory& memory, const TransactionSettings& settings) {
  const World& world = memory.collective().world();
  memory_ = &memory, settings_ = settings, spins_ = world.spins;
  domains_.clear();
  for (int node = 0; node < world.job.nnodes; ++node) {
    const int first = world.job.first_rank_of(node);
    domains_.push_back(reinterpret_cast<TransactionDomain*>(world.reach(first, memory.transactions(first))));
  }
  here_ = domains_[static_cast<size_t>(world.job.node)];
  // With option check accesses to shared memory are none of the program's view.
  checking_ = memory.checking();
  const bool by_address = world.job.nnodes == 1 && !checking_;
  far_base_ = reinterpret_cast<uint64_t>(world.base), far_bytes_ = by_address ? 0 : world.extent;
  far_homes_.start(memory, *here_);
  sent_calls_.start(memory);
  return {};
}

void TransactionProcess::stop() {
  memory_ = nullptr, here_ = own_, far_bytes_ = 0, checking_ = false;
  domains_.clear();
  sent_calls_.stop();  // its thread has a slot of a domain that is gone
}

// The address of the text is the thread's own.
Status TransactionProcess::locate(uint64_t address, const TransactionSlot& slot, PastCache::Place& out) const {
  Status found = memory_->past_cache().locate(reinterpret_cast<void*>(address), out);  // NOLINT
  if (found.ok()) return found;
  return Status::error("a load or store of the transaction at %s: %s", reinterpret_cast<const char*>(slot.begun.load()),
                       found.message().c_str());  // NOLINT
}

size_t TransactionProcess::object_bytes(void* object) const {
  if (memory_ == nullptr) return malloc_usable_size(object);
  if (memory_->heap().contains(object)) return memory_->heap().size(object);
  const World& world = memory_->collective().world();
  return static_cast<uint64_t>(static_cast<char*>(object) - world.base) < world.extent ? 0 : malloc_usable_size(object);
}

// ---- slots ---------------------------------------------------------------------------------------------------------

Status TransactionProcess::take_slot(uint32_t& slot) {
  if (here_ == nullptr) return Status::error("no memory for the versions of transactions");
  const auto owner = static_cast<uint32_t>(1 + (memory_ == nullptr ? 0 : memory_->job().rank));
  for (slot = 0; slot < TransactionDomain::most_threads; ++slot) {
    TransactionSlot& s = here_->slots[slot];
    uint32_t free = 0;
    if (s.owner.load(std::memory_order_relaxed) != 0 || !s.owner.compare_exchange_strong(free, owner)) continue;
    s.thread = gettid(), s.process = getpid();
    uint32_t used = here_->used_slots;
    while (used <= slot && !here_->used_slots.compare_exchange_weak(used, slot + 1)) {
    }
    return {};
  }
  return Status::error("more than %u threads of a node run transactions", TransactionDomain::most_threads);
}

void TransactionProcess::give_slot(TransactionDomain& domain, uint32_t slot) {
  domain.slots[slot].state = 0;
  domain.slots[slot].owner = 0;
}

// ---- waits ---------------------------------------------------------------------------------------------------------

bool TransactionProcess::drive() const { return memory_ != nullptr && memory_->collective().world().drive(); }

Status TransactionProcess::await(const std::function<bool()>& done,
                                 const std::function<std::string()>& waits_for) const {
  if (memory_ != nullptr) return memory_->collective().world().await(done, waits_for);
  for (Backoff backoff(spins_, long_yielding); !done();)
    if (!backoff.step()) usleep(100);
  return {};
}

// A commit that this thread does not see counts a change afterwards, unless it has not seen the sleeper: no sleep is
// long.
Status TransactionProcess::await_commit(const std::function<bool()>& done,
                                        const std::function<std::string()>& waits_for) const {
  constexpr double longest_sleep = 5e-3;
  for (Backoff backoff(spins_); backoff.step();)
    if (done()) return {};
  ++here_->sleepers;
  Status status;
  if (memory_ != nullptr) {
    const int first = memory_->job().first_rank_of(memory_->job().node);
    const uint64_t changes = memory_->transactions(first) + offsetof(TransactionDomain, changes);
    status = memory_->collective().world().await_word(
        first, changes, [&](uint32_t) { return done(); }, waits_for, waits_for);
  } else {
    for (uint32_t changes = here_->changes; !done(); changes = here_->changes)
      futex_wait(here_->changes, changes, longest_sleep);
  }
  --here_->sleepers;
  return status;
}

}  // namespace hiroba
