// Serves requests of other ranks, and receives answers. Runs under the engine's lock, in the thread that drives;
// nothing here blocks.
#include <algorithm>
#include <cstring>

#include "transport/net/net_transport.hpp"

namespace hiroba {

void Net::on_frame(void* self, int source, const void* bytes, size_t size) {
  Net& net = *static_cast<Net*>(self);
  const int rank = net.rank_of_wire_[source];
  const auto serve = [&](const Head& head, const char* payload) { net.serve(rank, head, payload, head.payload); };
  if (for_each_frame(bytes, size, net.keys_.from(rank), serve)) return net.failures_.heard(rank);
  on_stranger(self);
}

void Net::serve(int source, const Head& head, const char* payload, size_t bytes) {
  switch (head.frame) {
    case Frame::message: return messages_.serve(source, head, payload, bytes);
    case Frame::put:
    case Frame::put_bulk:
    case Frame::packed:
    case Frame::packed_bulk:
    case Frame::strided:
    case Frame::strided_bulk: return puts_.serve(source, head, payload);
    case Frame::flush: return ledger_.serve_flush(source, head.count);
    case Frame::flushed: return ledger_.serve_flushed(source, head.count);
    case Frame::get:
    case Frame::get_bulk:
    case Frame::get_strided: return gets_.serve(source, head, payload, bytes);
    case Frame::got: return Gets::serve_got(head, payload, bytes);
    case Frame::atomic: return words_.serve_atomic(source, head);
    case Frame::result: return Channel::take_answer(head, head.operand);
    case Frame::watch: return words_.serve_watch(source, head);
    case Frame::wake: return words_.serve_wake(head);  // after this poll, answer_watches() answers remote waiters
    case Frame::ask_key: return access_.serve_ask_key(source, head);
    case Frame::key: return access_.serve_key(source, head, {payload, bytes});
    case Frame::owner: return access_.serve_owner(head);
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

void Net::on_done(void* self, uint64_t ticket) { static_cast<Net*>(self)->channel_.transfers().end(ticket); }
void Net::on_stranger(void* self) { ++static_cast<Net*>(self)->strangers_; }

void Net::on_failed(void* self, const char* what) { static_cast<Net*>(self)->failures_.end_of_library(what); }

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
  bool any = net.ledger_.answer_flushes();
  any = net.messages_.serve_early() || any;
  net.gets_.serve_due();  // also right after a get was deferred: the barrier may have ended in between
  any = net.words_.answer_watches() || any;
  any = net.access_.answer_keys() || any;
  any = net.channel_.outbox().retry() || any;
  net.channel_.outbox().send();  // sends frames that handlers have batched: no thread might poll for long
  return any;
}

}  // namespace hiroba
