// The class behind net.hpp: it hands each call of the contract to the part that does it, and each frame to the part
// that it is for (serve.cpp). Its own are gets (net.cpp), boxes (strided.cpp) and the order of things at a barrier
// (barriers.cpp).
//
// Memory of this node is reached directly, through the window; everything else by frames and bulk data. State that both
// sides touch is guarded by the engine's lock ("wire state"), or is an atomic that waiting threads look at.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "transport/net/channel.hpp"
#include "transport/net/deferred_gets.hpp"
#include "transport/net/failures.hpp"
#include "transport/net/group_barrier.hpp"
#include "transport/net/join.hpp"
#include "transport/net/net.hpp"
#include "transport/net/one_sided.hpp"
#include "transport/net/put_ledger.hpp"
#include "transport/net/split_barrier.hpp"
#include "transport/net/words.hpp"
#include "transport/peek.hpp"
#include "transport/transport.hpp"
#include "transport/window.hpp"

namespace hiroba {

class Net final : public Transport {
 public:
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
  // Not where the others have sent their gets for this epoch before the barrier: they need nothing more.
  void linger() override {
    if (!asked_ahead_.load(std::memory_order_relaxed)) channel_.engine().linger();
  }
  void sleep(double seconds) override { channel_.engine().sleep(seconds); }
  void start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent) override;
  void put_strided(int rank, uint64_t to, const void* from, const Strided& box) override;
  void get_strided(void* to, int rank, uint64_t from, const Strided& box) override;
  void put_packed(int rank, std::span<const PackedWord> pieces) override;
  void start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& sent) override;
  void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                 const Piggyback* piggyback) override;
  bool defers_gets(int rank) const override { return !here(rank); }
  void start_deferred_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                          const Piggyback* piggyback) override {
    start_pieces(static_cast<char*>(to), rank, from, bytes, completion, piggyback, deferred_.epoch() + 1);
  }
  void await(Completion& completion) override { channel_.await(completion); }
  bool peeks(int rank) const override { return !here(rank) || peeks_processes(); }
  Status start_peek(void* to, int rank, uint64_t address, size_t bytes, Completion& completion) override;
  char* local_address(int rank, uint64_t offset) const override { return here(rank) ? window_.at(offset) : nullptr; }
  uint64_t fetch_add64(int rank, uint64_t at, uint64_t value) override;
  uint64_t compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) override;
  uint32_t fetch_add32(int rank, uint64_t at, uint32_t value) override;
  uint32_t compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) override;
  uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds) override;
  void wake(int rank, uint64_t at) override;
  void start_barrier(uint64_t tag, uint64_t word) override;
  Status end_barrier(std::span<uint64_t> words) override;
  Status group_barrier(uint64_t tag, std::span<const int> others) override;
  bool accumulate(int rank, uint64_t to, const void* from, Number type, size_t count) override {
    return one_sided_.accumulate(rank, to, from, type, count);
  }
  void release_mapping(uint64_t offset, uint64_t bytes) override;
  Traffic traffic() const override { return channel_.outbox().traffic(); }
  size_t communicator(void* out, size_t room) override {
    return joined_.wire->make_communicator(config().job.rank, out, room);
  }
  void faulting(bool inside) override { inside ? Engine::enter_fault() : Engine::leave_fault(); }

 private:
  // A message that has overtaken puts which its sender made before it.
  struct Early {
    int source;
    Head head;
    std::vector<char> payload;
  };
  bool here(int rank) const { return config().job.node_of(rank) == config().job.node; }

  // ---- asking ----
  void start_pieces(char* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Piggyback* piggyback,
                    uint32_t epoch);
  void get_piece(char* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Piggyback* piggyback,
                 uint32_t epoch);
  void request(int rank, Head head, void* into, size_t bytes, Completion& completion, const void* payload,
               size_t payload_bytes);
  uint64_t perform(int rank, Words::Operation operation, uint64_t at, uint64_t operand, uint64_t expected);

  // ---- barriers ----
  SplitBarrier::PutCounts count_puts();
  void await_counted_puts();
  void begin_epoch();
  void learn_place(int rank);
  void await_others_report();

  // ---- serving; with the wire ----
  static void on_frame(void* self, int source, const void* bytes, size_t size);
  static void on_done(void* self, uint64_t ticket);
  static void on_failed(void* self, const char* what);
  static bool after_poll(void* self);
  void serve(int source, const Head& head, const char* payload, size_t bytes);
  void serve_put(int source, const Head& head, const char* payload);
  void receive_put(int source, const Head& head);
  void put_arrived(int source, uint64_t number);
  void scatter(const uint64_t* pieces, size_t words);
  void unpack(uint64_t to, const char* packed);
  void serve_get(int source, const Head& head, const char* payload);
  void serve_read(int source, const Head& head, const char* data);
  void serve_get_strided(int source, const Head& head, const char* payload);
  void answer_get(int source, const Head& asked, const void* data, size_t bytes);
  void serve_deferred();
  void serve_message(int source, const Head& head, const char* payload, size_t bytes);
  bool serve_early();
  void reply_place(int source, const Head& head);
  void note_served() { served_.store(served_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  std::string name_ = "net";
  Joined joined_;
  Placement placement_;
  std::vector<int> rank_of_wire_;
  Window window_;
  Channel channel_;
  PutLedger puts_;
  DeferredGets deferred_;
  SplitBarrier barrier_;
  GroupBarrier group_;
  Words words_;
  OneSided one_sided_;
  Failures failures_;
  SplitBarrier::PutCounts counted_;       // in the barrier under way
  std::atomic<bool> asked_ahead_{false};  // of the last barrier, by others
  std::atomic<uint32_t> served_{0};       // counts what has been done for others
  std::vector<Early> early_;              // wire state
  bool stranger_seen_ = false;            // wire state
};

}  // namespace hiroba
