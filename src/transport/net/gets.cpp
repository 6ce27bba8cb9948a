#include "transport/net/gets.hpp"

#include <algorithm>
#include <cstring>

namespace hiroba {

// `epoch`: the epoch that the home must have reached.
void Gets::request_pieces(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                          const Piggyback* piggyback, uint32_t epoch) {
  const size_t piece = channel_->wire().get_piece(bytes, deferred_.is_ahead(epoch));
  for (auto* at = static_cast<char*>(to); bytes > 0;) {
    const size_t part = std::min(bytes, piece);
    Head h = head_of(part <= max_inline ? Frame::get : Frame::get_bulk);
    h.offset = from, h.bytes = static_cast<uint32_t>(part), h.epoch = epoch;
    if (piggyback == nullptr) {
      request(rank, h, at, part, completion, nullptr, 0);
    } else {
      h.handler = static_cast<uint8_t>(piggyback->handler), h.expected = piggyback->bytes;
      request(rank, h, at, part, completion, piggyback->payload, piggyback->bytes);
    }
    at += part, from += part, bytes -= part;
  }
}

// Data that exceeds a frame arrives as bulk data.
void Gets::request(int rank, Head head, void* into, size_t bytes, Completion& completion, const void* payload,
                   size_t payload_bytes) {
  const bool deferred = deferred_.is_ahead(head.epoch);  // the answer waits for the barrier
  if (bytes > max_inline)
    return channel_->request_bulk(rank, head, payload, payload_bytes, into, bytes, completion, deferred);
  completion.left.fetch_add(1, std::memory_order_relaxed);
  head.completion = reinterpret_cast<uint64_t>(&completion);
  head.address = reinterpret_cast<uint64_t>(into);
  if (deferred) channel_->send_later(rank, head, payload, payload_bytes);
  else channel_->send(rank, head, payload, payload_bytes);
}

void Gets::begin_epoch() {
  const bool asked = deferred_.pass();
  channel_->transfers().release_deferred();
  asked_ahead_.store(asked, std::memory_order_relaxed);
  if (asked) channel_->engine().with_wire([this] { serve_due(); });
}

// ---- at the home, and the answer; with the wire --------------------------------------------------------------------

void Gets::serve(int source, const Head& head, const char* payload, size_t bytes) {
  if (!deferred_.defer(source, head, payload, bytes)) answer(source, head, payload);
}

void Gets::serve_due() {
  deferred_.serve_due([this](int source, const Head& head, const char* payload) { answer(source, head, payload); });
}

void Gets::serve_got(const Head& head, const char* payload, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(head.address), payload, bytes);
  reinterpret_cast<Completion*>(head.completion)->left.fetch_sub(1, std::memory_order_release);
}

void Gets::answer(int source, const Head& head, const char* payload) {
  if (head.frame == Frame::get_strided) return answer_box(source, head, payload);
  if (head.handler != no_handler) messages_->run(head, source, payload, head.expected);
  send_data(source, head, window_->at(head.offset));
}

void Gets::send_data(int source, const Head& head, const char* data) {
  channel_->engine().note_served();
  if (head.frame != Frame::get_bulk) return send_frame(source, head, data, head.bytes);
  const uint64_t ticket = channel_->transfers().add(nullptr, nullptr);
  channel_->send_bulk_as(source, head.tag, data, head.bytes, ticket);
}

void Gets::send_frame(int source, const Head& asked, const void* data, size_t bytes) {
  Head reply = head_of(Frame::got);
  reply.completion = asked.completion;
  reply.address = asked.address;
  channel_->push(source, reply, data, bytes);
}

}  // namespace hiroba
