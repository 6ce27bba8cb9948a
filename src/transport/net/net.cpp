#include "transport/net/net.hpp"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/host.hpp"
#include "base/launchers.hpp"
#include "base/log.hpp"
#include "transport/net/daemon.hpp"
#include "transport/net/net_transport.hpp"

namespace hiroba {

namespace {
constexpr size_t most_queued = 4096;    // frames that wait for room before their senders do
constexpr uint32_t most_moving = 4096;  // bulk transfers at once; far fewer than tags
// Gets go in pieces; README.md, "Pieces".
constexpr size_t small_piece = 60 << 10, big_piece = size_t{8} << 20;

// The most that a get brings in small pieces.
size_t most_in_small_pieces(bool sent_at_once, bool ahead, bool paced) {
  if (!sent_at_once && ahead) return small_piece;
  if (!ahead && !paced) return 256 << 10;
  return size_t{sent_at_once ? 4U : 1U} << 20;
}

// Before this rank knows others, only the address is known that does not answer.
[[noreturn]] void cannot_join(const Unanswered::Found& found) {
  if (launched_number() != 0) sleep(1);  // one message is enough, if process 0 has one
  const std::string here = host_name(), peer = to_text(found.peer);
  if (found.of_daemon) {
    log_line(
        "host %s has had no answer from the launcher's host, %s, for %.3g s (option silence): it is cut off, or down",
        here.c_str(), peer.c_str(), found.seconds);
    end_daemon(find_daemon());
    _exit(1);
  }
  end_job(1,
          "process %d on host %s tries to reach %s, port %d, and has had no answer for %.3g s (option silence): a "
          "firewall drops what it sends, no route leads there, or this is not the network that connects the hosts; "
          "which networks are used can be set, by UCX_NET_DEVICES, or with Open MPI OMPI_MCA_btl_tcp_if_include",
          launched_number(), here.c_str(), peer.c_str(), found.port, found.seconds);
}
}  // namespace

Status make_net(const Options& options, Job& job, std::unique_ptr<Transport>& out) {
  auto net = std::make_unique<Net>();
  HIROBA_TRY(net->join(options, job));
  out = std::move(net);
  return {};
}

Status Net::join(const Options& options, Job& job) {
  HIROBA_TRY(Placement::parse(options.text("progress"), placement_));
  most_silence_ = placement_.kind == Placement::Kind::none ? 0 : options.number("silence");
  // Sooner than silence would be noticed, because launchers take seconds to end a job.
  if (const double limit = options.number("silence") * 3 / 4; limit > 0 && !Job::in_environment())
    HIROBA_TRY(unanswered_.start(limit, cannot_join, find_daemon().pid));
  HIROBA_TRY(join_job(options, {this, on_frame, on_done, on_failed}, joined_));
  name_ = chosen_transport(options);
  paced_ = is_paced(tcp_congestion_control());
  rank_of_wire_.resize(joined_.wire_ranks.size());
  for (size_t r = 0; r < joined_.wire_ranks.size(); ++r)
    rank_of_wire_[static_cast<size_t>(joined_.wire_ranks[r])] = static_cast<int>(r);
  job = joined_.job;
  return {};
}

std::vector<Capability> net_capabilities(WirePlugin::OneSided one_sided, bool accumulates) {
  return {{"strided put and get", true},
          {"packed put", true},
          {one_sided == WirePlugin::with_rdma ? "one-sided with RDMA" : "one-sided put and get",
           one_sided != WirePlugin::never},
          {"accumulate", accumulates},
          {"atomics", true},
          {"wait for a word", true},
          {"exchange", true}};
}

std::vector<Capability> Net::capabilities() const {
  const Wire& wire = *joined_.wire;
  return net_capabilities(wire.has_remote_memory() ? WirePlugin::always : WirePlugin::never, wire.has_accumulate());
}

Status Net::start(const Config& config) {
  start_reference(config);
  HIROBA_TRY(window_.start(config.extent));
  const size_t n = static_cast<size_t>(config.job.nranks);
  puts_ = std::make_unique<Puts[]>(n);
  dirty_.reserve(n);
  const int local_threads = config.job.ranks_on(config.job.node) * config.threads_per_rank;
  Engine::Config engine;
  engine.wire = joined_.wire.get();
  engine.placement = placement_;
  engine.spins = spins_for(local_threads);
  engine.program_uses_library = joined_.program_uses_library;
  engine.before_poll = [](void* self) {
    static_cast<Net*>(self)->keep_alive();  // not after the poll: whoever waits for what it has brought goes on sooner
    static_cast<Net*>(self)->outbox_.send();
  };
  engine.after_poll = after_poll;
  engine.moving = [](void* self) { return static_cast<const Net*>(self)->moving(); };
  engine.served = [](void* self) { return static_cast<const Net*>(self)->served_.load(std::memory_order_relaxed); };
  engine.context = this;
  remote_.start(joined_.wire.get());
  outbox_.start(joined_.wire.get(), joined_.secret, &joined_.wire_ranks);
  alive_.start(config.job, joined_.hosts, most_silence_);
  watch_hosts();
  meeting_.start(config.job, *config.board, &engine_, this);
  return engine_.start(engine);
}

// All have met before, so nothing is under way any more but signs of life; network libraries do not like to be left
// with messages that nobody has received.
void Net::stop() {
  Alive::Farewell leaving;
  engine_.with_wire([&] { leaving = alive_.leave(); });
  if (leaving.tell) send_frame(alive_.next(), head(Frame::farewell), nullptr, 0);
  if (leaving.tell || leaving.hear) {
    const auto told = [&] { return !leaving.hear || farewell_.load(std::memory_order_acquire); };
    engine_.wait([&] { return told() && outbox_.queued() == 0; }, 5);
  }
  stopped_.store(true);
  engine_.stop();
  joined_.wire->close(config().job.nnodes == 1);
  unanswered_.stop();
  window_.stop();
}

Status Net::attach(uint64_t offset, uint64_t bytes, int rank) {
  if (!here(rank)) return {};
  HIROBA_TRY(window_.attach(offset, bytes, config().job.node_fds[static_cast<size_t>(config().job.node)]));
  if (rank == config().job.rank) engine_.with_wire([&] { remote_.attach(offset, bytes, window_.at(offset)); });
  return {};
}
void Net::detach(uint64_t offset, uint64_t bytes) {
  engine_.with_wire([&] { remote_.detach(offset, bytes), standing_.forget(offset, bytes); });
  window_.detach(offset, bytes);
}
void Net::forget(uint64_t offset, uint64_t bytes) { window_.forget(offset, bytes); }

// ---- sending -------------------------------------------------------------------------------------------------------

Head Net::head(Frame frame) const {
  Head head = {};
  head.frame = frame;
  head.handler = no_handler;
  return head;
}

// With the wire.
void Net::push(int rank, const Head& head, const void* payload, size_t bytes) {
  outbox_.gather(rank, head, payload, bytes);
  outbox_.send();
}

// For what nobody misses before this rank's next fence or exchange; it goes along with the frames of that.
void Net::gather(int rank, const Head& head, const void* payload, size_t bytes) {
  engine_.with_wire([&] { outbox_.gather(rank, head, payload, bytes); });
  await_room();
}

void Net::send_gathered() {
  engine_.with_wire([this] { outbox_.send(); });
}

void Net::send_frame(int rank, const Head& head, const void* payload, size_t bytes) {
  engine_.with_wire([&] { push(rank, head, payload, bytes); });
  await_room();
}

// A thread that sends much waits for the network; one that answers others must not.
void Net::await_room() {
  if (outbox_.queued() < most_queued || engine_.inside()) return;
  engine_.wait([this] { return outbox_.queued() < most_queued / 2; });
}

void Net::await_slot() {
  engine_.wait([this] { return moving_.load(std::memory_order_relaxed) < most_moving; });
}

// Tags of transfers to us and from us differ, because each side numbers its own.
uint32_t Net::next_tag(bool to_us) { return (tag_++ * 2 + (to_us ? 0 : 1)) % (Wire::tags - StandingGet::wire_tags); }

uint64_t Net::ticket(Transfer::Kind kind, Completion* done, int source) {
  if (free_transfers_.empty()) {
    free_transfers_.push_back(static_cast<uint32_t>(transfers_.size()));
    transfers_.emplace_back();
  }
  const uint32_t t = free_transfers_.back();
  free_transfers_.pop_back();
  Transfer& transfer = transfers_[t];
  transfer.kind = kind, transfer.done = done, transfer.source = source;
  moving_.fetch_add(1, std::memory_order_relaxed);
  return t;
}

// Complete when the data may be changed again.
void Net::send_bulk(int rank, Head head, const void* data, size_t bytes, Completion& sent) {
  assert(bytes <= Wire::max_bulk);
  sent.left.fetch_add(1, std::memory_order_relaxed);
  await_slot();
  engine_.with_wire([&] {
    head.tag = next_tag(false);
    outbox_.count(bytes);
    head.bytes = static_cast<uint32_t>(bytes);
    outbox_.gather(rank, head, nullptr, 0);
    if (!moving()) outbox_.send();  // else with the next poll, which what is moving will bring about
    joined_.wire->send_bulk(joined_.wire_ranks[static_cast<size_t>(rank)], head.tag, data, bytes,
                            ticket(Transfer::completion, &sent));
  });
}

void Net::send(int rank, int handler, const void* payload, size_t bytes) {
  assert(bytes <= max_message);
  note_change(rank, 0, anything);
  Head h = head(Frame::message);
  h.handler = static_cast<uint8_t>(handler);
  send_frame(rank, h, payload, bytes);
}

// The message waits there for puts to that rank alone; that saves asking and answering.
void Net::send_after_puts(int rank, int handler, const void* payload, size_t bytes) {
  assert(bytes <= max_message);
  note_change(rank, 0, anything);
  await_remote_puts();
  Head h = head(Frame::message);
  h.handler = static_cast<uint8_t>(handler);
  h.count = puts_only_to(rank);
  if (h.count == 0) fence();
  send_frame(rank, h, payload, bytes);
}

// The number of this rank's last put to that one; 0 if others have got some, too, that nobody has fenced.
uint64_t Net::puts_only_to(int rank) {
  dirty_lock_.lock();
  const bool only = dirty_.size() == 1 && dirty_[0] == rank;
  const uint64_t sent = only ? puts_[static_cast<size_t>(rank)].sent : 0;
  dirty_lock_.unlock();
  return sent;
}

// ---- put -----------------------------------------------------------------------------------------------------------

// Numbered before it leaves, so that a fence cannot miss it.
uint64_t Net::number_put(int rank) {
  Puts& puts = puts_[static_cast<size_t>(rank)];
  dirty_lock_.lock();
  const uint64_t number = ++puts.sent;
  if (!puts.dirty) dirty_.push_back(rank);
  puts.dirty = true;
  dirty_lock_.unlock();
  return number;
}

void Net::put(int rank, uint64_t to, const void* from, size_t bytes) {
  Completion sent;
  start_put(rank, to, from, bytes, sent);
  await(sent);
}

void Net::start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent) {
  if (here(rank)) {
    std::memcpy(window_.at(to), from, bytes);
    return;
  }
  note_change(rank, to, bytes);
  if (put_remote(rank, to, from, bytes, sent)) return;
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const size_t part = std::min(bytes, bytes <= max_inline ? max_inline : Wire::max_bulk);
    Head h = head(part <= max_inline ? Frame::put : Frame::put_bulk);
    h.offset = to, h.expected = number_put(rank);
    if (part <= max_inline) gather(rank, h, at, part);
    else send_bulk(rank, h, at, part, sent);
    at += part, to += part, bytes -= part;
  }
}

