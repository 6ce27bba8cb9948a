// The transport contract: everything the floors above may ask of what moves bytes between ranks.
//
// Addresses: memory is named by (rank, offset): the offset counts from the start of the job's address range, the
// rank is the one whose node holds that memory (its home). attach() tells where each range lives; only attached
// memory may be named.
//
// Core and reference: a transport must implement the core. The rest has a reference implementation on the core
// (reference.cpp), which a transport overrides where it can do better; capabilities() says what it overrides.
//
// Order and completion:
// - get: the data has arrived on return.
// - put, put_strided, put_packed: the source may be reused on return; the data is visible at the target after the
//   caller's next fence(). Two puts without a fence between them are not ordered, nor is a put with a later get.
// - atomics: performed on return, sequentially consistent among themselves; not ordered with puts.
// - send: the handler runs once at the target, some time later, in the thread that drives progress there. Messages are
//   not ordered.
// - barrier: a fence, too: puts made before it are visible to every rank after it.
//
// Threads: put, get, fence, atomics and send may be called from many threads at once, and from a page-fault handler:
// they take no lock that the interrupted code might hold and allocate no memory. start, stop, attach, detach and
// barriers are collective and made by one thread.
//
// Errors: offsets outside attached memory are our own mistakes (assert). A peer that is gone ends the job through
// the launcher; a wait that exceeds Config::timeout returns a status.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/job.hpp"
#include "base/status.hpp"
#include "base/tables/options.hpp"
#include "section/walk.hpp"
#include "transport/packed.hpp"
#include "transport/two_sided.hpp"

namespace hiroba {

struct Capability {
  const char* name;
  bool native;  // else the reference implementation
};

// What accumulate() adds.
enum class Number : uint8_t { int32, int64, float32, float64 };

// A handler to run, with its payload, before a get reads.
struct Piggyback {
  int handler;
  const void* payload;
  size_t bytes;  // at most max_piggyback
  static constexpr size_t max_piggyback = 64;
};

using Handler = void (*)(void* context, int source, const void* payload, size_t bytes);

class Transport {
 public:
  struct Config {
    Job job;
    Board* board = nullptr;
    char* base = nullptr;      // address of offset 0 here; memory whose home is on this node is mapped at base+offset
    uint64_t extent = 0;       // offsets are below this
    double timeout = 0;        // seconds that a barrier may wait; 0: for ever
    int threads_per_rank = 1;  // for deciding how long to spin
    // Called by threads that wait for other ranks, outside of handlers and of the page-fault handler: what the floors
    // above have to carry on meanwhile. It may use the transport; true if it did anything.
    bool (*meantime)(void* context) = nullptr;
    void* context = nullptr;
    bool advance() const { return meantime != nullptr && meantime(context); }
  };

  virtual ~Transport() = default;
  virtual const char* name() const = 0;
  virtual std::vector<Capability> capabilities() const;

  // ---- core ----
  virtual Status start(const Config& config) = 0;
  virtual void stop() = 0;

  // Memory [offset, offset+bytes) lives on the node of `rank`. Page-aligned.
  virtual Status attach(uint64_t offset, uint64_t bytes, int rank) = 0;
  virtual void detach(uint64_t offset, uint64_t bytes) = 0;

  virtual void put(int rank, uint64_t to, const void* from, size_t bytes) = 0;
  virtual void get(void* to, int rank, uint64_t from, size_t bytes) = 0;
  // True if it has waited, driving progress meanwhile.
  virtual bool fence() = 0;

  // At most max_message bytes; blocks while the target's inbox is full, driving progress meanwhile.
  static constexpr size_t max_message = 3968;
  virtual void send(int rank, int handler, const void* payload, size_t bytes) = 0;
  // Runs handlers of messages that have arrived; true if any did.
  virtual bool progress() = 0;
  // Blocks until a message may have arrived, or for at most `seconds`.
  virtual void sleep(double seconds) = 0;
  // Called where ranks that keep step request data from each other, before this one goes on computing: a transport that
  // answers in software does so for a moment, as long as requests keep coming.
  virtual void linger() {}

  // The number that messages name the handler by. Between construction and start; all ranks add the same ones in the
  // same order.
  int add_handler(Handler handler, void* context) {
    assert(handlers_added_ < max_handlers);
    handlers_[handlers_added_] = {handler, context};
    return handlers_added_++;
  }

