#include "transport/net/wire_access.hpp"

#include "base/log.hpp"

namespace hiroba {

// Runs the work while the owner polls, if the wire needs that: the library's own messages do not show us that data
// moves. An owner that has just received a frame polls for some milliseconds; for larger work it is told of the end,
// too.
template <typename Work>
void WireAccess::with_owner(int rank, size_t bytes, const Work& work) {
  if (!channel_->wire().remote().needs_owner || rank == self_) return work();
  Head h = head_of(Frame::owner);
  h.expected = bytes <= max_inline ? 2 : 1;
  channel_->send(rank, h, nullptr, 0);
  work();
  h.expected = 0;
  if (bytes > max_inline) channel_->send(rank, h, nullptr, 0);
}

// Declines small pieces: a frame is one message, too.
bool WireAccess::put(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent) {
  if (bytes <= max_inline || !memory_.usable()) return false;
  const RemoteMemory::Place place = place_of(rank, to, bytes);
  if (place.handle < 0) return false;
  sent.left.fetch_add(1, std::memory_order_relaxed);
  channel_->await_slot();
  with_owner(rank, bytes, [&] {
    channel_->engine().with_wire([&] {
      channel_->outbox().count(bytes);
      channel_->wire().put(place.handle, place.offset, from, bytes, add_put(sent));
    });
    if (channel_->wire().remote().needs_owner) channel_->await(sent);
  });
  return true;
}

bool WireAccess::get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion) {
  if (bytes <= max_inline || !memory_.usable()) return false;
  const RemoteMemory::Place place = place_of(rank, from, bytes);
  if (place.handle < 0) return false;
  completion.left.fetch_add(1, std::memory_order_relaxed);
  channel_->await_slot();
  with_owner(rank, bytes, [&] {
    channel_->engine().with_wire(
        [&] { channel_->wire().get(place.handle, place.offset, to, bytes, channel_->transfers().add(completion)); });
  });
  return true;
}

namespace {

constexpr size_t most_at_once = size_t{8} << 20;  // limit for boxes and numbers; other threads need the wire, too

}  // namespace

// Starts `move(place of the part's first block, part, local offset, ticket)` for each part of the walk, and waits for
// all; false if the wire has no such operation, or the walk does not lie within one range of memory of that rank.
template <typename Move>
bool WireAccess::move_box(int rank, uint64_t offset, const Walk& walk, bool is_put, const Move& move) {
  const auto place_for = [&](const Walk& part, int64_t remote) {
    const auto [low, high] =
        SectionView{nullptr, part.block, part.dims, part.count, is_put ? part.to : part.from}.bounds();
    RemoteMemory::Place place =
        place_of(rank, offset + static_cast<uint64_t>(remote + low), static_cast<size_t>(high - low));
    place.offset -= static_cast<uint64_t>(low);
    return place;
  };
  if (!channel_->wire().has_remote_strided(walk) || walk.total() == 0 || place_for(walk, 0).handle < 0) return false;
  Completion done;
  with_owner(rank, walk.total(), [&] {
    walk.for_each_part(most_at_once, Walk::max_dims, [&](const Walk& part, int64_t at_to, int64_t at_from) {
      const RemoteMemory::Place place = place_for(part, is_put ? at_to : at_from);
      done.left.fetch_add(1, std::memory_order_relaxed);
      channel_->await_slot();
      channel_->engine().with_wire([&] {
        move(place, part, is_put ? at_from : at_to, is_put ? add_put(done) : channel_->transfers().add(done));
      });
    });
    channel_->await(done);
  });
  return true;
}

bool WireAccess::put(int rank, uint64_t to, const void* from, const Walk& walk) {
  const auto put = [&](RemoteMemory::Place place, const Walk& part, int64_t local, uint64_t ticket) {
    channel_->outbox().count(part.total());
    channel_->wire().put_strided(place.handle, place.offset, static_cast<const char*>(from) + local, part, ticket);
  };
  return move_box(rank, to, walk, true, put);
}

bool WireAccess::get(void* to, int rank, uint64_t from, const Walk& walk) {
  const auto get = [&](RemoteMemory::Place place, const Walk& part, int64_t local, uint64_t ticket) {
    channel_->wire().get_strided(place.handle, place.offset, static_cast<char*>(to) + local, part, ticket);
  };
  return move_box(rank, from, walk, false, get);
}

// Uses the library also for memory of this node: additions of two kinds would not be atomic with each other.
bool WireAccess::accumulate(int rank, uint64_t to, const void* from, Number type, size_t numbers) {
  if (!channel_->wire().remote().accumulate) return false;
  const size_t size = type == Number::int32 || type == Number::float32 ? 4 : 8, most = most_at_once / size;
  const char* at = static_cast<const char*>(from);
  Completion done;
  const auto add = [&](size_t part) {
    const RemoteMemory::Place place = place_of(rank, to, part * size);
    done.left.fetch_add(1, std::memory_order_relaxed);
    channel_->await_slot();
    channel_->engine().with_wire([&] {
      channel_->outbox().count(part * size);
      channel_->wire().accumulate(place.handle, place.offset, at, type, part, add_put(done));
    });
    at += part * size, to += part * size, numbers -= part;
  };
  with_owner(rank, numbers * size, [&] {
    while (numbers > 0) add(std::min(numbers, most));
    channel_->await(done);
  });
  return true;
}

// Asks the owner the first time. Returns handle -1 if the piece exceeds one range.
RemoteMemory::Place WireAccess::place_of(int rank, uint64_t offset, size_t bytes) {
  RemoteMemory::Place place = {-1, 0}, any;
  bool known = false;
  const auto look = [&] {
    known = memory_.find(offset, 1, any);
    if (!memory_.find(offset, bytes, place)) place.handle = -1;
  };
  channel_->engine().with_wire(look);
  if (known) return place;
  Head h = head_of(Frame::ask_key);
  h.offset = offset;
  channel_->ask(rank, h);
  channel_->engine().with_wire(look);
  return place;
}

uint64_t WireAccess::add_put(Completion& done) {
  puts_.fetch_add(1, std::memory_order_relaxed);
  const auto ended = [](void* self, WireTransfer&) {
    static_cast<WireAccess*>(self)->puts_.fetch_sub(1, std::memory_order_release);
  };
  return channel_->transfers().add(ended, this, &done);
}

void WireAccess::await_puts() {
  channel_->engine().wait([this] { return puts_.load(std::memory_order_acquire) == 0; });
}

void WireAccess::serve_key(int source, const Head& head, std::span<const char> key) {
  memory_.learn(channel_->wire_rank(source), key);
  Channel::take_answer(head, 1);
}

// The frames for begin and end may overtake each other.
void WireAccess::serve_owner(const Head& head) {
  if (head.expected < 2) channel_->transfers().change_busy(head.expected == 1 ? 1 : -1);
}

// Not called in the hook that received the request: the network library is in the middle of a call there.
bool WireAccess::answer_keys() {
  if (askers_.empty()) return false;
  std::vector<Asker> askers;
  std::swap(askers, askers_);
  for (const Asker& asker : askers) {
    std::vector<char> told;
    const Status status = memory_.tell(asker.offset, told);
    if (!status.ok()) end_job(1, "%s", status.message().c_str());
    Head h = head_of(Frame::key);
    h.completion = asker.completion;
    channel_->push(asker.source, h, told.data(), told.size());
  }
  return true;
}

}  // namespace hiroba
