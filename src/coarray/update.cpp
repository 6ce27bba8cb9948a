#include "coarray/update.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/wait.hpp"

namespace hiroba {

namespace {

// Holds the lock of the region where this thread computes.
class Region {
 public:
  Region(const World& world, const Control& control, int rank) : world_(world), control_(control), rank_(rank) {}
  ~Region() {
    if (held_ != nullptr) held_->unlock();
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // Computes elements of a row that begins at `offset`; `to` is its address in this process.
  void apply(const Arithmetic& arithmetic, char* to, uint64_t offset, int64_t stride, const char* from,
             int64_t from_stride, int64_t count) {
    while (count > 0) {
      const int64_t part = std::min(count, enter(offset, stride));
      arithmetic.apply(to, stride, from, from_stride, part);
      to += part * stride, offset += static_cast<uint64_t>(part * stride), from += part * from_stride, count -= part;
    }
  }

 private:
  // Takes the lock of this region; returns the number of elements of the row in it.
  int64_t enter(uint64_t offset, int64_t stride) {
    const uint64_t at = control_.lock(rank_, offset);
    if (at != at_) {
      if (held_ != nullptr) held_->unlock();
      held_ = reinterpret_cast<SignalSafeLock*>(world_.reach(rank_, at));
      held_->lock();
      at_ = at;
    }
    constexpr uint64_t size = uint64_t{1} << Control::region_shift;
    const auto before = static_cast<int64_t>(offset % size), after = static_cast<int64_t>(size) - before;
    return stride == 0 ? INT64_MAX : stride > 0 ? (after + stride - 1) / stride : before / -stride + 1;
  }

  const World& world_;
  const Control& control_;
  const int rank_;
  uint64_t at_ = 0;
  SignalSafeLock* held_ = nullptr;
};

struct Dimension {
  int64_t count, stride;
};

struct Head {
  uint64_t offset;
  int64_t first, count;  // of the elements, numbered in order
  int32_t dims;
  uint8_t to, values, op;
  uint8_t single;  // one value for all
  int32_t room;    // one more than the number of the room with the values; 0: they follow the dimensions
};

// From this number of values on a room, with its two more messages, is faster.
constexpr size_t least_for_room = size_t{24} << 10;

}  // namespace

void Updater::listen(Transport& transport) { on_update_ = add_handler<&Updater::serve>(transport, this); }

void Updater::start(const World& world, const Control& control) {
  world_ = &world, control_ = &control;
  sent_ = std::make_unique<std::atomic<uint32_t>[]>(static_cast<size_t>(world.nranks));
  done_ = std::make_unique<std::atomic<uint32_t>[]>(static_cast<size_t>(world.nranks));
}

namespace {

// Calls visit(offset in to, its stride, offset in from, its stride, elements) for each row.
template <typename Visit>
void for_each_row(const Walk& elements, const Visit& visit) {
  if (elements.dims == 0) return visit(0, 0, 0, 0, 1);
  Walk rows = elements;
  const int inner = --rows.dims;
  rows.for_each_block([&](int64_t at_to, int64_t at_from) {
    visit(at_to, elements.to[inner], at_from, elements.from[inner], elements.count[inner]);
  });
}

}  // namespace

void Updater::compute(char* to, const char* from, const Walk& elements, const Arithmetic& arithmetic) {
  for_each_row(elements, [&](int64_t at_to, int64_t to_stride, int64_t at_from, int64_t from_stride, int64_t count) {
    arithmetic.apply(to + at_to, to_stride, from + at_from, from_stride, count);
  });
}

void Updater::update(const RemoteAddress& to, const char* from, const Walk& elements, const Arithmetic& arithmetic) {
  if (to.here == nullptr) return send(to, from, elements, arithmetic);
  Region region(*world_, *control_, to.rank);
  for_each_row(elements, [&](int64_t at_to, int64_t to_stride, int64_t at_from, int64_t from_stride, int64_t count) {
    region.apply(arithmetic, to.here + at_to, to.offset + static_cast<uint64_t>(at_to), to_stride, from + at_from,
                 from_stride, count);
  });
}

// A head, its dimensions, and values.
struct Updater::Message {
  Head head = {};
  alignas(16) char bytes[Transport::max_message];
  size_t used = 0, size = 0;  // used bytes before the values, and in all
};

void Updater::send(const RemoteAddress& to, const char* from, const Walk& elements, const Arithmetic& arithmetic) {
  Message message;
  Head& head = message.head;
  head.offset = to.offset, head.dims = elements.dims;
  head.to = static_cast<uint8_t>(arithmetic.to()), head.values = static_cast<uint8_t>(arithmetic.values());
  head.op = static_cast<uint8_t>(arithmetic.op());
  Walk values = elements;  // on this side
  values.block = bytes_of(arithmetic.values());
  head.single = std::all_of(values.from, values.from + values.dims, [](int64_t stride) { return stride == 0; });
  message.used = sizeof head;
  for (int d = 0; d < head.dims; ++d, message.used += sizeof(Dimension)) {
    const Dimension dimension = {elements.count[d], elements.to[d]};
    std::memcpy(message.bytes + message.used, &dimension, sizeof dimension);
  }
  const int64_t all = elements.blocks();
  if (head.single == 0 && static_cast<size_t>(all) * values.block >= least_for_room)
    return send_by_room(to.rank, from, values, message);
  const int64_t most =
      head.single != 0 ? all : static_cast<int64_t>((sizeof message.bytes - message.used) / values.block);
  for (head.first = 0; head.first < all; head.first += most) {
    head.count = std::min(most, all - head.first);
    const int64_t carried = head.single != 0 ? 1 : head.count;
    gather(message.bytes + message.used, from, values, head.first, carried);
    message.size = message.used + static_cast<size_t>(carried) * values.block;
    send_message(to.rank, message);
  }
}

void Updater::send_message(int rank, const Message& message) {
  char bytes[Transport::max_message];
  std::memcpy(bytes, message.bytes, message.size);
  std::memcpy(bytes, &message.head, sizeof message.head);
  sent_[rank].fetch_add(1, std::memory_order_relaxed);
  any_sent_.store(true, std::memory_order_release);
  if (message.head.room > 0) world_->transport->send_after_puts(rank, on_update_, bytes, message.size);
  else world_->transport->send(rank, on_update_, bytes, message.size);
}

// While the target computes with the values in one room, the next is filled.
void Updater::send_by_room(int rank, const char* from, const Walk& values, Message& message) {
  Head& head = message.head;
  const auto block = static_cast<int64_t>(values.block);
  const bool together = values.dims == 1 && values.from[0] == block;
  const auto most = static_cast<int64_t>(Control::room) / block;
  std::unique_ptr<char[]> packed;
  if (!together) packed = std::make_unique_for_overwrite<char[]>(Control::room);
  const int64_t all = values.blocks();
  message.size = message.used;
  for (head.first = 0; head.first < all; head.first += most) {
    head.count = std::min(most, all - head.first);
    if (!together) gather(packed.get(), from, values, head.first, head.count);
    const int number = take_room(rank);
    head.room = number + 1;
    world_->transport->put(rank, control_->room_of(rank, number), together ? from + head.first * block : packed.get(),
                           static_cast<size_t>(head.count * block));
    send_message(rank, message);
  }
}

int Updater::take_room(int rank) const {
  constexpr int rooms = static_cast<int>(Control::rooms);
  for (int turn = world_->rank;; ++turn) {  // ranks begin with different rooms
    const int number = turn % rooms;
    if (world_->transport->words().compare_swap32(rank, control_->taken(rank, number), 0, 1) == 0) return number;
    if (!world_->transport->progress()) Backoff::yield();
  }
}

void Updater::serve(int source, const void* payload, size_t bytes) {
  const char* const at = static_cast<const char*>(payload);
  Head head;
  std::memcpy(&head, at, sizeof head);
  Arithmetic arithmetic;
  const Status known = Arithmetic::make(head.to, head.values, head.op, arithmetic);
  assert(known.ok());
  (void)known;
  Walk walk;
  walk.dims = head.dims, walk.block = bytes_of(arithmetic.to());
  size_t used = sizeof head;
  for (int d = 0; d < head.dims; ++d, used += sizeof(Dimension)) {
    Dimension dimension;
    std::memcpy(&dimension, at + used, sizeof dimension);
    walk.count[d] = dimension.count, walk.from[d] = dimension.stride;
  }
  alignas(16) char copy[Transport::max_message];  // aligned; the payload need not be
  const char* from = copy;
  if (head.room == 0) std::memcpy(copy, at + used, bytes - used);
  else from = world_->base + control_->room_of(world_->rank, head.room - 1);
  const auto value_bytes = static_cast<int64_t>(bytes_of(arithmetic.values()));
  const int64_t stride = head.single != 0 ? 0 : value_bytes;
  {
    Region region(*world_, *control_, world_->rank);
    for_rows(walk, head.first, head.count, [&](int64_t row_at, int64_t count, int64_t row_stride) {
      const uint64_t offset = head.offset + static_cast<uint64_t>(row_at);
      region.apply(arithmetic, world_->base + offset, offset, row_stride, from, stride, count);
      from += count * stride;
    });
  }
  const auto word = [this](uint64_t offset) {
    return std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(world_->base + offset));
  };
  if (head.room != 0) word(control_->taken(world_->rank, head.room - 1)).store(0, std::memory_order_release);
  word(control_->done(world_->rank, source)).fetch_add(1, std::memory_order_release);
}

Status Updater::await_sent(const Call& call) {
  if (!any_sent_.load(std::memory_order_acquire)) return {};
  for (int r = 0; r < world_->nranks; ++r) {
    const uint32_t sent = sent_[r].load();
    std::atomic<uint32_t>& known = done_[r];
    if (known.load() == sent) continue;
    HIROBA_TRY(world_->await_word(
        r, control_->done(r, world_->rank), [&](uint32_t done) { return static_cast<int32_t>(done - sent) >= 0; },
        [&] { return call.text(); }, [&] { return format("%s, for accumulates on rank %d", call.text().c_str(), r); }));
    known.store(sent);
  }
  return {};
}

}  // namespace hiroba
