// What a rank does for others, and what comes back to it. Runs under the engine's lock, in whichever thread drives;
// nothing here waits.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "transport/net/daemon.hpp"
#include "transport/net/net_transport.hpp"

namespace hiroba {

void Net::on_frame(void* self, int source, const void* bytes, size_t size) {
  Net& net = *static_cast<Net*>(self);
  const char* const message = static_cast<const char*>(bytes);
  const int rank = net.rank_of_wire_[static_cast<size_t>(source)];
  Head head;
  for (size_t at = 0; at < size; at += sizeof head + head.payload) {
    const bool whole = size - at >= sizeof head;
    if (whole) std::memcpy(&head, message + at, sizeof head);
    if (!whole || head.secret != net.joined_.secret || head.payload > size - at - sizeof head) {
      if (!net.stranger_seen_) log_line("a stranger's message was refused (%zu bytes)", size);
      net.stranger_seen_ = true;
      return;
    }
    if (at == 0) net.alive_.heard(rank);
    net.serve(rank, head, message + at + sizeof head, head.payload);
  }
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
    case Frame::flush: return serve_flush(source, head.count);
    case Frame::flushed: {
      std::atomic<uint64_t>& flushed = puts_[static_cast<size_t>(source)].flushed;
      if (flushed.load() < head.count) flushed.store(head.count, std::memory_order_release);
      return;
    }
    case Frame::get:
    case Frame::get_bulk:
    case Frame::get_strided:
      if (!defer(source, head, payload, bytes)) serve_get(source, head, payload);
      return;
    case Frame::got:
      std::memcpy(reinterpret_cast<void*>(head.address), payload, bytes);
      reinterpret_cast<Completion*>(head.completion)->left.fetch_sub(1, std::memory_order_release);
      return;
    case Frame::stand: return serve_stand(source, head, payload);
    case Frame::atomic: return serve_atomic(source, head);
    case Frame::result: return finish(head, head.operand);
    case Frame::ask_key: askers_.push_back({source, head.completion, head.offset}); return;
    case Frame::key:
      remote_.learn(joined_.wire_ranks[static_cast<size_t>(source)], {payload, bytes});
      return finish(head, 1);
    case Frame::watch:
      watches_.push_back({source, head.completion, head.offset, static_cast<uint32_t>(head.expected),
                          seconds_now() + 1e-6 * static_cast<double>(head.operand)});
      return;
    case Frame::wake:  // for sleepers of this node; after_poll looks at what ranks elsewhere watch
      futex_wake_all(*reinterpret_cast<std::atomic<uint32_t>*>(window_.at(head.offset)));
      return;
    case Frame::meet: return meeting_.receive(head, payload);
    case Frame::met: {
      Puts& puts = puts_[static_cast<size_t>(source)];
      if (puts.counted.load() < head.count) puts.counted.store(head.count);
      puts.come.fetch_add(1, std::memory_order_release);
      return;
    }
    case Frame::ask_place: return reply_place(source, head);
    case Frame::place: {
      RankBoard& board = config().board->rank(source);
      std::memcpy(board.where, payload, std::min(bytes, sizeof board.where - 1));
      board.calls.store(head.operand);
      board.waiting.store(static_cast<uint32_t>(head.expected));
      return finish(head, 1);
    }
    case Frame::owner:  // may overtake each other
      if (head.expected == 1) moving_.fetch_add(1, std::memory_order_relaxed);
      if (head.expected == 0) moving_.fetch_sub(1, std::memory_order_relaxed);
      return;
    case Frame::alive: return;
    case Frame::farewell: farewell_.store(true, std::memory_order_release); return;
  }
}

void Net::finish(const Head& head, uint64_t value) {
  auto& answer = *reinterpret_cast<Answer*>(head.completion);
  answer.value = value;
  answer.here.store(1, std::memory_order_release);
}

// ---- puts ----------------------------------------------------------------------------------------------------------