  // ---- with a reference implementation ----
  virtual void put_strided(int rank, uint64_t to, const void* from, const Walk& walk);
  virtual void get_strided(void* to, int rank, uint64_t from, const Walk& walk);
  // A put whose source must stay as it is until the completion: await() waits for all that were started with it. So a
  // sender can keep many under way.
  virtual void start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion& completion) {
    (void)completion;
    put(rank, to, from, bytes);
  }
  // Scatters pieces (packed.hpp) to memory of one rank; a piece does not cross attached ranges.
  virtual void put_packed(int rank, std::span<const PackedWord> pieces);
  // The same, but the pieces must stay as they are until the completion; so that the next can be prepared meanwhile.
  virtual void start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& completion) {
    (void)completion;
    put_packed(rank, pieces);
  }

  // Adds `count` numbers to those at `to`, in one attached range, as a put: complete at the next fence. Atomic, number
  // by number, with other accumulates to the same rank's memory, from wherever, but with nothing else. False if this
  // transport has no such operation: then nothing was done, and a message to a handler is the way.
  virtual bool accumulate(int rank, uint64_t to, const void* from, Number type, size_t count);

  // A message whose handler runs when all that this rank has put before, to whomever, is visible.
  virtual void send_after_puts(int rank, int handler, const void* payload, size_t bytes) {
    fence();
    send(rank, handler, payload, bytes);
  }

  // Where this process can access that memory by itself; null if it cannot.
  virtual char* local_address(int rank, uint64_t offset) const;
  // A get that need not have arrived on return: await() waits for all that were started with this completion. The
  // note's handler runs before the memory is read, in a process that can reach it: this one, or the rank's. It must not
  // block. A transport that cannot reach all memory implements this itself.
  virtual void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                         const Piggyback* piggyback);
  // A get of what will be there after the next barrier of all (not: group barrier), requested before it, so that the
  // answer comes without a wait for the request. Must not be awaited before the end of that barrier. Only where
  // defers_gets(rank); else it is nothing that could be asked for before it is there.
  virtual bool defers_gets(int rank) const;
  virtual void start_deferred_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                                  const Piggyback* piggyback);
  virtual void await(Completion& completion);
  // For ranks that local_address() does not reach; null if this transport has no such messages.
  virtual TwoSided* two_sided() { return nullptr; }

  virtual uint64_t fetch_add64(int rank, uint64_t at, uint64_t value);
  virtual uint64_t compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired);
  virtual uint32_t fetch_add32(int rank, uint64_t at, uint32_t value);
  virtual uint32_t compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired);
  // Blocks until the 32-bit word is no longer `old`, or for at most `seconds`; returns what it is. wake() hastens that.
  virtual uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds);
  virtual void wake(int rank, uint64_t at);

  // Barrier that hands every rank's word to every rank: words[r] is rank r's. All must give the same tag; a different
  // one is a status that names a pair of ranks and what the board says of them. Between its halves a rank may do
  // anything but begin another barrier; a rank that has ended it may wait for an answer of one that has not. Puts made
  // in between belong to the next fence or barrier.
  virtual void start_barrier(uint64_t tag, uint64_t word);
  virtual Status end_barrier(std::span<uint64_t> words);
  Status barrier(uint64_t tag, uint64_t word, std::span<uint64_t> words) {
    start_barrier(tag, word);
    return end_barrier(words);
  }

  // As barrier, without words, and waiting for some ranks only: what `others` did before it is visible to this rank
  // after it. Every rank makes the call, and a rank that names another one is named by it. A transport that cannot do
  // it for less meets all.
  virtual Status group_barrier(uint64_t tag, std::span<const int> others);

  // What this rank has handed to the network so far: messages, and bytes with their heads. Nothing on one machine.
  struct Traffic {
    uint64_t messages = 0, bytes = 0;
  };
  virtual Traffic traffic() const;
  // A handle of the network library's own type (an MPI_Comm) for all ranks in order; 0 bytes if there is none.
  // Collective at the first call.
  virtual size_t communicator(void* out, size_t room);

  // Between these two calls the calling thread is in the page-fault handler.
  virtual void faulting(bool inside);

  // The source of earlier gets in this range will not be needed soon: give back what mapping it costs.
  virtual void release_mapping(uint64_t offset, uint64_t bytes);

 protected:
  void deliver(int handler, int source, const void* payload, size_t bytes) const {
    handlers_[handler].function(handlers_[handler].context, source, payload, bytes);
  }
  // For start(): what the reference implementation needs.
  void start_reference(const Config& config);
  // Where everyone is, for a barrier that rank `self` has waited too long in, or whose tags differ.
  Status late(const Config& config, std::span<const int> missing) const;
  // `learn`: copies what a rank elsewhere says of itself to this rank's board.
  Status unequal(const Config& config, int a, int b, const std::function<void(int)>& learn = {}) const;
  const Config& config() const { return config_; }

 private:
  struct Slot {
    Handler function = nullptr;
    void* context = nullptr;
  };
  friend class Wrapper;
  struct Reference;
  // The first are the reference implementation's.
  static constexpr int first_added_handler = 8, max_handlers = 32;
  Slot handlers_[max_handlers];
  int handlers_added_ = first_added_handler;
  Config config_;
  std::shared_ptr<Reference> reference_;
};

