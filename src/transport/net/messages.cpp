#include "transport/net/messages.hpp"

#include <cassert>
#include <utility>

namespace hiroba {

void Messages::send(int rank, int handler, const void* payload, size_t bytes, uint64_t after) {
  assert(bytes <= Transport::max_message);
  Head h = head_of(Frame::message);
  h.handler = static_cast<uint8_t>(handler);
  h.count = after;
  channel_->send(rank, h, payload, bytes);
}

void Messages::serve(int source, const Head& head, const char* payload, size_t bytes) {
  channel_->engine().note_served();
  if (ledger_->arrived_up_to(source) < head.count)
    early_.push_back({source, head, std::vector<char>(payload, payload + bytes)});
  else run(head, source, payload, bytes);
}

bool Messages::serve_early() {
  if (early_.empty()) return false;
  std::vector<Early> early;
  std::swap(early, early_);
  for (const Early& e : early) serve(e.source, e.head, e.payload.data(), e.payload.size());
  return early_.size() < early.size();
}

}  // namespace hiroba
