#include "transport/net/net.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "transport/net/net_transport.hpp"

namespace hiroba {

Status make_net(const Options& options, Job& job, std::unique_ptr<Transport>& out) {
  auto net = std::make_unique<Net>();
  HIROBA_TRY(net->join(options, job));
  out = std::move(net);
  return {};
}

Status Net::join(const Options& options, Job& job) {
  HIROBA_TRY(Placement::parse(options.text("progress"), placement_));
  HIROBA_TRY(failures_.watch_joining(options, placement_.kind != Placement::Kind::none));
  HIROBA_TRY(join_job(options, {this, on_frame, on_done, on_failed}, joined_));
  name_ = chosen_transport(options);
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
          {"barrier with words", true}};
}

std::vector<Capability> Net::capabilities() const {
  const Wire& wire = *joined_.wire;
  return net_capabilities(wire.has_remote_memory() ? WirePlugin::always : WirePlugin::never, wire.has_accumulate());
}

Status Net::start(const Config& config) {
  start_reference(config);
  HIROBA_TRY(window_.start(config.extent));
  const Job& job = config.job;
  channel_.start(joined_.wire.get(), joined_.secret, &joined_.wire_ranks);
  puts_.start(job.nranks, &channel_);
  words_.start(&channel_, &window_);
  one_sided_.start(job.rank, &channel_);
  failures_.start(&joined_, config.board, &channel_);
  barrier_.start(job, *config.board, &channel_);
  group_.start(job.nranks, &channel_, &puts_);
  Engine::Config engine;
  engine.wire = joined_.wire.get();
  engine.placement = placement_;
  engine.spins = spins_for(job.ranks_on(job.node) * config.threads_per_rank);
  engine.program_uses_library = joined_.program_uses_library;
  engine.before_poll = [](void* self) {
    static_cast<Net*>(self)->failures_.tick();
    static_cast<Net*>(self)->channel_.outbox().send();
  };
  engine.after_poll = after_poll;
  engine.moving = [](void* self) { return static_cast<Net*>(self)->channel_.transfers().moving(); };
  engine.served = [](void* self) { return static_cast<const Net*>(self)->served_.load(std::memory_order_relaxed); };
  engine.meantime = [](void* self) { return static_cast<const Net*>(self)->config().advance(); };
  engine.context = this;
  return channel_.engine().start(engine);
}

void Net::stop() {
  failures_.leave();
  channel_.engine().stop();
  joined_.wire->close(config().job.nnodes == 1);
  failures_.stop();
  window_.stop();
}

Status Net::attach(uint64_t offset, uint64_t bytes, int rank) {
  if (!here(rank)) return {};
  HIROBA_TRY(window_.attach(offset, bytes, config().job.node_fds[static_cast<size_t>(config().job.node)]));
  if (rank == config().job.rank)
    channel_.engine().with_wire([&] { one_sided_.memory().attach(offset, bytes, window_.at(offset)); });
  return {};
}
void Net::detach(uint64_t offset, uint64_t bytes) {
  channel_.engine().with_wire([&] { one_sided_.memory().detach(offset, bytes); });
  window_.detach(offset, bytes);
}
void Net::release_mapping(uint64_t offset, uint64_t bytes) { window_.release_mapping(offset, bytes); }

// ---- messages ------------------------------------------------------------------------------------------------------

void Net::send(int rank, int handler, const void* payload, size_t bytes) {
  assert(bytes <= max_message);
  Head h = head_of(Frame::message);
  h.handler = static_cast<uint8_t>(handler);
  channel_.send(rank, h, payload, bytes);
}

// The message waits there for puts to that rank alone; that saves asking and answering.
void Net::send_after_puts(int rank, int handler, const void* payload, size_t bytes) {
  assert(bytes <= max_message);
  one_sided_.await_puts();
  Head h = head_of(Frame::message);
  h.handler = static_cast<uint8_t>(handler);
  h.count = puts_.number_if_only_to(rank);
  if (h.count == 0) fence();
  channel_.send(rank, h, payload, bytes);
}

// ---- put -----------------------------------------------------------------------------------------------------------

bool Net::fence() {
  one_sided_.await_puts();
  return puts_.fence();
}

void Net::put(int rank, uint64_t to, const void* from, size_t bytes) {
  Completion sent;
  start_put(rank, to, from, bytes, sent);
  channel_.await(sent);
}

void Net::start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent) {
  if (here(rank)) {
    std::memcpy(window_.at(to), from, bytes);
    return;
  }
  if (one_sided_.put(rank, to, from, bytes, sent)) return;
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const size_t part = std::min(bytes, bytes <= max_inline ? max_inline : Wire::max_bulk);
    Head h = head_of(part <= max_inline ? Frame::put : Frame::put_bulk);
    h.offset = to, h.expected = puts_.number(rank);
    if (part <= max_inline) channel_.send_later(rank, h, at, part);
    else channel_.send_bulk(rank, h, at, part, sent);
    at += part, to += part, bytes -= part;
  }
}

void Net::put_packed(int rank, std::span<const PackedWord> pieces) {
  Completion sent;
  start_put_packed(rank, pieces, sent);
  channel_.await(sent);
}

