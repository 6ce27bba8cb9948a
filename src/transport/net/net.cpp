#include "transport/net/net.hpp"

#include <cstring>

#include "base/log.hpp"
#include "transport/net/net_transport.hpp"

namespace hiroba {

Status make_net(const std::string& name, const Options& options, Job& job, std::unique_ptr<Transport>& out) {
  auto net = std::make_unique<Net>(name);
  HIROBA_TRY(net->join(options, job));
  out = std::move(net);
  return {};
}

Status Net::join(const Options& options, Job& job) {
  HIROBA_TRY(Placement::parse(options.text("progress"), placement_));
  HIROBA_TRY(failures_.watch_joining(options, placement_.kind != Placement::Kind::none));
  HIROBA_TRY(join_job(name_, options, {this, on_frame, on_done, on_failed, on_stranger}, joined_));
  rank_of_wire_.resize(joined_.wire_ranks.size());
  for (size_t r = 0; r < joined_.wire_ranks.size(); ++r) rank_of_wire_[joined_.wire_ranks[r]] = static_cast<int>(r);
  job = joined_.job;
  keys_ = PairKeys(joined_.secret, job.rank, job.nranks);
  // Now, when all are here: the program may ask for it on some ranks only.
  char handle[sizeof(void*)];
  if (joined_.program_uses_library) joined_.wire->make_communicator(job.rank, handle, sizeof handle);
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
  const Wire::Remote remote = joined_.wire->remote();
  return net_capabilities(remote.memory ? WirePlugin::always : WirePlugin::never, remote.accumulate);
}

Status Net::start(const Config& config) {
  HIROBA_TRY(Transport::start(config));
  HIROBA_TRY(window_.start(config.extent));
  const Job& job = config.job;
  channel_.start(joined_.wire.get(), &keys_, &joined_.wire_ranks);
  ledger_.start(job.nranks, &channel_);
  messages_.start(&channel_, &ledger_, {this, run_handler});
  sends_.start(&channel_);
  puts_.start(&channel_, &window_, &ledger_);
  gets_.start(&channel_, &window_, &messages_);
  words_.start(Transport::config().job, &channel_, &window_);
  access_.start(job.rank, &channel_);
  failures_.start(&joined_, config.board, &channel_);
  barrier_.start(job, *config.board, &channel_);
  group_.start(job.nranks, &channel_, &ledger_);
  Engine::Config engine;
  engine.wire = joined_.wire.get();
  engine.placement = placement_;
  engine.spins = job.spins(config.threads_per_rank);
  engine.program_uses_library = joined_.program_uses_library;
  engine.before_poll = [](void* self) {
    static_cast<Net*>(self)->failures_.tick();
    static_cast<Net*>(self)->channel_.outbox().send();
  };
  engine.after_poll = after_poll;
  engine.moving = [](void* self) { return static_cast<Net*>(self)->channel_.transfers().moving(); };
  engine.meantime = [](void* self) { return static_cast<const Net*>(self)->config().advance(); };
  engine.context = this;
  return channel_.engine().start(engine);
}

void Net::stop() {
  failures_.leave();
  channel_.engine().stop();
  joined_.wire->close(config().job.nnodes == 1);
  if (strangers_ > 0) log_line("messages of strangers were refused: %lu", strangers_);
  failures_.stop();
  window_.stop();
}

Status Net::attach(uint64_t offset, uint64_t bytes, int rank) {
  if (!here(rank)) return {};
  HIROBA_TRY(window_.attach(offset, bytes, config().job.node_fds[config().job.node]));
  if (rank == config().job.rank)
    channel_.engine().with_wire([&] { access_.memory().attach(offset, bytes, window_.at(offset)); });
  return {};
}
void Net::detach(uint64_t offset, uint64_t bytes) {
  channel_.engine().with_wire([&] { access_.memory().detach(offset, bytes); });
  window_.detach(offset, bytes);
}
void Net::release_mapping(uint64_t offset, uint64_t bytes) { window_.release_mapping(offset, bytes); }

// ---- messages ------------------------------------------------------------------------------------------------------

void Net::run_handler(const void* self, int handler, int source, const void* payload, size_t bytes) {
  static_cast<const Net*>(self)->deliver(handler, source, payload, bytes);
}

void Net::send(int rank, int handler, const void* payload, size_t bytes) {
  messages_.send(rank, handler, payload, bytes, 0);
}

// The message waits at that rank for the puts to it; that saves a round trip.
void Net::send_after_puts(int rank, int handler, const void* payload, size_t bytes) {
  access_.await_puts();
  const uint64_t last = ledger_.number_if_only_to(rank);
  if (last == 0) fence();
  messages_.send(rank, handler, payload, bytes, last);
}

// ---- put -----------------------------------------------------------------------------------------------------------

bool Net::fence() {
  access_.await_puts();
  return ledger_.fence();
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
  if (!access_.put(rank, to, from, bytes, sent)) puts_.put(rank, to, from, bytes, sent);
}

void Net::start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& sent) {
  here(rank) ? puts_.scatter(pieces) : puts_.put_packed(rank, pieces, sent);
}

// ---- get -----------------------------------------------------------------------------------------------------------

void Net::start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                    const Piggyback* piggyback) {
  if (here(rank)) OneSided::start_get(to, rank, from, bytes, completion, piggyback);
  else if (piggyback != nullptr || !access_.get(to, rank, from, bytes, completion))
    gets_.get(to, rank, from, bytes, completion, piggyback);
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

}  // namespace hiroba
