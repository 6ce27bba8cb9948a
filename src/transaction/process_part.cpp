#include "transaction/process_part.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "base/debug/peek.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "base/wait.hpp"

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
  const bool by_address = world.job.nnodes == 1 && !memory.checking();
  far_base_ = reinterpret_cast<uint64_t>(world.base), far_bytes_ = by_address ? 0 : world.extent;
  far_homes_.start(memory, *here_);
  return {};
}

void TransactionProcess::stop() {
  memory_ = nullptr, here_ = own_, far_bytes_ = 0;
  domains_.clear();
}

Status TransactionProcess::locate(uint64_t address, PastCache::Place& out) const {
  const Status found = memory_->past_cache().locate(reinterpret_cast<void*>(address), out);  // NOLINT
  return found.ok() ? found : Status::error("a load or store of a transaction: %s", found.message().c_str());
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

std::string TransactionProcess::describe(const TransactionDomain& domain, uint32_t slot) const {
  const TransactionSlot& s = domain.slots[slot];
  const int rank = static_cast<int>(s.owner.load()) - 1;
  char place[128] = "";
  if (s.process == getpid()) {
    const std::string text(reinterpret_cast<const char*>(s.begun.load()));  // NOLINT(performance-no-int-to-ptr)
    text.copy(place, sizeof place - 1);
  } else if (memory_ == nullptr || !memory_->job().is_here(rank) ||
             !peek_process(memory_->board(), rank, s.begun.load(), place, sizeof place - 1).ok()) {
    place[0] = '\0';
  }
  return format("the transaction of thread %d of rank %d%s%s to end", s.thread.load(), rank,
                place[0] == '\0' ? "" : ", begun at ", place);
}

// Waits until a slot that has been seen in a state is not in it, nor in one with a snapshot before `version`.
Status TransactionProcess::await_slot(TransactionDomain& domain, uint32_t slot, uint64_t seen, uint64_t version) const {
  TransactionSlot& s = domain.slots[slot];
  const auto done = [&] {
    const uint64_t now = s.state.load(std::memory_order_acquire);
    return now == 0 || (version == 0 ? now != seen : TransactionSlot::snapshot_of(now) >= version);
  };
  for (Backoff backoff(spins_); backoff.step();)
    if (done()) return {};
  return await(done, [&] { return describe(domain, slot); });
}

Status TransactionProcess::await_older(uint64_t version, uint32_t self) const {
  const uint32_t used = here_->used_slots.load(std::memory_order_acquire);
  for (uint32_t slot = 0; slot < used; ++slot) {
    const uint64_t state = here_->slots[slot].state.load(std::memory_order_acquire);
    if (slot == self || state == 0 || TransactionSlot::snapshot_of(state) >= version) continue;
    HIROBA_TRY(await_slot(*here_, slot, state, version));
  }
  return {};
}

// Waits until the attempts that run now are over; with `ends`, until no thread is in one.
Status TransactionProcess::await_slots(TransactionDomain& domain, bool ends) const {
  const uint32_t used = domain.used_slots;
  for (uint32_t slot = 0; slot < used; ++slot) {
    const uint64_t state = domain.slots[slot].state;
    if (state != 0) HIROBA_TRY(await_slot(domain, slot, state, ends ? UINT64_MAX >> 1 : 0));
  }
  return {};
}

// The slots of a node whose memory this process does not reach.
Status TransactionProcess::await_far_slots(int node, bool ends) const {
  const int first = memory_->job().first_rank_of(node);
  const uint64_t domain = memory_->transactions(first);
  Transport& transport = memory_->transport();
  uint32_t used = 0;
  transport.get(&used, first, domain + offsetof(TransactionDomain, used_slots), sizeof used);
  std::vector<std::array<uint64_t, sizeof(TransactionSlot) / 8>> before(used), now(used);
  const auto look = [&](auto& out) {
    if (used > 0)
      transport.get(out.data(), first, domain + offsetof(TransactionDomain, slots), used * sizeof(TransactionSlot));
  };
  look(before);
  return await(
      [&] {
        look(now);
        for (uint32_t slot = 0; slot < used; ++slot)
          if (before[slot][0] != 0 && now[slot][0] != 0 && (ends || now[slot][0] == before[slot][0])) return false;
        return true;
      },
      [node] { return format("a transaction of node %d to end", node); });
}

Status TransactionProcess::await_all_slots(bool ends) const {
  if (memory_ == nullptr) return here_ == nullptr ? Status() : await_slots(*here_, ends);
  for (int node = 0; node < nodes(); ++node)
    HIROBA_TRY(domain(node) != nullptr ? await_slots(*domain(node), ends) : await_far_slots(node, ends));
  return {};
}

// ---- running alone -------------------------------------------------------------------------------------------------

// Threads take the token in the order of their requests.
Status TransactionProcess::take_token(const char* place) {
  const std::string what = format("the transaction at %s, which waits for one that runs alone", place);
  uint32_t ticket = 0;
  if (memory_ != nullptr) {
    const TicketLock token(memory_->collective().world(), 0,
                           memory_->transactions(0) + offsetof(TransactionDomain, token));
    return token.acquire([&] { return what; }, [&] { return what; }, ticket);
  }
  const std::atomic_ref next(here_->token[0]), serving(here_->token[1]);
  ticket = next.fetch_add(1);
  return await([&] { return serving.load(std::memory_order_acquire) == ticket; }, [&] { return what; });
}

void TransactionProcess::set_serial(bool on) const {
  if (memory_ == nullptr) {
    here_->serial = on ? 1 : 0;
    if (!on) ++here_->serial_ended;
    return;
  }
  RemoteWords& words = memory_->transport().words();
  for (int node = 0; node < nodes(); ++node) {
    const int first = memory_->job().first_rank_of(node);
    const uint64_t domain = memory_->transactions(first);
    if (!on) words.fetch_add32(first, domain + offsetof(TransactionDomain, serial_ended), 1);
    words.fetch_add64(first, domain + offsetof(TransactionDomain, serial), on ? 1 : ~uint64_t{0});
  }
}

Status TransactionProcess::begin_alone(const char* place) {
  HIROBA_TRY(take_token(place));
  set_serial(true);
  return await_all_slots(true);
}

void TransactionProcess::end_alone() {
  set_serial(false);
  here_->wake_sleepers();
  if (memory_ == nullptr) return void(std::atomic_ref(here_->token[1]).fetch_add(1));
  TicketLock(memory_->collective().world(), 0, memory_->transactions(0) + offsetof(TransactionDomain, token)).release();
}

Status TransactionProcess::await_end_of_alone(const char* place) const {
  return await([&] { return here_->serial.load(std::memory_order_acquire) == 0; },
               [&] { return format("the transaction at %s, which waits for one that runs alone", place); });
}

Status TransactionProcess::await_all() const { return await_all_slots(false); }

// ---- counts --------------------------------------------------------------------------------------------------------

void TransactionProcess::add_counts(const TransactionCounts& counts) {
  const std::lock_guard guard(counts_lock_);
  counts_.push_back(&counts);
}

void TransactionProcess::remove_counts(const TransactionCounts& counts) {
  const std::lock_guard guard(counts_lock_);
  std::erase(counts_, &counts);
  ended_.merge(counts);
}

void TransactionProcess::sum_counts(TransactionCounts& out) const {
  const std::lock_guard guard(counts_lock_);
  out.merge(ended_);
  out.add(TransactionCounts::messages, far_homes_.messages());
  for (const TransactionCounts* counts : counts_) out.merge(*counts);
}

}  // namespace hiroba