void Net::put_packed(int rank, std::span<const PackedWord> pieces) {
  Completion sent;
  start_put_packed(rank, pieces, sent);
  await(sent);
}

void Net::start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& sent) {
  if (here(rank)) return scatter(pieces.data(), pieces.size());
  note_changes(rank, pieces);
  Head h = head(pieces.size_bytes() <= max_inline ? Frame::packed : Frame::packed_bulk);
  h.expected = number_put(rank);
  if (h.frame == Frame::packed) gather(rank, h, pieces.data(), pieces.size_bytes());
  else send_bulk(rank, h, pieces.data(), pieces.size_bytes(), sent);
}

void Net::forget_clean() {
  std::erase_if(dirty_, [this](int rank) {
    Puts& puts = puts_[static_cast<size_t>(rank)];
    puts.dirty = puts.flushed.load() < puts.sent;
    return !puts.dirty;
  });
}

// Asks everyone who got puts since the last fence, all at once, and waits for the answers. Puts of other threads that
// are being fenced by them just now are waited for, too.
bool Net::fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  await_remote_puts();
  struct Due {
    int rank;
    uint64_t count;
  };
  static constexpr size_t batch = 64;
  Due due[batch];
  for (bool waited = false;; waited = true) {
    size_t n = 0;
    dirty_lock_.lock();
    for (const int rank : dirty_) {
      if (n == batch) break;
      due[n++] = {rank, puts_[static_cast<size_t>(rank)].sent};
    }
    dirty_lock_.unlock();
    if (n == 0) return waited;
    engine_.with_wire([&] {
      for (size_t i = 0; i < n; ++i) outbox_.gather_flush(due[i].rank, head(Frame::flush), due[i].count);
      outbox_.send();
    });
    await_room();
    for (size_t i = 0; i < n; ++i) {
      const Puts& puts = puts_[static_cast<size_t>(due[i].rank)];
      engine_.wait([&] { return puts.flushed.load(std::memory_order_acquire) >= due[i].count; });
    }
    dirty_lock_.lock();
    forget_clean();
    dirty_lock_.unlock();
    if (n < batch) return true;
  }
}

