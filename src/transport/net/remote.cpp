// One-sided puts and gets of bulk data, over wires that need no help of the owner for them. What an exchange promises
// is kept by fencing before it (count_puts).
#include "base/log.hpp"
#include "transport/net/net_transport.hpp"
#include "transport/strided.hpp"

namespace hiroba {

// Runs the work while the owner polls, if the wire needs that: what comes by the library's own messages does not show
// that anything moves. Who has just had a frame polls for some milliseconds; for more the owner is told of the end,
// too.
template <typename Work>
void Net::with_owner(int rank, size_t bytes, const Work& work) {
  if (!joined_.wire->remote_needs_owner() || rank == config().job.rank) return work();
  Head h = head(Frame::owner);
  h.expected = bytes <= max_inline ? 2 : 1;
  send_frame(rank, h, nullptr, 0);
  work();
  h.expected = 0;
  if (bytes > max_inline) send_frame(rank, h, nullptr, 0);
}

// A small piece in a frame is one message, too.
bool Net::put_remote(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent) {
  if (bytes <= max_inline || !remote_.usable()) return false;
  const RemoteMemory::Place place = remote_place(rank, to, bytes);
  if (place.handle < 0) return false;
  sent.left.fetch_add(1, std::memory_order_relaxed);
  remote_puts_.fetch_add(1, std::memory_order_relaxed);
  await_slot();
  with_owner(rank, bytes, [&] {
    engine_.with_wire([&] {
      outbox_.count(bytes);
      joined_.wire->put(place.handle, place.offset, from, bytes, ticket(Transfer::remote_put, &sent));
    });
    if (joined_.wire->remote_needs_owner()) await(sent);
  });
  return true;
}

bool Net::get_remote(void* to, int rank, uint64_t from, size_t bytes, Completion& completion) {
  if (bytes <= max_inline || !remote_.usable()) return false;
  const RemoteMemory::Place place = remote_place(rank, from, bytes);
  if (place.handle < 0) return false;
  completion.left.fetch_add(1, std::memory_order_relaxed);
  await_slot();
  with_owner(rank, bytes, [&] {
    engine_.with_wire(
        [&] { joined_.wire->get(place.handle, place.offset, to, bytes, ticket(Transfer::completion, &completion)); });
  });
  return true;
}

namespace {

constexpr size_t most_at_once = size_t{8} << 20;  // of boxes and numbers; others want the wire, too

// The bytes from a box's first to behind its last, where its corner with the lowest address lies at `low`.
struct Reach {
  ptrdiff_t low = 0, high = 0;
  explicit Reach(const Strided& box) : high(static_cast<ptrdiff_t>(box.block_bytes)) {
    for (int d = 0; d < box.dims; ++d) {
      const ptrdiff_t far = box.remote_stride[d] * (static_cast<ptrdiff_t>(box.count[d]) - 1);
      (far < 0 ? low : high) += far;
    }
  }
};

}  // namespace

// Starts `move(place of the part's first block, part, local offset, ticket)` for each part of the box, and waits for
// all; false if the wire has no such operation, or the box does not lie within one range of memory of that rank.
template <typename Move>
bool Net::move_box(int rank, uint64_t offset, const Strided& box, Transfer::Kind kind, const Move& move) {
  const auto place_of = [&](const Strided& part, ptrdiff_t remote) {
    const Reach reach(part);
    RemoteMemory::Place place = remote_place(rank, offset + static_cast<uint64_t>(remote + reach.low),
                                             static_cast<size_t>(reach.high - reach.low));
    place.offset -= static_cast<uint64_t>(reach.low);
    return place;
  };
  if (!joined_.wire->has_remote_strided(box) || bytes_of(box) == 0 || place_of(box, 0).handle < 0) return false;
  Completion done;
  with_owner(rank, bytes_of(box), [&] {
    for_each_part(box, most_at_once, [&](const Strided& part, ptrdiff_t local, ptrdiff_t remote) {
      const RemoteMemory::Place place = place_of(part, remote);
      done.left.fetch_add(1, std::memory_order_relaxed);
      if (kind == Transfer::remote_put) remote_puts_.fetch_add(1, std::memory_order_relaxed);
      await_slot();
      engine_.with_wire([&] { move(place, part, local, ticket(kind, &done)); });
    });
    await(done);
  });
  return true;
}

bool Net::put_remote(int rank, uint64_t to, const void* from, const Strided& box) {
  const auto put = [&](RemoteMemory::Place place, const Strided& part, ptrdiff_t local, uint64_t ticket) {
    outbox_.count(bytes_of(part));
    joined_.wire->put_strided(place.handle, place.offset, static_cast<const char*>(from) + local, part, ticket);
  };
  return move_box(rank, to, box, Transfer::remote_put, put);
}

bool Net::get_remote(void* to, int rank, uint64_t from, const Strided& box) {
  const auto get = [&](RemoteMemory::Place place, const Strided& part, ptrdiff_t local, uint64_t ticket) {
    joined_.wire->get_strided(place.handle, place.offset, static_cast<char*>(to) + local, part, ticket);
  };
  return move_box(rank, from, box, Transfer::completion, get);
}

// By the library also where this process could reach the memory: additions of two kinds would lose each other.
bool Net::accumulate(int rank, uint64_t to, const void* from, Number type, size_t numbers) {
  if (!joined_.wire->has_accumulate()) return false;
  note_change(rank, 0, anything);
  const size_t size = type == Number::int32 || type == Number::float32 ? 4 : 8, most = most_at_once / size;
  const char* at = static_cast<const char*>(from);
  Completion done;
  const auto add = [&](size_t part) {
    const RemoteMemory::Place place = remote_place(rank, to, part * size);
    done.left.fetch_add(1, std::memory_order_relaxed);
    remote_puts_.fetch_add(1, std::memory_order_relaxed);
    await_slot();
    engine_.with_wire([&] {
      outbox_.count(part * size);
      joined_.wire->accumulate(place.handle, place.offset, at, type, part, ticket(Transfer::remote_put, &done));
    });
    at += part * size, to += part * size, numbers -= part;
  };
  with_owner(rank, numbers * size, [&] {
    while (numbers > 0) add(std::min(numbers, most));
    await(done);
  });
  return true;
}

// Asks the owner the first time. A handle of -1: the piece is not within one range.
RemoteMemory::Place Net::remote_place(int rank, uint64_t offset, size_t bytes) {
  RemoteMemory::Place place = {-1, 0}, any;
  bool known = false;
  const auto look = [&] {
    known = remote_.find(offset, 1, any);
    if (!remote_.find(offset, bytes, place)) place.handle = -1;
  };
  engine_.with_wire(look);
  if (known) return place;
  Answer answer;
  Head h = head(Frame::ask_key);
  h.offset = offset;
  h.completion = reinterpret_cast<uint64_t>(&answer);
  send_frame(rank, h, nullptr, 0);
  engine_.wait([&] { return answer.here.load(std::memory_order_acquire) != 0; });
  engine_.with_wire(look);
  return place;
}

void Net::await_remote_puts() {
  engine_.wait([this] { return remote_puts_.load(std::memory_order_acquire) == 0; });
}

// Not in the hook that has brought the question: there the network library is in the middle of something.
bool Net::answer_keys() {
  if (askers_.empty()) return false;
  std::vector<Asker> askers;
  std::swap(askers, askers_);
  for (const Asker& asker : askers) {
    std::vector<char> told;
    const Status status = remote_.tell(asker.offset, told);
    if (!status.ok()) end_job(1, "%s", status.message().c_str());
    Head h = head(Frame::key);
    h.completion = asker.completion;
    push(asker.source, h, told.data(), told.size());
  }
  return true;
}

}  // namespace hiroba
