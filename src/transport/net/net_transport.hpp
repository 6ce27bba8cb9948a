// The class that implements net.hpp: it passes each call of the contract, and each frame (serve.cpp), to the part in
// charge. It decides itself between memory of this node, one-sided access and frames, and orders the steps of a barrier
// (barriers.cpp).
//
// Memory of this node is accessed directly, through the window; all other memory by frames and bulk data. State that
// both sides access is guarded by the engine's lock ("wire state"), or is an atomic that waiting threads poll.
#pragma once

#include <memory>
#include <vector>

#include "transport/net/gets.hpp"
#include "transport/net/messages.hpp"
#include "transport/net/net.hpp"
#include "transport/net/net_words.hpp"
#include "transport/net/puts.hpp"
#include "transport/net/sends.hpp"
#include "transport/net/wire_access.hpp"
#include "transport/order/group_barrier.hpp"
#include "transport/order/put_ledger.hpp"
#include "transport/order/split_barrier.hpp"
#include "transport/session/failures.hpp"
#include "transport/session/join.hpp"
#include "transport/transport.hpp"
#include "transport/window.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class Net final : public Transport, OneSided, RankBarriers {
 public:
  explicit Net(std::string name)
      : OneSided(static_cast<Transport&>(*this)), RankBarriers(static_cast<Transport&>(*this)), name_(std::move(name)) {
    parts_ = {this, &words_, this, &sends_};
  }
  ~Net() override = default;
  Status join(const Options& options, Job& job);

  const char* name() const override { return name_.c_str(); }
  std::vector<Capability> capabilities() const override;
  Status start(const Config& config) override;
  void stop() override;
  Status attach(uint64_t offset, uint64_t bytes, int rank) override;
  void detach(uint64_t offset, uint64_t bytes) override;
  void put(int rank, uint64_t to, const void* from, size_t bytes) override;
  void get(void* to, int rank, uint64_t from, size_t bytes) override;
  bool fence() override;
  void send(int rank, int handler, const void* payload, size_t bytes) override;
  void send_after_puts(int rank, int handler, const void* payload, size_t bytes) override;
  bool progress() override { return channel_.engine().drive(); }
  // Does nothing if the others sent their gets for this epoch before the barrier: they need nothing more.
  void linger() override {
    if (!gets_.asked_ahead()) channel_.engine().linger();
  }
  void sleep(double seconds) override { channel_.engine().sleep(seconds); }
  void start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent) override;
  void put_strided(int rank, uint64_t to, const void* from, const Walk& walk) override;
  void get_strided(void* to, int rank, uint64_t from, const Walk& walk) override;
  void start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& sent) override;
  void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                 const Piggyback* piggyback) override;
  bool defers_gets(int rank) const override { return !here(rank); }
  void start_deferred_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                          const Piggyback* piggyback) override {
    gets_.get_deferred(to, rank, from, bytes, completion, piggyback);
  }
  void await(Completion& completion) override { channel_.await(completion); }
  char* local_address(int rank, uint64_t offset) const override { return here(rank) ? window_.at(offset) : nullptr; }
  void start_barrier(uint64_t tag, uint64_t word) override;
  Status end_barrier(std::span<uint64_t> words) override;
  Status group_barrier(uint64_t tag, std::span<const int> others) override;
  bool accumulate(int rank, uint64_t to, const void* from, Number type, size_t count) override {
    return access_.accumulate(rank, to, from, type, count);
  }
  void release_mapping(uint64_t offset, uint64_t bytes) override;
  Traffic traffic() const override { return channel_.outbox().traffic(); }
  size_t communicator(void* out, size_t room) override {
    return joined_.wire->make_communicator(config().job.rank, out, room);
  }
  void faulting(bool inside) override { inside ? Engine::enter_fault() : Engine::leave_fault(); }

 private:
  bool here(int rank) const { return config().job.is_here(rank); }

  static void run_handler(const void* self, int handler, int source, const void* payload, size_t bytes);

  // ---- barriers ----
  SplitBarrier::PutCounts count_puts();
  void await_counted_puts();
  void learn_place(int rank);
  void await_others_report();

  // ---- serving; with the wire ----
  static void on_frame(void* self, int source, const void* bytes, size_t size);
  static void on_done(void* self, uint64_t ticket);
  static void on_failed(void* self, const char* what);
  static void on_stranger(void* self);
  static bool after_poll(void* self);
  void serve(int source, const Head& head, const char* payload, size_t bytes);
  void reply_place(int source, const Head& head);

  const std::string name_;
  Joined joined_;
  PairKeys keys_;  // by rank
  Placement placement_;
  std::vector<int> rank_of_wire_;
  Window window_;
  Channel channel_;
  PutLedger ledger_;
  Messages messages_;
  Sends sends_;
  Puts puts_;
  Gets gets_;
  SplitBarrier barrier_;
  GroupBarrier group_;
  NetWords words_;
  WireAccess access_;
  Failures failures_;
  SplitBarrier::PutCounts counted_;  // puts of the barrier under way
  uint64_t strangers_ = 0;           // wire state: their messages
};

}  // namespace hiroba