void Net::start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& sent) {
  if (here(rank)) return scatter(pieces.data(), pieces.size());
  Head h = head_of(pieces.size_bytes() <= max_inline ? Frame::packed : Frame::packed_bulk);
  h.expected = puts_.number(rank);
  if (h.frame == Frame::packed) channel_.send_later(rank, h, pieces.data(), pieces.size_bytes());
  else channel_.send_bulk(rank, h, pieces.data(), pieces.size_bytes(), sent);
}

// ---- get -----------------------------------------------------------------------------------------------------------

void Net::get_piece(char* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Piggyback* piggyback,
                    uint32_t epoch) {
  Head h = head_of(bytes <= max_inline ? Frame::get : Frame::get_bulk);
  h.offset = from;
  h.bytes = static_cast<uint32_t>(bytes);
  h.epoch = epoch;
  if (piggyback == nullptr) return request(rank, h, to, bytes, completion, nullptr, 0);
  h.handler = static_cast<uint8_t>(piggyback->handler), h.expected = piggyback->bytes;
  request(rank, h, to, bytes, completion, piggyback->payload, piggyback->bytes);
}

// What does not fit into a frame comes as bulk data.
void Net::request(int rank, Head head, void* into, size_t bytes, Completion& completion, const void* payload,
                  size_t payload_bytes) {
  const bool deferred = deferred_.is_ahead(head.epoch);  // the answer waits for the barrier
  if (bytes > max_inline)
    return channel_.request_bulk(rank, head, payload, payload_bytes, into, bytes, completion, deferred);
  completion.left.fetch_add(1, std::memory_order_relaxed);
  head.completion = reinterpret_cast<uint64_t>(&completion);
  head.address = reinterpret_cast<uint64_t>(into);
  if (deferred) channel_.send_later(rank, head, payload, payload_bytes);
  else channel_.send(rank, head, payload, payload_bytes);
}

void Net::start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                    const Piggyback* piggyback) {
  if (here(rank)) Transport::start_get(to, rank, from, bytes, completion, piggyback);
  else if (piggyback != nullptr || !one_sided_.get(to, rank, from, bytes, completion))
    start_pieces(static_cast<char*>(to), rank, from, bytes, completion, piggyback, deferred_.epoch());
}

// `epoch`: what the home must have reached.
void Net::start_pieces(char* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                       const Piggyback* piggyback, uint32_t epoch) {
  const size_t piece = joined_.wire->get_piece(bytes, deferred_.is_ahead(epoch));
  while (bytes > 0) {
    const size_t part = std::min(bytes, piece);
    get_piece(to, rank, from, part, completion, piggyback, epoch);
    to += part, from += part, bytes -= part;
    piggyback = nullptr;
  }
}

// As a get, but from an address.
Status Net::start_peek(void* to, int rank, uint64_t address, size_t bytes, Completion& completion) {
  if (here(rank)) return peek_process(*config().board, rank, address, to, bytes);
  const size_t piece = joined_.wire->get_piece(bytes, false);
  for (auto* at = static_cast<char*>(to); bytes > 0;) {
    const size_t part = std::min(bytes, piece);
    Head h = head_of(part <= max_inline ? Frame::peek : Frame::peek_bulk);
    h.offset = address, h.bytes = static_cast<uint32_t>(part), h.epoch = deferred_.epoch();
    request(rank, h, at, part, completion, nullptr, 0);
    at += part, address += part, bytes -= part;
  }
  return {};
}

void Net::get(void* to, int rank, uint64_t from, size_t bytes) {
  if (here(rank)) {
    std::memcpy(to, window_.at(from), bytes);
    return;
  }
  Completion completion;
  start_get(to, rank, from, bytes, completion, nullptr);
  channel_.await(completion);
}

// ---- words ---------------------------------------------------------------------------------------------------------

uint64_t Net::perform(int rank, Words::Operation operation, uint64_t at, uint64_t operand, uint64_t expected) {
  if (here(rank)) return words_.perform_here(operation, at, operand, expected);
  return words_.perform(rank, operation, at, operand, expected);
}

uint64_t Net::fetch_add64(int rank, uint64_t at, uint64_t value) {
  return perform(rank, Words::Operation::add64, at, value, 0);
}
uint64_t Net::compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) {
  return perform(rank, Words::Operation::swap64, at, desired, expected);
}
uint32_t Net::fetch_add32(int rank, uint64_t at, uint32_t value) {
  return static_cast<uint32_t>(perform(rank, Words::Operation::add32, at, value, 0));
}
uint32_t Net::compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) {
  return static_cast<uint32_t>(perform(rank, Words::Operation::swap32, at, desired, expected));
}

uint32_t Net::await_change(int rank, uint64_t at, uint32_t old, double seconds) {
  if (here(rank)) return words_.await_change_here(at, old, seconds);
  return words_.await_change(rank, at, old, seconds);
}

// Waiters of this node sleep on the word itself; those elsewhere are known to the word's home only.
void Net::wake(int rank, uint64_t at) {
  if (here(rank)) words_.wake_here(at);
  if (config().job.nnodes == 1) return;
  if (rank == config().job.rank) channel_.engine().drive();  // looks at what is watched
  else words_.wake(rank, at);
}

}  // namespace hiroba