// ---- get -----------------------------------------------------------------------------------------------------------

void Net::get_piece(char* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Note* note,
                    uint32_t epoch) {
  Head h = head(bytes <= max_inline ? Frame::get : Frame::get_bulk);
  h.offset = from;
  h.bytes = static_cast<uint32_t>(bytes);
  h.epoch = epoch;
  if (note == nullptr) return ask(rank, h, to, bytes, completion, nullptr, 0);
  h.handler = static_cast<uint8_t>(note->handler), h.expected = note->bytes;
  ask(rank, h, to, bytes, completion, note->payload, note->bytes);
}

// Sends the question of a get. What does not fit into a frame will come as bulk data, and is waited for from now on.
void Net::ask(int rank, Head head, void* into, size_t bytes, Completion& completion, const void* payload,
              size_t payload_bytes) {
  completion.left.fetch_add(1, std::memory_order_relaxed);
  head.completion = reinterpret_cast<uint64_t>(&completion);
  head.address = reinterpret_cast<uint64_t>(into);
  const bool in_frame = bytes <= max_inline;
  if (!in_frame) await_slot();
  engine_.with_wire([&] {
    const bool ahead = static_cast<int32_t>(head.epoch - epoch_.load()) > 0;
    if (!in_frame) {
      if (ahead) coming_.fetch_add(1, std::memory_order_relaxed);
      head.tag = next_tag(true);
      joined_.wire->recv_bulk(joined_.wire_ranks[static_cast<size_t>(rank)], head.tag, into, bytes,
                              ticket(Transfer::completion, &completion));
    }
    outbox_.gather(rank, head, payload, payload_bytes);
    if (!ahead) outbox_.send();  // else the answer waits for the exchange, and so may this
  });
  await_room();
}

