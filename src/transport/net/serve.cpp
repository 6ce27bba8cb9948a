// What a rank does for others, and what comes back to it. Runs under the engine's lock, in whichever thread drives;
// nothing here waits.
#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "transport/net/net_transport.hpp"

namespace hiroba {

void Net::on_frame(void* self, int source, const void* bytes, size_t size) {
  Net& net = *static_cast<Net*>(self);
  const int rank = net.rank_of_wire_[static_cast<size_t>(source)];
  const auto serve = [&](const Head& head, const char* payload) { net.serve(rank, head, payload, head.payload); };
  if (for_each_frame(bytes, size, net.joined_.secret, serve)) return net.failures_.heard(rank);
  if (!net.stranger_seen_) log_line("a stranger's message was refused (%zu bytes)", size);
  net.stranger_seen_ = true;
}

void Net::serve(int source, const Head& head, const char* payload, size_t bytes) {
  switch (head.frame) {
    case Frame::message: return serve_message(source, head, payload, bytes);
    case Frame::put:
    case Frame::put_bulk:
    case Frame::packed:
    case Frame::packed_bulk:
    case Frame::strided:
    case Frame::strided_bulk: return serve_put(source, head, payload);
    case Frame::flush: return puts_.serve_flush(source, head.count);
    case Frame::flushed: return puts_.serve_flushed(source, head.count);
    case Frame::peek:
    case Frame::peek_bulk: return serve_read(source, head, reinterpret_cast<const char*>(head.offset));
    case Frame::get:
    case Frame::get_bulk:
    case Frame::get_strided:
      if (!deferred_.defer(source, head, payload, bytes)) serve_get(source, head, payload);
      return;
    case Frame::got:
      std::memcpy(reinterpret_cast<void*>(head.address), payload, bytes);
      reinterpret_cast<Completion*>(head.completion)->left.fetch_sub(1, std::memory_order_release);
      return;
    case Frame::atomic: note_served(); return words_.serve_atomic(source, head);
    case Frame::result: return Channel::take_answer(head, head.operand);
    case Frame::watch: return words_.serve_watch(source, head);
    case Frame::wake: return words_.wake_here(head.offset);  // those elsewhere are told after this poll
    case Frame::ask_key: return one_sided_.serve_ask_key(source, head);
    case Frame::key: return one_sided_.serve_key(source, head, {payload, bytes});
    case Frame::owner: return one_sided_.serve_owner(head);
    case Frame::barrier_round: return barrier_.receive(head, payload);
    case Frame::group_arrival: return group_.serve(source, head.count);
    case Frame::ask_place: return reply_place(source, head);
    case Frame::place: {
      RankBoard& board = config().board->rank(source);
      std::memcpy(board.where, payload, std::min(bytes, sizeof board.where - 1));
      board.calls.store(head.operand);
      board.waiting.store(static_cast<uint32_t>(head.expected));
      return Channel::take_answer(head, 1);
    }
    case Frame::alive: return;
    case Frame::farewell: failures_.heard_farewell(); return;
  }
}

// ---- puts ----------------------------------------------------------------------------------------------------------

void Net::serve_put(int source, const Head& head, const char* payload) {
  switch (head.frame) {
    case Frame::put:
      std::memcpy(window_.at(head.offset), payload, head.bytes);
      put_arrived(source, head.expected);
      return head.count > 0 ? puts_.serve_flush(source, head.count) : void();
    case Frame::packed: {
      uint64_t pieces[max_inline / sizeof(uint64_t)];
      std::memcpy(pieces, payload, head.bytes);
      scatter(pieces, head.bytes / sizeof(uint64_t));
      return put_arrived(source, head.expected);
    }
    case Frame::strided: unpack(head.offset, payload); return put_arrived(source, head.expected);
    default: return receive_put(source, head);
  }
}

// Its data comes as bulk data: to where it belongs, or, if it is packed, to a buffer.
void Net::receive_put(int source, const Head& head) {
  const auto ended = [](void* self, Transfer& put) { static_cast<Net*>(self)->put_arrived(put.source, put.number); };
  const auto packed_ended = [](void* self, Transfer& put) {
    static_cast<Net*>(self)->scatter(put.buffer.data(), put.buffer.size());
    static_cast<Net*>(self)->put_arrived(put.source, put.number);
  };
  const auto strided_ended = [](void* self, Transfer& put) {
    static_cast<Net*>(self)->unpack(put.offset, reinterpret_cast<const char*>(put.buffer.data()));
    static_cast<Net*>(self)->put_arrived(put.source, put.number);
  };
  const bool plain = head.frame == Frame::put_bulk, packed = head.frame == Frame::packed_bulk;
  const Transfer::Ended at_end = plain    ? Transfer::Ended{ended}
                                 : packed ? Transfer::Ended{packed_ended}
                                          : strided_ended;
  const uint64_t ticket = channel_.transfers().add(at_end, this);
  Transfer& put = channel_.transfers().of(ticket);
  put.source = source, put.number = head.expected, put.offset = head.offset;
  if (!plain) put.buffer.resize((head.bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  void* const into = plain ? static_cast<void*>(window_.at(head.offset)) : put.buffer.data();
  channel_.receive_bulk(source, head.tag, into, head.bytes, ticket);
}

void Net::scatter(const uint64_t* pieces, size_t words) {
  for_each_piece({pieces, words}, [this](uint64_t offset, const PackedWord* data, size_t bytes) {
    char* const to = window_.at(offset);
    if (bytes == 8) std::memcpy(to, data, 8);  // by far the most frequent piece: one store
    else std::memcpy(to, data, bytes);
  });
}

void Net::put_arrived(int source, uint64_t number) {
  note_served();
  puts_.arrived(source, number);
}

void Net::on_done(void* self, uint64_t ticket) { static_cast<Net*>(self)->channel_.transfers().end(ticket); }
void Net::on_failed(void* self, const char* what) { static_cast<Net*>(self)->failures_.end_of_library(what); }

// ---- messages ------------------------------------------------------------------------------------------------------

void Net::serve_message(int source, const Head& head, const char* payload, size_t bytes) {
  note_served();
  if (puts_.arrived_up_to(source) < head.count)
    early_.push_back({source, head, std::vector<char>(payload, payload + bytes)});
  else deliver(static_cast<int>(head.handler), source, payload, bytes);
}

bool Net::serve_early() {
  std::vector<Early> early;
  std::swap(early, early_);
  for (const Early& e : early) serve_message(e.source, e.head, e.payload.data(), e.payload.size());
  return early_.size() < early.size();
}

// ---- gets and words ------------------------------------------------------------------------------------------------

void Net::serve_deferred() {
  deferred_.serve_due([this](int source, const Head& head, const char* payload) { serve_get(source, head, payload); });
}

void Net::serve_get(int source, const Head& head, const char* payload) {
  if (head.frame == Frame::get_strided) return note_served(), serve_get_strided(source, head, payload);
  if (head.handler != no_handler) deliver(static_cast<int>(head.handler), source, payload, head.expected);
  serve_read(source, head, window_.at(head.offset));
}

void Net::serve_read(int source, const Head& head, const char* data) {
  note_served();
  if (head.frame != Frame::get_bulk && head.frame != Frame::peek_bulk)
    return answer_get(source, head, data, head.bytes);
  const uint64_t ticket = channel_.transfers().add(nullptr, nullptr);
  channel_.send_bulk_as(source, head.tag, data, head.bytes, ticket);
}

void Net::answer_get(int source, const Head& asked, const void* data, size_t bytes) {
  Head reply = head_of(Frame::got);
  reply.completion = asked.completion;
  reply.address = asked.address;
  channel_.push(source, reply, data, bytes);
}

void Net::reply_place(int source, const Head& head) {
  const RankBoard& self = config().board->rank(config().job.rank);
  Head reply = head_of(Frame::place);
  reply.completion = head.completion;
  reply.operand = self.calls.load();
  reply.expected = self.waiting.load();
  channel_.push(source, reply, self.where, sizeof self.where);
}

// ---- after each poll -----------------------------------------------------------------------------------------------

bool Net::after_poll(void* self) {
  Net& net = *static_cast<Net*>(self);
  bool any = net.puts_.answer_flushes();
  any = (!net.early_.empty() && net.serve_early()) || any;
  net.serve_deferred();  // also right after a get was deferred: the barrier may have ended while it was
  any = net.words_.answer_watches() || any;
  any = net.one_sided_.answer_keys() || any;
  any = net.channel_.outbox().retry() || any;
  net.channel_.outbox().send();  // what handlers have gathered: nobody might poll for long
  return any;
}

}  // namespace hiroba
