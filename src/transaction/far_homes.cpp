#include "transaction/far_homes.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "transaction/process_part.hpp"
#include "transaction/write_set.hpp"

namespace hiroba {

void FarHomes::listen(Transport& transport) { handler_ = add_handler<&FarHomes::serve>(transport, this); }

void FarHomes::start(Memory& memory, TransactionDomain& domain) { memory_ = &memory, domain_ = &domain; }

uint64_t FarHomes::reply_offset(int rank, int source, uint32_t room) const {
  constexpr uint64_t stride = 128;
  static_assert(sizeof(Reply) <= stride && sizeof(TransactionDomain) <= replies_at);
  const uint64_t number = static_cast<uint64_t>(source) * rooms + room;
  return memory_->transactions(rank) + replies_at + number * stride;
}

FarHomes::Reply& FarHomes::reply_of(int source, uint32_t room) const {
  const World& world = memory_->collective().world();
  return *reinterpret_cast<Reply*>(world.base + reply_offset(world.rank, source, room));
}

uint32_t FarHomes::take_room() {
  for (Backoff backoff(200);;) {
    uint64_t taken = taken_rooms_.load();
    if (~taken == 0) {
      if (!backoff.step()) memory_->collective().world().drive();
      continue;
    }
    const int room = std::countr_one(taken);
    if (taken_rooms_.compare_exchange_weak(taken, taken | uint64_t{1} << room)) return static_cast<uint32_t>(room);
  }
}

// The request travels with a get of its answer, which its handler writes before the get reads.
void FarHomes::ask(std::span<Request> requests) {
  const uint32_t room = take_room();
  OneSided& gets = memory_->transport().one_sided();
  Completion done;
  const int self = memory_->job().rank;
  for (Request& request : requests) {
    char payload[Piggyback::max_piggyback];
    request.head.reply = room;
    std::memcpy(payload, &request.head, sizeof request.head);
    std::memcpy(payload + sizeof request.head, request.items, request.bytes);
    const Piggyback piggyback = {handler_, payload, sizeof request.head + request.bytes};
    gets.start_get(&request.reply, request.rank, reply_offset(request.rank, self, room), sizeof(Reply), done,
                   &piggyback);
  }
  messages_.fetch_add(requests.size(), std::memory_order_relaxed);
  gets.await(done);
  taken_rooms_.fetch_and(~(uint64_t{1} << room));
}

// ---- at the home ---------------------------------------------------------------------------------------------------

void FarHomes::serve(int source, const void* payload, size_t /*bytes*/) {
  Head head;
  std::memcpy(&head, payload, sizeof head);
  const char* const items = static_cast<const char*>(payload) + sizeof head;
  const auto list = [&]<typename Item>(std::vector<Item>& out) {
    out.resize(head.count);
    std::memcpy(out.data(), items, head.count * sizeof(Item));
  };
  Reply& reply = reply_of(source, head.reply);
  const uint64_t owner = static_cast<uint64_t>(source) << 32 | head.owner;
  std::vector<FarStripe> stripes;
  std::vector<FarWrite> writes;
  switch (head.kind) {
    case Kind::read: {
      Read request;
      std::memcpy(&request, items, sizeof request);
      return read(request, reply);
    }
    case Kind::lock: list(stripes), reply.ok = lock(owner, stripes); return;
    case Kind::validate: list(stripes), reply.ok = is_valid(stripes); return;
    case Kind::write:
      list(writes), write(writes);
      if (head.last != 0) unlock(owner, true);
      reply.ok = 1;
      return;
    case Kind::undo: unlock(owner, false), reply.ok = 1; return;
  }
}

// The clock comes first: the snapshot of the reader moves to it, and a newer version is looked at again.
void FarHomes::read(const Read& request, Reply& reply) const {
  constexpr int looks = 16;
  const char* const data = memory_->transport().local_address(memory_->job().rank, request.offset);
  const StripeWord& stripe = domain_->words[request.index];
  for (int look = 0; look < looks; ++look) {
    reply.clock = domain_->clock.load(std::memory_order_acquire);
    reply.version = stripe.word.load(std::memory_order_acquire);
    if (StripeWord::is_locked(reply.version) || reply.version > reply.clock) continue;
    for (uint32_t at = 0; at < request.bytes; at += 8) {
      auto& word = *reinterpret_cast<uint64_t*>(const_cast<char*>(data) + at);
      const uint64_t value = std::atomic_ref(word).load(std::memory_order_acquire);
      std::memcpy(reply.data + at, &value, sizeof value);
    }
    reply.ok = stripe.word.load(std::memory_order_relaxed) == reply.version;
    if (reply.ok != 0) return;
  }
  reply.ok = 0;
}

bool FarHomes::is_valid(std::span<const FarStripe> stripes) const {
  return std::all_of(stripes.begin(), stripes.end(), [this](const FarStripe& stripe) {
    return (stripe.flags & FarStripe::expects) == 0 || (stripe.flags & FarStripe::lock) != 0 ||
           domain_->words[stripe.index].word.load(std::memory_order_acquire) == stripe.version;
  });
}

// Locks all that is to be locked before it validates the others.
bool FarHomes::lock(uint64_t owner, std::span<const FarStripe> stripes) {
  const auto take = [&](const FarStripe& stripe) {
    std::atomic<uint64_t>& word = domain_->words[stripe.index].word;
    uint64_t now = word.load(std::memory_order_relaxed);
    if (StripeWord::is_locked(now)) return false;
    if ((stripe.flags & FarStripe::expects) != 0 && now != stripe.version) return false;
    if (!word.compare_exchange_strong(now, StripeWord::locked(StripeWord::elsewhere, 0))) return false;
    const std::lock_guard guard(lock_);
    held_[owner].push_back({stripe.index, (stripe.flags & FarStripe::writes) != 0, now});
    return true;
  };
  for (const FarStripe& stripe : stripes)
    if ((stripe.flags & FarStripe::lock) != 0 && !take(stripe)) return unlock(owner, false), false;
  return is_valid(stripes) || (unlock(owner, false), false);
}

void FarHomes::write(std::span<const FarWrite> writes) const {
  for (const FarWrite& write : writes)
    store_masked(memory_->transport().local_address(memory_->job().rank, write.offset), write.value, write.mask);
}

void FarHomes::unlock(uint64_t owner, bool written) {
  std::vector<Held> held;
  {
    const std::lock_guard guard(lock_);
    const auto found = held_.find(owner);
    if (found == held_.end()) return;
    held = std::move(found->second);
    held_.erase(found);
  }
  const uint64_t version = written ? domain_->clock.fetch_add(1, std::memory_order_acq_rel) + 1 : 0;
  for (const Held& h : held)
    domain_->words[h.index].word.store(written && h.writes ? version : h.version, std::memory_order_release);
  if (written) domain_->wake_sleepers();
}

// ---- what an attempt has read --------------------------------------------------------------------------------------

bool FarReads::find(uint64_t address, uint64_t& out) const {
  for (size_t i = reads_.size(); i-- > 0;) {
    if (address - reads_[i].address >= reads_[i].bytes) continue;
    std::memcpy(&out, reads_[i].data + (address - reads_[i].address), sizeof out);
    return true;
  }
  return false;
}

void FarReads::get(const PastCache::Place& place, uint64_t address, int stripe_shift, Answer& answer) const {
  const uint64_t bytes = bytes_of(stripe_shift);
  const FarHomes::Read read = {place.offset - address % bytes, static_cast<uint32_t>(bytes),
                               TransactionDomain::index_of(address, stripe_shift)};
  FarHomes::Request request = {place.rank, {FarHomes::Kind::read, 0, 0, 1, 1}, &read, sizeof read, {}};
  process_.far_homes().ask({&request, 1});
  answer.locked = request.reply.ok == 0, answer.version = request.reply.version, answer.clock = request.reply.clock;
  std::memcpy(answer.data, request.reply.data, bytes);
}

void FarReads::add(int node, uint64_t address, int stripe_shift, const Answer& answer, uint64_t& out) {
  const uint64_t bytes = bytes_of(stripe_shift);
  Entry& entry = reads_.emplace_back();
  entry.address = address / bytes * bytes, entry.bytes = bytes, entry.version = answer.version, entry.node = node;
  entry.index = TransactionDomain::index_of(address, stripe_shift);
  std::memcpy(entry.data, answer.data, bytes);
  std::memcpy(&out, entry.data + (address - entry.address), sizeof out);
}

void FarReads::stripes_of(int node, std::vector<FarStripe>& out) const {
  for (const Entry& entry : reads_)
    if (entry.node == node) out.push_back({entry.index, FarStripe::expects, entry.version});
}

bool FarReads::is_valid(std::span<const int> skipped) const {
  const Job& job = process_.memory()->job();
  std::vector<FarStripe> stripes;
  for (int node = 0; node < job.nnodes; ++node) {
    if (std::find(skipped.begin(), skipped.end(), node) != skipped.end()) continue;
    stripes.clear();
    stripes_of(node, stripes);
    constexpr size_t most = FarHomes::most_items<FarStripe>();
    for (size_t first = 0; first < stripes.size(); first += most) {
      const size_t count = std::min(most, stripes.size() - first);
      FarHomes::Request request = {job.first_rank_of(node),
                                   {FarHomes::Kind::validate, 0, 0, static_cast<uint32_t>(count), 1},
                                   &stripes[first],
                                   count * sizeof(FarStripe),
                                   {}};
      process_.far_homes().ask({&request, 1});
      if (request.reply.ok == 0) return false;
    }
  }
  return true;
}

}  // namespace hiroba
