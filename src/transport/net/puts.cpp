#include "transport/net/puts.hpp"

#include <algorithm>
#include <cstring>

namespace hiroba {

void Puts::put(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent) {
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const size_t part = std::min(bytes, bytes <= max_inline ? max_inline : Wire::max_bulk);
    Head h = head_of(part <= max_inline ? Frame::put : Frame::put_bulk);
    h.offset = to, h.expected = ledger_->number(rank);
    if (part <= max_inline) channel_->send_later(rank, h, at, part);
    else channel_->send_bulk(rank, h, at, part, sent);
    at += part, to += part, bytes -= part;
  }
}

void Puts::put_packed(int rank, std::span<const PackedWord> pieces, Completion& sent) {
  Head h = head_of(pieces.size_bytes() <= max_inline ? Frame::packed : Frame::packed_bulk);
  h.expected = ledger_->number(rank);
  if (h.frame == Frame::packed) channel_->send_later(rank, h, pieces.data(), pieces.size_bytes());
  else channel_->send_bulk(rank, h, pieces.data(), pieces.size_bytes(), sent);
}

void Puts::scatter(std::span<const PackedWord> pieces) const {
  hiroba::scatter(pieces, [this](uint64_t offset) { return window_->at(offset); });
}

// ---- at the other side; with the wire ------------------------------------------------------------------------------

void Puts::serve(int source, const Head& head, const char* payload) {
  switch (head.frame) {
    case Frame::put:
      std::memcpy(window_->at(head.offset), payload, head.bytes);
      arrived(source, head.expected);
      return head.count > 0 ? ledger_->serve_flush(source, head.count) : void();
    case Frame::packed: {
      uint64_t pieces[max_inline / sizeof(uint64_t)];
      std::memcpy(pieces, payload, head.bytes);
      scatter({pieces, head.bytes / sizeof(uint64_t)});
      return arrived(source, head.expected);
    }
    case Frame::strided: unpack(head.offset, payload); return arrived(source, head.expected);
    default: return receive(source, head);
  }
}

// Receives bulk data to its final place, or, if it is packed, to a buffer.
void Puts::receive(int source, const Head& head) {
  const auto ended = [](void* self, WireTransfer& put) { static_cast<Puts*>(self)->arrived(put.source, put.number); };
  const auto packed_ended = [](void* self, WireTransfer& put) {
    static_cast<Puts*>(self)->scatter(put.buffer);
    static_cast<Puts*>(self)->arrived(put.source, put.number);
  };
  const auto strided_ended = [](void* self, WireTransfer& put) {
    static_cast<Puts*>(self)->unpack(put.offset, reinterpret_cast<const char*>(put.buffer.data()));
    static_cast<Puts*>(self)->arrived(put.source, put.number);
  };
  const bool plain = head.frame == Frame::put_bulk, packed = head.frame == Frame::packed_bulk;
  const WireTransfer::Ended at_end = plain    ? WireTransfer::Ended{ended}
                                     : packed ? WireTransfer::Ended{packed_ended}
                                              : strided_ended;
  const uint64_t ticket = channel_->transfers().add(at_end, this);
  WireTransfer& put = channel_->transfers().of(ticket);
  put.source = source, put.number = head.expected, put.offset = head.offset;
  if (!plain) put.buffer.resize((head.bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  void* const into = plain ? static_cast<void*>(window_->at(head.offset)) : put.buffer.data();
  channel_->receive_bulk(source, head.tag, into, head.bytes, ticket);
}

void Puts::arrived(int source, uint64_t number) {
  channel_->engine().note_served();
  ledger_->arrived(source, number);
}

}  // namespace hiroba
