#include "transaction/others.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/debug/peek.hpp"
#include "base/text.hpp"
#include "base/wait.hpp"
#include "collective/collective.hpp"
#include "transaction/process_part.hpp"

namespace hiroba {

OtherTransactions::Holder OtherTransactions::holder_of(const TransactionSlot& slot, double since) {
  return {static_cast<int>(slot.owner.load()) - 1, slot.thread, slot.process, slot.begun, since};
}

// The text that says where it begins is in its process, which this one can read on the same machine only.
std::string OtherTransactions::describe(const Holder& holder) const {
  char place[128] = "";
  const Memory* const memory = process_.memory();
  const bool own = memory == nullptr || holder.rank == memory->job().rank;
  if (own) {
    const std::string text(reinterpret_cast<const char*>(holder.begun));  // NOLINT(performance-no-int-to-ptr)
    text.copy(place, sizeof place - 1);
  } else if ((memory->job().ranks_here() != memory->job().nranks && !memory->job().is_here(holder.rank)) ||
             !peek_process(*memory->collective().world().board, holder.rank, holder.begun, place, sizeof place - 1)
                  .ok()) {
    place[0] = '\0';
  }
  std::string text = format("the transaction of thread %d of rank %d", holder.thread, holder.rank);
  if (place[0] != '\0') text += format(", begun at %s", place);
  if (holder.since != 0) text += format(", in which it has been for at least %.1f s", seconds_now() - holder.since);
  return text;
}

// Waits until a slot that has been seen in a state is not in it, nor in one with a snapshot before `version`.
Status OtherTransactions::await_slot(TransactionDomain& domain, uint32_t slot, uint64_t seen, uint64_t version) const {
  TransactionSlot& s = domain.slots[slot];
  const auto done = [&] {
    const uint64_t now = s.state.load(std::memory_order_acquire);
    return now == 0 || (version == 0 ? now != seen : TransactionSlot::snapshot_of(now) >= version);
  };
  for (Backoff backoff(process_.spins()); backoff.step();)
    if (done()) return {};
  const double since = seconds_now();
  return process_.await(done, [&] { return "a wait for " + describe(holder_of(s, since)); });
}

Status OtherTransactions::await_older(uint64_t version, uint32_t self) const {
  const uint32_t used = process_.here().used_slots.load(std::memory_order_acquire);
  for (uint32_t slot = 0; slot < used; ++slot) {
    const uint64_t state = process_.here().slots[slot].state.load(std::memory_order_acquire);
    if (slot == self || state == 0 || TransactionSlot::snapshot_of(state) >= version) continue;
    HIROBA_TRY(await_slot(process_.here(), slot, state, version));
  }
  return {};
}

// Waits until the attempts that run now are over; with `ends`, until no thread is in one.
Status OtherTransactions::await_slots(TransactionDomain& domain, bool ends) const {
  const uint32_t used = domain.used_slots;
  for (uint32_t slot = 0; slot < used; ++slot) {
    const uint64_t state = domain.slots[slot].state;
    if (state != 0) HIROBA_TRY(await_slot(domain, slot, state, ends ? UINT64_MAX >> 1 : 0));
  }
  return {};
}

// The slots of a node whose memory this process does not reach.
Status OtherTransactions::await_far_slots(int node, bool ends) const {
  const int first = process_.memory()->job().first_rank_of(node);
  const uint64_t domain = process_.memory()->transactions(first);
  Transport& transport = process_.memory()->transport();
  uint32_t used = 0;
  transport.get(&used, first, domain + offsetof(TransactionDomain, used_slots), sizeof used);
  std::vector<std::array<uint64_t, sizeof(TransactionSlot) / 8>> before(used), now(used);
  const auto look = [&](auto& out) {
    if (used > 0)
      transport.get(out.data(), first, domain + offsetof(TransactionDomain, slots), used * sizeof(TransactionSlot));
  };
  look(before);
  uint32_t running = 0;
  const double since = seconds_now();
  return process_.await(
      [&] {
        look(now);
        for (running = 0; running < used; ++running) {
          const uint64_t then = before[running][0], state = now[running][0];
          if (then != 0 && state != 0 && (ends || state == then)) return false;
        }
        return true;
      },
      [&] {
        const auto& slot = *reinterpret_cast<const TransactionSlot*>(now[running % used].data());
        return "a wait for " + describe(holder_of(slot, since));
      });
}

Status OtherTransactions::await_all_slots(bool ends) const {
  if (process_.memory() == nullptr) return await_slots(process_.here(), ends);
  for (int node = 0; node < process_.nodes(); ++node)
    HIROBA_TRY(process_.domain(node) != nullptr ? await_slots(*process_.domain(node), ends)
                                                : await_far_slots(node, ends));
  return {};
}

// ---- running alone -------------------------------------------------------------------------------------------------

// While one runs alone, no other is in its slot.
std::string OtherTransactions::describe_alone() const {
  for (int node = 0; node < std::max(1, process_.nodes()); ++node) {
    const TransactionDomain* const domain = process_.memory() == nullptr ? &process_.here() : process_.domain(node);
    for (uint32_t slot = 0; domain != nullptr && slot < domain->used_slots; ++slot)
      if (domain->slots[slot].state != 0) return describe(holder_of(domain->slots[slot], 0));
  }
  return "one of another node";
}

// Threads take the token in the order of their requests.
Status OtherTransactions::take_token(const char* place) {
  const std::string begin = format("the transaction at %s, which waits for one that runs alone", place);
  const auto what = [&] { return begin + ": " + describe_alone(); };
  uint32_t ticket = 0;
  if (process_.memory() != nullptr) {
    const TicketLock token(process_.memory()->collective().world(), 0,
                           process_.memory()->transactions(0) + offsetof(TransactionDomain, token));
    return token.acquire([&] { return std::string(begin); }, what, ticket);
  }
  const std::atomic_ref next(process_.here().token[0]), serving(process_.here().token[1]);
  ticket = next.fetch_add(1);
  return process_.await([&] { return serving.load(std::memory_order_acquire) == ticket; }, what);
}

void OtherTransactions::set_serial(bool on) const {
  if (process_.memory() == nullptr) {
    process_.here().serial = on ? 1 : 0;
    if (!on) ++process_.here().serial_ended;
    return;
  }
  RemoteWords& words = process_.memory()->transport().words();
  for (int node = 0; node < process_.nodes(); ++node) {
    const int first = process_.memory()->job().first_rank_of(node);
    const uint64_t domain = process_.memory()->transactions(first);
    if (!on) words.fetch_add32(first, domain + offsetof(TransactionDomain, serial_ended), 1);
    words.fetch_add64(first, domain + offsetof(TransactionDomain, serial), on ? 1 : ~uint64_t{0});
  }
}

Status OtherTransactions::begin_alone(const char* place) {
  HIROBA_TRY(take_token(place));
  set_serial(true);
  return await_all_slots(true);
}

void OtherTransactions::end_alone() {
  set_serial(false);
  process_.here().wake_sleepers();
  if (process_.memory() == nullptr) return void(std::atomic_ref(process_.here().token[1]).fetch_add(1));
  TicketLock(process_.memory()->collective().world(), 0,
             process_.memory()->transactions(0) + offsetof(TransactionDomain, token))
      .release();
}

Status OtherTransactions::await_end_of_alone(const char* place) const {
  return process_.await([&] { return process_.here().serial.load(std::memory_order_acquire) == 0; },
                        [&] {
                          return format("the transaction at %s, which waits for one that runs alone: %s", place,
                                        describe_alone().c_str());
                        });
}

Status OtherTransactions::await_all() const { return await_all_slots(false); }

}  // namespace hiroba
