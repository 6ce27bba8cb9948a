// Standing gets, README.md: the asker's side, from what it asks ahead of an exchange to what comes with it, and the
// home's.
#include "transport/net/standing.hpp"

#include <cstring>

#include "transport/net/net_transport.hpp"

namespace hiroba {

namespace {
// What others change again and again is not sent unasked: what was sent in vain counts as much as so many that were
// right.
constexpr uint32_t in_vain = 8, most_in_vain = 2 * in_vain;
}  // namespace

// ---- the asker -----------------------------------------------------------------------------------------------------

// Takes a get that is asked ahead, if it may come to stand; false if not. A home that shares its memory with other
// ranks does not know when all of them have written what they write; an asker that shares a node with others learns of
// the end of an exchange from them, not with the wire.
bool Net::wish(char* to, int rank, uint64_t from, size_t bytes, Completion& completion) {
  const Job& job = config().job;
  if (job.ranks_on(job.node_of(rank)) > 1 || job.ranks_on(job.node) > 1) return false;
  bool taken = false;
  engine_.with_wire([&] {
    Wish* const wish = standing_.find(rank, from, static_cast<uint32_t>(bytes));
    taken = wish != nullptr && !wish->asked && wish->data == Wish::none;
    if (!taken) return;
    completion.left.fetch_add(1, std::memory_order_relaxed);
    wish->asked = true, wish->to = to, wish->completion = &completion;
  });
  return taken;
}

// This rank comes to an exchange: asks for what does not come unasked, and prepares for what does. Returns how many
// bytes that are.
uint64_t Net::depart(uint64_t tag) {
  auto& wishes = standing_.wishes();
  const auto idle = [](const Wish& wish) { return !wish.asked && !wish.stands(); };
  // What comes with one exchange is here before the next, so that two on their way are of two exchanges in a row.
  engine_.wait([this] { return unasked_.load(std::memory_order_acquire) == 0; });
  if (std::all_of(wishes.begin(), wishes.end(), idle)) return 0;
  if (std::any_of(wishes.begin(), wishes.end(), [](const Wish& wish) { return wish.asked; })) ++standing_.departures;
  uint64_t unasked = 0;
  for (Wish& wish : wishes)
    if (!idle(wish)) unasked += depart(wish, tag, epoch_.load() + 1);
  return unasked;
}

uint64_t Net::depart(Wish& wish, uint64_t tag, uint64_t number) {
  const bool asked = std::exchange(wish.asked, false), due = wish.get.due(tag, number);
  if (due) {
    receive(wish, asked, number);
    if (!asked || wish.vain >= most_in_vain) dismiss(wish, number);
  } else if (asked) {
    get_piece(wish.to, wish.rank, wish.get.from, wish.get.bytes, *wish.completion, nullptr,
              static_cast<uint32_t>(number));
    wish.completion->left.fetch_sub(1, std::memory_order_relaxed);
    const uint32_t period = wish.period(standing_.departures);
    if (!wish.stands() && period > 0 && wish.vain < most_in_vain) order(wish, tag, number, period);
  }
  if (asked) wish.before = wish.asked_at, wish.asked_at = standing_.departures;
  return due ? wish.get.bytes : 0;
}

void Net::receive(Wish& wish, bool wanted, uint64_t number) {
  if (!wanted) {
    wish.unwanted.resize(wish.get.bytes);
    wish.to = wish.unwanted.data(), wish.completion = nullptr;
  }
  wish.data = Wish::coming, wish.verdict = Wish::open;
  wish.number = number, wish.sequence = meeting_.sequence();
  unasked_.fetch_add(1, std::memory_order_relaxed);
  engine_.with_wire([&] {
    coming_.fetch_add(1, std::memory_order_relaxed);
    const uint64_t t = ticket(Transfer::unasked);
    transfers_[t].offset = wish.get.id;
    joined_.wire->recv_bulk(joined_.wire_ranks[static_cast<size_t>(wish.rank)], wish.get.wire_tag(number), wish.to,
                            wish.get.bytes, t);
  });
}

// Both are numbered as puts, so the home knows of them when it is through with the exchange.
void Net::order(Wish& wish, uint64_t tag, uint64_t number, uint32_t period) {
  wish.get.tag = tag, wish.get.since = number, wish.get.period = period;
  wish.get.until = StandingGet::for_ever, wish.get.turns = 0;
  wish.get.tells =
      joined_.wire->tells_empty() && meeting_.first_told(wish.rank) == config().job.rank && !wish.often_empty;
  Head h = head(Frame::stand);
  h.expected = number_put(wish.rank);
  gather(wish.rank, h, &wish.get, sizeof wish.get);
}

void Net::dismiss(Wish& wish, uint64_t number) {
  wish.get.until = number;
  Head h = head(Frame::stand);
  h.expected = number_put(wish.rank);
  gather(wish.rank, h, &wish.get, sizeof wish.get);
  wish.get.period = 0;
  if (wish.empty) wish.often_empty = true, wish.vain = 0;  // it may stand again, and tell nothing
}

// With the wire, also while this rank computes between the halves of the exchange. What a home has sent is right if
// nobody else has changed the memory there since the exchange before: a change may have come to it later. If not, it is
// asked for once more.
void Net::all_have_come() {
  if (unasked_.load(std::memory_order_relaxed) == 0) return;
  auto& wishes = standing_.wishes();
  meeting_.for_each_change([&](const Change& change) {
    for (Wish& wish : wishes)
      if (change.touches(wish.rank, wish.get.from, wish.get.bytes)) wish.verdict = Wish::changed;
  });
  for (Wish& wish : wishes) {
    if (wish.data == Wish::none) continue;
    if (wish.verdict == Wish::open) wish.verdict = Wish::good;
    finish(wish);
  }
}

// With the wire: it has come.
void Net::take_unasked(Wish& wish, bool empty) {
  wish.data = Wish::here, wish.empty = empty;
  if (wish.get.tells != 0 && !empty) meeting_.hear(wish.rank, wish.sequence, wish.get.tag);
  finish(wish);
}

// With the wire.
void Net::finish(Wish& wish) {
  if (wish.data != Wish::here || wish.verdict == Wish::open) return;
  wish.data = Wish::none;
  const bool vain = wish.empty || wish.verdict == Wish::changed;
  wish.vain = vain ? wish.vain + in_vain : wish.vain - std::min(wish.vain, 1u);
  if (wish.completion != nullptr) {
    if (vain)
      get_piece(wish.to, wish.rank, wish.get.from, wish.get.bytes, *wish.completion, nullptr,
                static_cast<uint32_t>(wish.number));
    wish.completion->left.fetch_sub(1, std::memory_order_release);
  }
  unasked_.fetch_sub(1, std::memory_order_release);
}

// ---- what this rank changes of others' memory ----------------------------------------------------------------------

void Net::note_change(int rank, uint64_t offset, uint64_t bytes) {
  dirty_lock_.lock();
  change_.add(rank, offset, bytes);
  dirty_lock_.unlock();
}

void Net::note_changes(int rank, std::span<const PackedWord> pieces) {
  uint64_t first = UINT64_MAX, end = 0;
  for_each_piece(pieces, [&](uint64_t offset, const PackedWord*, size_t bytes) {
    first = std::min(first, offset), end = std::max(end, offset + bytes);
  });
  if (first < end) note_change(rank, first, end - first);
}

Change Net::take_change() {
  dirty_lock_.lock();
  const Change change = std::exchange(change_, {});
  dirty_lock_.unlock();
  return change;
}

// ---- the home ------------------------------------------------------------------------------------------------------

// The end may overtake the beginning.
void Net::serve_stand(int source, const Head& head, const char* payload) {
  StandingGet get;
  std::memcpy(&get, payload, sizeof get);
  auto& promises = standing_.promises();
  const auto same = [&](const Standing::Promise& p) {
    return p.source == source && p.get.id == get.id && p.get.since == get.since;
  };
  const auto known = std::find_if(promises.begin(), promises.end(), same);
  if (known != promises.end()) known->get.until = std::min(known->get.until, get.until);
  else promises.push_back({source, get});
  put_arrived(source, head.expected);
}

// Finds out what goes with the exchange that this rank comes to now. Returns whether it tells of that.
bool Net::plan_unasked(uint64_t tag) {
  const uint64_t number = epoch_.load() + 1;
  bool tells = false;
  sends_unasked_ = false;
  engine_.with_wire([&] {
    std::erase_if(standing_.promises(), [number](const auto& promise) { return promise.get.until < number; });
    for (Standing::Promise& promise : standing_.promises()) {
      promise.now = promise.get.due(tag, number);
      sends_unasked_ = sends_unasked_ || promise.now;
      tells = tells || (promise.now && promise.get.tells != 0);
    }
  });
  return tells;
}

// This rank has come: all that it writes before the exchange is written. `plain`: that is all that it has to say.
void Net::send_unasked(bool plain) {
  if (!sends_unasked_) return;
  const uint64_t number = epoch_.load() + 1;
  engine_.with_wire([&] {
    outbox_.send();
    for (Standing::Promise& promise : standing_.promises()) {
      if (!std::exchange(promise.now, false)) continue;
      const size_t bytes = plain || promise.get.tells == 0 ? promise.get.bytes : 0;
      outbox_.count(bytes);
      joined_.wire->send_bulk(joined_.wire_ranks[static_cast<size_t>(promise.source)], promise.get.wire_tag(number),
                              window_.at(promise.get.from), bytes, ticket(Transfer::nothing));
    }
  });
}

}  // namespace hiroba