// A transport that passes everything on to another one; the base of instruments and faults.
class Wrapper : public Transport {
 public:
  explicit Wrapper(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
  const char* name() const override { return inner_->name(); }
  std::vector<Capability> capabilities() const override { return inner_->capabilities(); }
  Status start(const Config& config) override;
  void stop() override { inner_->stop(); }
  Status attach(uint64_t o, uint64_t n, int r) override { return inner_->attach(o, n, r); }
  void detach(uint64_t o, uint64_t n) override { inner_->detach(o, n); }
  void put(int r, uint64_t to, const void* from, size_t n) override { inner_->put(r, to, from, n); }
  void get(void* to, int r, uint64_t from, size_t n) override { inner_->get(to, r, from, n); }
  bool fence() override { return inner_->fence(); }
  void send(int r, int h, const void* p, size_t n) override { inner_->send(r, h, p, n); }
  void send_after_puts(int r, int h, const void* p, size_t n) override { inner_->send_after_puts(r, h, p, n); }
  bool progress() override { return inner_->progress(); }
  void sleep(double seconds) override { inner_->sleep(seconds); }
  void linger() override { inner_->linger(); }
  void put_strided(int r, uint64_t to, const void* from, const Walk& w) override {
    inner_->put_strided(r, to, from, w);
  }
  void get_strided(void* to, int r, uint64_t from, const Walk& w) override { inner_->get_strided(to, r, from, w); }
  void start_put(int r, uint64_t to, const void* from, size_t n, Completion& c) override {
    inner_->start_put(r, to, from, n, c);
  }
  void put_packed(int r, std::span<const PackedWord> p) override { inner_->put_packed(r, p); }
  void start_put_packed(int r, std::span<const PackedWord> p, Completion& c) override {
    inner_->start_put_packed(r, p, c);
  }
  void start_get(void* to, int r, uint64_t from, size_t n, Completion& c, const Piggyback* piggyback) override {
    inner_->start_get(to, r, from, n, c, piggyback);
  }
  bool defers_gets(int r) const override { return inner_->defers_gets(r); }
  void start_deferred_get(void* to, int r, uint64_t from, size_t n, Completion& c,
                          const Piggyback* piggyback) override {
    inner_->start_deferred_get(to, r, from, n, c, piggyback);
  }
  void await(Completion& completion) override { inner_->await(completion); }
  TwoSided* two_sided() override { return inner_->two_sided(); }
  bool accumulate(int r, uint64_t to, const void* from, Number type, size_t n) override {
    return inner_->accumulate(r, to, from, type, n);
  }
  char* local_address(int r, uint64_t offset) const override { return inner_->local_address(r, offset); }
  Traffic traffic() const override { return inner_->traffic(); }
  size_t communicator(void* out, size_t room) override { return inner_->communicator(out, room); }
  void faulting(bool inside) override { inner_->faulting(inside); }
  uint64_t fetch_add64(int r, uint64_t at, uint64_t v) override { return inner_->fetch_add64(r, at, v); }
  uint64_t compare_swap64(int r, uint64_t at, uint64_t e, uint64_t d) override {
    return inner_->compare_swap64(r, at, e, d);
  }
  uint32_t fetch_add32(int r, uint64_t at, uint32_t v) override { return inner_->fetch_add32(r, at, v); }
  uint32_t compare_swap32(int r, uint64_t at, uint32_t e, uint32_t d) override {
    return inner_->compare_swap32(r, at, e, d);
  }
  uint32_t await_change(int r, uint64_t at, uint32_t old, double s) override {
    return inner_->await_change(r, at, old, s);
  }
  void wake(int r, uint64_t at) override { inner_->wake(r, at); }
  void start_barrier(uint64_t t, uint64_t w) override { inner_->start_barrier(t, w); }
  Status end_barrier(std::span<uint64_t> ws) override { return inner_->end_barrier(ws); }
  Status group_barrier(uint64_t t, std::span<const int> others) override { return inner_->group_barrier(t, others); }
  void release_mapping(uint64_t o, uint64_t n) override { inner_->release_mapping(o, n); }

 protected:
  Transport& inner() const { return *inner_; }

 private:
  std::unique_ptr<Transport> inner_;
};

// A transport that option transport can name.
struct TransportEntry {
  const char* name;
  const char* summary;
  std::vector<std::string> found;  // a line for each plug-in that it may have: "openmpi: yes", "mpich: no: ..."
  std::vector<Capability> capabilities;
};
std::vector<TransportEntry> describe_transports();

// Joins the job, by the transport that the options ask for, wrapped as they ask (chaos, trace); null with a status if
// that fails. Collective.
Status make_transport(const Options& options, Job& job, std::unique_ptr<Transport>& out);

}  // namespace hiroba
