// Strided moves over a wire: packed on one side, unpacked on the other, so that each part is one message. It begins
// with the box at the side that is not the caller's (RemoteBox); both sides come from the same sources.
#include <algorithm>
#include <cstring>

#include "transport/net/net_transport.hpp"

namespace hiroba {

namespace {

constexpr size_t part_bytes = size_t{1} << 20;  // packed at once

RemoteBox box_in(const char* payload, char* address) {
  RemoteBox box;
  std::memcpy(&box, payload, sizeof box);
  box.address = address;
  return box;
}

}  // namespace

void Net::put_strided(int rank, uint64_t to, const void* from, const Walk& walk) {
  const char* const source = static_cast<const char*>(from);
  if (here(rank)) return copy(window_.at(to), source, walk);
  if (access_.put(rank, to, from, walk)) return;
  if (walk.block >= part_bytes) return OneSided::put_strided(rank, to, from, walk);
  puts_.put_box(rank, to, source, walk);
}

void Net::get_strided(void* to, int rank, uint64_t from, const Walk& walk) {
  char* const target = static_cast<char*>(to);
  if (here(rank)) return copy(target, window_.at(from), walk);
  if (access_.get(to, rank, from, walk)) return;
  if (walk.block >= part_bytes) return OneSided::get_strided(to, rank, from, walk);
  gets_.get_box(target, rank, from, walk);
}

// Two buffers take turns: one is packed while the other is sent.
void Puts::put_box(int rank, uint64_t to, const char* from, const Walk& walk) {
  struct Outgoing {
    std::vector<char> bytes;
    Completion sent;
  } buffers[2];
  size_t turn = 0;
  walk.for_each_part(part_bytes, RemoteBox::most_dims, [&](const Walk& part, int64_t at_to, int64_t at_from) {
    Outgoing& outgoing = buffers[turn++ % 2];
    channel_->await(outgoing.sent);
    const auto box = part.side<RemoteBox::most_dims>(part.to);
    outgoing.bytes.resize(sizeof box + part.total());
    std::memcpy(outgoing.bytes.data(), &box, sizeof box);
    pack(outgoing.bytes.data() + sizeof box, part.side<RemoteBox::most_dims>(part.from, from + at_from));
    const bool in_frame = outgoing.bytes.size() <= max_inline;
    Head h = head_of(in_frame ? Frame::strided : Frame::strided_bulk);
    h.offset = to + static_cast<uint64_t>(at_to), h.expected = ledger_->number(rank);
    if (in_frame) channel_->send_later(rank, h, outgoing.bytes.data(), outgoing.bytes.size());
    else channel_->send_bulk(rank, h, outgoing.bytes.data(), outgoing.bytes.size(), outgoing.sent);
  });
  for (Outgoing& outgoing : buffers) channel_->await(outgoing.sent);
}

// Many parts are requested before the first has arrived.
void Gets::get_box(char* to, int rank, uint64_t from, const Walk& walk) {
  struct Incoming {
    std::vector<char> bytes;
    Completion came;
    SectionOf<RemoteBox::most_dims> near;
  } buffers[4];
  const auto finish = [&](Incoming& incoming) {
    channel_->await(incoming.came);
    if (incoming.bytes.empty()) return;
    unpack(incoming.near, incoming.bytes.data());
    incoming.bytes.clear();
  };
  size_t turn = 0;
  walk.for_each_part(part_bytes, RemoteBox::most_dims, [&](const Walk& part, int64_t at_to, int64_t at_from) {
    Incoming& incoming = buffers[turn++ % std::size(buffers)];
    finish(incoming);
    incoming.near = part.side<RemoteBox::most_dims>(part.to, to + at_to);
    incoming.bytes.resize(part.total());
    const auto box = part.side<RemoteBox::most_dims>(part.from);
    Head h = head_of(Frame::get_strided);
    h.offset = from + static_cast<uint64_t>(at_from);
    h.epoch = deferred_.epoch();
    request(rank, h, incoming.bytes.data(), incoming.bytes.size(), incoming.came, &box, sizeof box);
  });
  for (size_t i = 0; i < std::size(buffers); ++i) finish(buffers[(turn + i) % std::size(buffers)]);
}

// ---- at the other side; with the wire ------------------------------------------------------------------------------

void Puts::unpack(uint64_t to, const char* packed) const {
  hiroba::unpack(box_in(packed, window_->at(to)), packed + sizeof(RemoteBox));
}

void Gets::answer_box(int source, const Head& head, const char* payload) {
  channel_->engine().note_served();
  const RemoteBox box = box_in(payload, window_->at(head.offset));
  const size_t bytes = box.total();
  if (bytes <= max_inline) {
    char packed[max_inline];
    pack(packed, box);
    return send_frame(source, head, packed, bytes);
  }
  const uint64_t ticket = channel_->transfers().add(nullptr, nullptr);
  std::vector<uint64_t>& packed = channel_->transfers().of(ticket).buffer;
  packed.resize((bytes + sizeof packed[0] - 1) / sizeof packed[0]);
  pack(reinterpret_cast<char*>(packed.data()), box);
  channel_->send_bulk_as(source, head.tag, packed.data(), bytes, ticket);
}

}  // namespace hiroba