void Net::start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Note* note) {
  if (here(rank)) Transport::start_get(to, rank, from, bytes, completion, note);
  else if (note != nullptr || !get_remote(to, rank, from, bytes, completion))
    start_pieces(static_cast<char*>(to), rank, from, bytes, completion, note, epoch_.load());
}

// `epoch`: so many exchanges must lie behind whoever answers.
void Net::start_pieces(char* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Note* note,
                       uint32_t epoch) {
  const bool ahead = epoch != epoch_.load();
  const bool small = bytes <= most_in_small_pieces(joined_.wire->sends_at_once(small_piece), ahead, paced_);
  const size_t piece = small ? small_piece : big_piece;
  while (bytes > 0) {
    const size_t part = std::min(bytes, piece);
    if (note != nullptr || !ahead || !wish(to, rank, from, part, completion))
      get_piece(to, rank, from, part, completion, note, epoch);
    to += part, from += part, bytes -= part;
    note = nullptr;
  }
}

void Net::await(Completion& completion) {
  engine_.wait([&] { return completion.left.load(std::memory_order_acquire) == 0; });
}

void Net::get(void* to, int rank, uint64_t from, size_t bytes) {
  if (here(rank)) {
    std::memcpy(to, window_.at(from), bytes);
    return;
  }
  Completion completion;
  start_get(to, rank, from, bytes, completion, nullptr);
  await(completion);
}

