#include "transport/wire/outbox.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace hiroba {

void Outbox::gather(int rank, Head head, const void* payload, size_t bytes) {
  assert(bytes <= max_inline);
  head.key = keys_->to(rank);
  head.payload = static_cast<uint16_t>(bytes);
  if (head.bytes == 0) head.bytes = static_cast<uint32_t>(bytes);
  const size_t size = sizeof head + bytes;
  Message* message = gathered_.begin();
  if (gathering_ > 0) {
    const auto find = [this](const auto& which) { return std::find_if(gathered_.begin(), gathered_.end(), which); };
    message = find([rank](const Message& m) { return m.size > 0 && m.rank == rank; });
    if (message == gathered_.end()) message = find([](const Message& m) { return m.size == 0; });
    if (message == gathered_.end()) message = gathered_.begin();
  }
  if (message->size > 0 && (message->rank != rank || message->size + size > sizeof message->bytes)) dispatch(*message);
  if (message->size == 0) ++gathering_;
  message->rank = rank;
  message->last = message->size;
  std::memcpy(message->bytes + message->size, &head, sizeof head);
  if (bytes > 0) std::memcpy(message->bytes + message->size + sizeof head, payload, bytes);
  message->size += size;
}

void Outbox::gather_flush(int rank, Head head, uint64_t count) {
  head.count = count;
  const auto asks = [&](Message& message) {
    if (message.size == 0 || message.rank != rank) return false;
    Head last;
    std::memcpy(&last, message.bytes + message.last, sizeof last);
    if (last.frame != Frame::put) return false;
    last.count = count;
    std::memcpy(message.bytes + message.last, &last, sizeof last);
    return true;
  };
  if (gathering_ == 0 || std::none_of(gathered_.begin(), gathered_.end(), asks)) gather(rank, head, nullptr, 0);
}

void Outbox::send_all() {
  for (Message* message = gathered_.begin(); gathering_ > 0; ++message)
    if (message->size > 0) dispatch(*message);
}

void Outbox::send_alone(int rank, Head head, std::span<const char> payload, std::span<const char> rest) {
  head.key = keys_->to(rank);
  head.payload = static_cast<uint16_t>(payload.size() + rest.size());
  head.bytes = head.payload;
  const size_t size = sizeof head + head.payload;
  assert(size <= wire_->largest_frame);
  if (alone_.empty()) alone_.resize(wire_->largest_frame);
  std::memcpy(alone_.data(), &head, sizeof head);
  std::copy(payload.begin(), payload.end(), alone_.data() + sizeof head);
  std::copy(rest.begin(), rest.end(), alone_.data() + sizeof head + payload.size());
  dispatch(rank, alone_.data(), size);
}

void Outbox::dispatch(Message& message) {
  dispatch(message.rank, message.bytes, message.size);
  message.size = 0;
  --gathering_;
}

void Outbox::dispatch(int rank, const char* bytes, size_t size) {
  count(size);
  if (queue_.empty() && wire_->send((*wire_ranks_)[rank], bytes, size)) return;
  queue_.push_back({rank, std::vector<char>(bytes, bytes + size)});
  queued_.store(queue_.size(), std::memory_order_relaxed);
}

bool Outbox::retry() {
  bool any = false;
  while (!queue_.empty()) {
    const Queued& first = queue_.front();
    if (!wire_->send((*wire_ranks_)[first.rank], first.bytes.data(), first.bytes.size())) break;
    queue_.pop_front();
    any = true;
  }
  queued_.store(queue_.size(), std::memory_order_relaxed);
  return any;
}

}  // namespace hiroba