void Net::serve_put(int source, const Head& head, const char* payload) {
  const int wire_rank = joined_.wire_ranks[static_cast<size_t>(source)];
  switch (head.frame) {
    case Frame::put:
      std::memcpy(window_.at(head.offset), payload, head.bytes);
      put_arrived(source, head.expected);
      return head.count > 0 ? serve_flush(source, head.count) : void();
    case Frame::put_bulk: {
      const uint64_t t = ticket(Transfer::put_arrived, nullptr, source);
      transfers_[t].number = head.expected;
      return joined_.wire->recv_bulk(wire_rank, head.tag, window_.at(head.offset), head.bytes, t);
    }
    case Frame::packed: {
      uint64_t pieces[max_inline / sizeof(uint64_t)];
      std::memcpy(pieces, payload, head.bytes);
      scatter(pieces, head.bytes / sizeof(uint64_t));
      return put_arrived(source, head.expected);
    }
    case Frame::strided: unpack(head.offset, payload); return put_arrived(source, head.expected);
    default: {
      const bool packed = head.frame == Frame::packed_bulk;
      const uint64_t t = ticket(packed ? Transfer::packed_arrived : Transfer::strided_arrived, nullptr, source);
      transfers_[t].offset = head.offset, transfers_[t].number = head.expected;
      transfers_[t].buffer.resize((head.bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
      return joined_.wire->recv_bulk(wire_rank, head.tag, transfers_[t].buffer.data(), head.bytes, t);
    }
  }
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
  puts_[static_cast<size_t>(source)].arrived.add(number);
}

void Net::on_done(void* self, uint64_t reported) {
  Net& net = *static_cast<Net*>(self);
  const uint64_t t = reported & ~Wire::empty;
  Transfer& transfer = net.transfers_[t];
  Wish* wish = nullptr;
  switch (transfer.kind) {
    case Transfer::nothing: break;
    case Transfer::completion: transfer.done->left.fetch_sub(1, std::memory_order_release); break;
    case Transfer::remote_put:
      net.remote_puts_.fetch_sub(1, std::memory_order_release);
      transfer.done->left.fetch_sub(1, std::memory_order_release);
      break;
    case Transfer::unasked: wish = &net.standing_.wishes()[transfer.offset]; break;
    case Transfer::put_arrived: net.put_arrived(transfer.source, transfer.number); break;
    case Transfer::packed_arrived:
      net.scatter(transfer.buffer.data(), transfer.buffer.size());
      net.put_arrived(transfer.source, transfer.number);
      break;
    case Transfer::strided_arrived:
      net.unpack(transfer.offset, reinterpret_cast<const char*>(transfer.buffer.data()));
      net.put_arrived(transfer.source, transfer.number);
      break;
  }
  transfer.kind = Transfer::nothing;
  net.free_transfers_.push_back(static_cast<uint32_t>(t));
  net.moving_.fetch_sub(1, std::memory_order_relaxed);
  if (wish != nullptr) net.take_unasked(*wish, t != reported);  // may start another transfer
}

void Net::serve_flush(int source, uint64_t count) {
  if (!answer_flush({source, count})) flushes_.push_back({source, count});
}

bool Net::answer_flush(const Flush& flush) {
  if (puts_[static_cast<size_t>(flush.source)].arrived.all_up_to() < flush.count) return false;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Head h = head(Frame::flushed);
  h.count = flush.count;
  push(flush.source, h, nullptr, 0);
  return true;
}

bool Net::answer_flushes() {
  return std::erase_if(flushes_, [this](const Flush& flush) { return answer_flush(flush); }) > 0;
}

// ---- messages ------------------------------------------------------------------------------------------------------

void Net::serve_message(int source, const Head& head, const char* payload, size_t bytes) {
  note_served();
  if (puts_[static_cast<size_t>(source)].arrived.all_up_to() < head.count)
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
  const auto early = [this](const Deferred& d) { return too_early(d.head); };
  if (std::all_of(deferred_.begin(), deferred_.end(), early)) return;
  std::vector<Deferred> due;
  std::swap(due, deferred_);
  for (const Deferred& d : due)
    if (!defer(d.source, d.head, d.payload, sizeof d.payload)) serve_get(d.source, d.head, d.payload);
  deferred_count_.store(deferred_.size());
}

// A get that asks for what is here after an exchange that this rank is still in, or has not come to, waits for it.
bool Net::defer(int source, const Head& head, const char* payload, size_t bytes) {
  if (!too_early(head)) return false;
  Deferred& d = deferred_.emplace_back(Deferred{source, head, {}});
  std::memcpy(d.payload, payload, std::min(bytes, sizeof d.payload));
  deferred_count_.store(deferred_.size());
  return true;
}

void Net::serve_get(int source, const Head& head, const char* payload) {
  note_served();
  if (head.frame == Frame::get_strided) return serve_get_strided(source, head, payload);
  if (head.handler != no_handler) deliver(static_cast<int>(head.handler), source, payload, head.expected);
  if (head.frame == Frame::get_bulk) {
    outbox_.count(head.bytes);
    joined_.wire->send_bulk(joined_.wire_ranks[static_cast<size_t>(source)], head.tag, window_.at(head.offset),
                            head.bytes, ticket(Transfer::nothing));
    return;
  }
  answer_get(source, head, window_.at(head.offset), head.bytes);
}

void Net::answer_get(int source, const Head& asked, const void* data, size_t bytes) {
  Head reply = head(Frame::got);
  reply.completion = asked.completion;
  reply.address = asked.address;
  push(source, reply, data, bytes);
}

void Net::serve_atomic(int source, const Head& head) {
  note_served();
  Head reply = this->head(Frame::result);
  reply.completion = head.completion;
  reply.operand = perform_here(static_cast<Atomic>(head.handler), head.offset, head.operand, head.expected);
  push(source, reply, nullptr, 0);
}

bool Net::answer_watches() {
  if (watches_.empty()) return false;
  const double now = seconds_now();
  return std::erase_if(watches_, [&](const Watch& watch) {
           const uint32_t word = window_.word<uint32_t>(watch.offset).load();
           if (word == watch.old && now < watch.deadline) return false;
           Head h = head(Frame::result);
           h.completion = watch.completion;
           h.operand = word;
           push(watch.source, h, nullptr, 0);
           return true;
         }) > 0;
}

void Net::reply_place(int source, const Head& head) {
  const RankBoard& self = config().board->rank(config().job.rank);
  Head reply = this->head(Frame::place);
  reply.completion = head.completion;
  reply.operand = self.calls.load();
  reply.expected = self.waiting.load();
  push(source, reply, self.where, sizeof self.where);
}

// ---- after each poll -----------------------------------------------------------------------------------------------

bool Net::after_poll(void* self) {
  Net& net = *static_cast<Net*>(self);
  bool any = !net.flushes_.empty() && net.answer_flushes();
  if (!net.early_.empty()) any = net.serve_early() || any;
  // Also right after a get was deferred: the exchange may have ended while it was.
  if (!net.deferred_.empty()) net.serve_deferred();
  any = net.answer_watches() || any;
  any = net.answer_keys() || any;
  any = net.outbox_.retry() || any;
  net.outbox_.send();  // what handlers have gathered: nobody might poll for long
  return any;
}

void Net::keep_alive() {
  switch (alive_.tick()) {
    case Alive::Due::nothing: return;
    case Alive::Due::tell_next: return push(alive_.next(), head(Frame::alive), nullptr, 0);
    case Alive::Due::previous_is_lost: break;
  }
  const int rank = alive_.previous(), node = config().job.node_of(rank);
  lose(
      format("nothing has been heard of node %d (rank %d, host %s) for %.3g s (option silence): the host is down, the "
             "network to it is cut, or its ranks are stopped; this is host %s",
             node, rank, joined_.hosts[static_cast<size_t>(node)].c_str(), most_silence_,
             joined_.hosts[static_cast<size_t>(config().job.node)].c_str()));
}

// Hosts that this one does not watch in the ring may be out of its reach, too.
void Net::watch_hosts() {
  if (most_silence_ == 0) return unanswered_.stop();
  const auto host = [this](int node) -> const std::string& { return joined_.hosts[static_cast<size_t>(node)]; };
  const std::string& here = host(config().job.node);
  std::vector<in6_addr> others;
  for (const Joined::Address& known : joined_.addresses)
    if (host(known.node) != here) others.push_back(known.address);
  unanswered_.know(std::move(others), [this, host, here](const Unanswered::Found& found) {
    for (const Joined::Address& known : joined_.addresses)
      if (host(known.node) != here && IN6_ARE_ADDR_EQUAL(&known.address, &found.peer)) {
        lose(
            format("node %d (host %s, %s) has not answered host %s for %.3g s (option silence): it is down, or the "
                   "network between the two is cut",
                   known.node, host(known.node).c_str(), to_text(found.peer).c_str(), here.c_str(), found.seconds));
      }
  });
}

void Net::lose(const std::string& why) {
  if (losing_.exchange(true)) ::sleep(60);  // another thread is at it, and ends this process when it is through
  const bool first = first_to_report(1);
  if (first) log_line("%s", why.c_str());
  tell_launcher(1);
  if (first) end_host();
  _exit(1);
}

// The launcher may be on the other side of the cut and unable to end what is on this host: this rank does it, and ends
// the daemon that has started the ranks here.
void Net::end_host() const {
  const Job& job = config().job;
  const Daemon daemon = find_daemon();
  usleep(500000);  // the launcher, if it is on our side, ends us in its own way
  for (int r = job.first_rank_of(job.node); r < job.first_rank_of(job.node + 1); ++r)
    if (r != job.rank && config().board->rank(r).pid > 0) kill(config().board->rank(r).pid, SIGKILL);
  end_daemon(daemon);
}

void Net::on_failed(void* self, const char* what) {
  if (static_cast<Net*>(self)->stopped_.load()) return;
  usleep(2000000);  // if another rank's end is the cause, the launcher ends us before this
  if (static_cast<Net*>(self)->losing_.load()) ::sleep(60);
  end_job(1, "%s", what);
}

}  // namespace hiroba
