#include "transport/net/sends.hpp"

#include <algorithm>
#include <cassert>

namespace hiroba {

void Sends::send(int rank, int handler, std::span<const char> head, std::span<const char> data) {
  assert(head.size() + data.size() <= eager_limit());
  Head h = head_of(Frame::message);
  h.handler = static_cast<uint8_t>(handler);
  channel_->send(rank, h, head, data);
}

namespace {

// Calls visit(tag, first byte, bytes) for the pieces of a transfer, which have consecutive tags.
template <typename Visit>
void for_each_piece(uint32_t number, size_t bytes, const Visit& visit) {
  for (size_t at = 0; at < bytes; at += Wire::max_bulk, number = Channel::tag_after(number))
    visit(number, at, std::min(bytes - at, Wire::max_bulk));
}

}  // namespace

std::optional<uint32_t> Sends::start_send(int rank, const void* from, size_t bytes, Completion& sent) {
  std::optional<uint32_t> number;
  channel_->engine().with_wire([&] {
    if (channel_->transfers().full()) return;
    number = channel_->next_tag(false);
    for_each_piece(*number, bytes, [&](uint32_t tag, size_t at, size_t part) {
      if (at > 0) channel_->next_tag(false);
      sent.left.fetch_add(1, std::memory_order_relaxed);
      channel_->send_bulk_as(rank, tag, static_cast<const char*>(from) + at, part, channel_->transfers().add(sent));
    });
  });
  return number;
}

void Sends::start_receive(int rank, uint32_t number, void* to, size_t bytes, Completion& received) {
  channel_->engine().with_wire([&] {
    for_each_piece(number, bytes, [&](uint32_t tag, size_t at, size_t part) {
      received.left.fetch_add(1, std::memory_order_relaxed);
      channel_->receive_bulk(rank, tag, static_cast<char*>(to) + at, part, channel_->transfers().add(received));
    });
  });
}

}  // namespace hiroba