// ---- words ---------------------------------------------------------------------------------------------------------

uint64_t Net::perform_here(Atomic operation, uint64_t at, uint64_t operand, uint64_t expected) const {
  const uint32_t operand32 = static_cast<uint32_t>(operand);
  uint32_t expected32 = static_cast<uint32_t>(expected);
  switch (operation) {
    case Atomic::add64: return window_.word<uint64_t>(at).fetch_add(operand);
    case Atomic::add32: return window_.word<uint32_t>(at).fetch_add(operand32);
    case Atomic::swap64: window_.word<uint64_t>(at).compare_exchange_strong(expected, operand); return expected;
    case Atomic::swap32: window_.word<uint32_t>(at).compare_exchange_strong(expected32, operand32); return expected32;
  }
  return 0;
}

uint64_t Net::perform(int rank, Atomic operation, uint64_t at, uint64_t operand, uint64_t expected) {
  if (here(rank)) return perform_here(operation, at, operand, expected);
  note_change(rank, at, sizeof operand);
  Answer answer;
  Head h = head(Frame::atomic);
  h.handler = static_cast<uint8_t>(operation);
  h.offset = at;
  h.operand = operand;
  h.expected = expected;
  h.completion = reinterpret_cast<uint64_t>(&answer);
  send_frame(rank, h, nullptr, 0);
  engine_.wait([&] { return answer.here.load(std::memory_order_acquire) != 0; });
  return answer.value;
}

uint64_t Net::fetch_add64(int rank, uint64_t at, uint64_t value) { return perform(rank, Atomic::add64, at, value, 0); }
uint64_t Net::compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) {
  return perform(rank, Atomic::swap64, at, desired, expected);
}
uint32_t Net::fetch_add32(int rank, uint64_t at, uint32_t value) {
  return static_cast<uint32_t>(perform(rank, Atomic::add32, at, value, 0));
}
uint32_t Net::compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) {
  return static_cast<uint32_t>(perform(rank, Atomic::swap32, at, desired, expected));
}

uint32_t Net::await_change(int rank, uint64_t at, uint32_t old, double seconds) {
  if (here(rank)) {
    auto& futex = *reinterpret_cast<std::atomic<uint32_t>*>(window_.at(at));
    engine_.wait_word(futex, [old](uint32_t now) { return now != old; }, seconds_now() + seconds);
    return futex.load();
  }
  Answer answer;
  Head h = head(Frame::watch);
  h.offset = at;
  h.expected = old;
  h.operand = static_cast<uint64_t>(std::min(seconds, 1e3) * 1e6);
  h.completion = reinterpret_cast<uint64_t>(&answer);
  send_frame(rank, h, nullptr, 0);
  engine_.wait([&] { return answer.here.load(std::memory_order_acquire) != 0; });
  return static_cast<uint32_t>(answer.value);
}

// Waiters of this node sleep on the word itself; those elsewhere are known to the word's home only.
void Net::wake(int rank, uint64_t at) {
  if (here(rank)) futex_wake_all(*reinterpret_cast<std::atomic<uint32_t>*>(window_.at(at)));
  if (config().job.nnodes == 1) return;
  if (rank == config().job.rank) {
    engine_.drive();  // looks at what is watched
    return;
  }
  Head h = head(Frame::wake);
  h.offset = at;
  send_frame(rank, h, nullptr, 0);
}

}  // namespace hiroba
