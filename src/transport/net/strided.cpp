// Strided boxes over a wire: one side packs, the other unpacks, so that each part is one message. The payload begins
// with the box itself; both sides are compiled from the same sources.
#include "transport/strided.hpp"

#include <algorithm>
#include <cstring>

#include "transport/net/net_transport.hpp"

namespace hiroba {

namespace {
constexpr size_t part_bytes = size_t{1} << 20;  // packed at once
}

void Net::put_strided(int rank, uint64_t to, const void* from, const Strided& box) {
  const char* const source = static_cast<const char*>(from);
  if (here(rank)) return copy_box(window_.at(to), box.remote_stride, source, box.local_stride, box);
  if (one_sided_.put(rank, to, from, box)) return;
  if (box.block_bytes >= part_bytes) return Transport::put_strided(rank, to, from, box);
  puts_.put_box(rank, to, source, box);
}

void Net::get_strided(void* to, int rank, uint64_t from, const Strided& box) {
  char* const target = static_cast<char*>(to);
  if (here(rank)) return copy_box(target, box.local_stride, window_.at(from), box.remote_stride, box);
  if (one_sided_.get(to, rank, from, box)) return;
  if (box.block_bytes >= part_bytes) return Transport::get_strided(to, rank, from, box);
  gets_.get_box(target, rank, from, box);
}

// Uses two buffers in turn: one is packed while the other is sent.
void Puts::put_box(int rank, uint64_t to, const char* from, const Strided& box) {
  struct Outgoing {
    std::vector<char> bytes;
    Completion sent;
  } buffers[2];
  size_t turn = 0;
  for_each_part(box, part_bytes, [&](const Strided& part, ptrdiff_t local, ptrdiff_t remote) {
    Outgoing& outgoing = buffers[turn++ % 2];
    channel_->await(outgoing.sent);
    const size_t bytes = bytes_of(part);
    outgoing.bytes.resize(sizeof part + bytes);
    std::memcpy(outgoing.bytes.data(), &part, sizeof part);
    copy_box(outgoing.bytes.data() + sizeof part, dense(part).data(), from + local, part.local_stride, part);
    const bool in_frame = sizeof part + bytes <= max_inline;
    Head h = head_of(in_frame ? Frame::strided : Frame::strided_bulk);
    h.offset = to + static_cast<uint64_t>(remote), h.expected = ledger_->number(rank);
    if (in_frame) channel_->send_later(rank, h, outgoing.bytes.data(), outgoing.bytes.size());
    else channel_->send_bulk(rank, h, outgoing.bytes.data(), outgoing.bytes.size(), outgoing.sent);
  });
  for (Outgoing& outgoing : buffers) channel_->await(outgoing.sent);
}

// Requests several parts before the first has arrived.
void Gets::get_box(char* to, int rank, uint64_t from, const Strided& box) {
  struct Incoming {
    std::vector<char> bytes;
    Completion came;
    Strided part;
    ptrdiff_t local = 0;
  } buffers[4];
  const auto finish = [&](Incoming& incoming) {
    channel_->await(incoming.came);
    if (incoming.bytes.empty()) return;
    copy_box(to + incoming.local, incoming.part.local_stride, incoming.bytes.data(), dense(incoming.part).data(),
             incoming.part);
    incoming.bytes.clear();
  };
  size_t turn = 0;
  for_each_part(box, part_bytes, [&](const Strided& part, ptrdiff_t local, ptrdiff_t remote) {
    Incoming& incoming = buffers[turn++ % std::size(buffers)];
    finish(incoming);
    incoming.part = part, incoming.local = local;
    incoming.bytes.resize(bytes_of(part));
    Head h = head_of(Frame::get_strided);
    h.offset = from + static_cast<uint64_t>(remote);
    h.epoch = deferred_.epoch();
    request(rank, h, incoming.bytes.data(), incoming.bytes.size(), incoming.came, &part, sizeof part);
  });
  for (size_t i = 0; i < std::size(buffers); ++i) finish(buffers[(turn + i) % std::size(buffers)]);
}

// ---- at the other side; with the wire ------------------------------------------------------------------------------

void Puts::unpack(uint64_t to, const char* packed) const {
  Strided part;
  std::memcpy(&part, packed, sizeof part);
  copy_box(window_->at(to), part.remote_stride, packed + sizeof part, dense(part).data(), part);
}

void Gets::answer_box(int source, const Head& head, const char* payload) {
  channel_->engine().note_served();
  Strided part;
  std::memcpy(&part, payload, sizeof part);
  const size_t bytes = bytes_of(part);
  if (bytes <= max_inline) {
    char packed[max_inline];
    copy_box(packed, dense(part).data(), window_->at(head.offset), part.remote_stride, part);
    return send_frame(source, head, packed, bytes);
  }
  const uint64_t ticket = channel_->transfers().add(nullptr, nullptr);
  std::vector<uint64_t>& packed = channel_->transfers().of(ticket).buffer;
  packed.resize((bytes + sizeof packed[0] - 1) / sizeof packed[0]);
  copy_box(reinterpret_cast<char*>(packed.data()), dense(part).data(), window_->at(head.offset), part.remote_stride,
           part);
  channel_->send_bulk_as(source, head.tag, packed.data(), bytes, ticket);
}

}  // namespace hiroba
