// The transport contract: all operations that move bytes between ranks, for the floors above.
//
// Addresses: memory is named by (rank, offset): the offset counts from the start of the job's address range, the rank
// is one whose node holds that memory (its home). attach() sets the home of each range; only attached memory may be
// named.
//
// Core and reference: a transport must implement the core. The rest has a reference implementation on the core
// (reference.cpp), which a transport overrides where it can do better; capabilities() lists its overrides.
//
// Order and completion:
// - get: the data has arrived on return.
// - put, put_strided, put_packed: the source may be reused on return; the data is visible at the target after the
//   caller's next fence(). Two puts without a fence between them are not ordered, nor is a put with a later get.
// - atomics: performed on return, sequentially consistent among themselves; not ordered with puts.
// - send: the handler runs once at the target, some time later, in the thread that drives progress there. Messages are
//   not ordered.
// - barrier: includes a fence: puts made before it are visible to every rank after it.
//
// Threads: many threads at once, and a page-fault handler, may call put, get, fence, atomics and send: they take no
// lock that the interrupted code might hold and allocate no memory. start, stop, attach, detach and barriers are
// collective; one thread calls them.
//
// Errors: offsets outside attached memory are internal errors (assert). A lost peer ends the job through the launcher;
// a wait that exceeds Config::timeout returns a status.
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

// The numbers that accumulate() adds.
enum class Number : uint8_t { int32, int64, float32, float64 };

// An active message on a get: the handler runs before the get reads.
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
    double timeout = 0;        // seconds that a barrier may wait; 0: unlimited
    int threads_per_rank = 1;  // determines the time to spin
    // Advances work of the floors above. Called by threads that wait for other ranks, outside of handlers and of the
    // page-fault handler. It may use the transport; returns true if it did anything.
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

  // Declares that memory [offset, offset+bytes) lives on the node of `rank`. Page-aligned.
  virtual Status attach(uint64_t offset, uint64_t bytes, int rank) = 0;
  virtual void detach(uint64_t offset, uint64_t bytes) = 0;

  virtual void put(int rank, uint64_t to, const void* from, size_t bytes) = 0;
  virtual void get(void* to, int rank, uint64_t from, size_t bytes) = 0;
  // Returns true if it has waited; drives progress during the wait.
  virtual bool fence() = 0;

  // Sends at most max_message bytes; blocks while the target's inbox is full, driving progress.
  static constexpr size_t max_message = 3968;
  virtual void send(int rank, int handler, const void* payload, size_t bytes) = 0;
  // Runs handlers of messages that have arrived; returns true if any ran.
  virtual bool progress() = 0;
  // Blocks until a message may have arrived, or for at most `seconds`.
  virtual void sleep(double seconds) = 0;
  // Called where ranks in step request data from each other, before this one continues computing: a transport that
  // answers in software does so for a moment, as long as requests keep arriving.
  virtual void linger() {}

  // Returns the number by which messages name the handler. Called between construction and start; all ranks add the
  // same handlers in the same order.
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
  // Starts the same; the pieces must not change until the completion, so the next ones can be prepared during it.
  virtual void start_put_packed(int rank, std::span<const PackedWord> pieces, Completion& completion) {
    (void)completion;
    put_packed(rank, pieces);
  }

  // Adds `count` numbers to those at `to`, in one attached range, as a put: complete at the next fence. Each addition
  // is atomic with other accumulates from any rank to that rank's memory, but with nothing else. Returns false, without
  // effect, if this transport has no such operation; a message to a handler can replace it.
  virtual bool accumulate(int rank, uint64_t to, const void* from, Number type, size_t count);

  // Sends a message whose handler runs when all earlier puts of this rank, to any rank, are visible.
  virtual void send_after_puts(int rank, int handler, const void* payload, size_t bytes) {
    fence();
    send(rank, handler, payload, bytes);
  }

  // Returns the address at which this process can access that memory directly; null if it cannot.
  virtual char* local_address(int rank, uint64_t offset) const;
  // Starts a get: await() waits for all that were started with this completion. The piggyback's handler runs before the
  // memory is read, in a process that can access it: this one, or the rank's. It must not block. A transport that
  // cannot access all memory implements this itself.
  virtual void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                         const Piggyback* piggyback);
  // Starts a get of the data as of the next barrier of all (not: group barrier). Its request precedes the barrier, so
  // the answer needs no wait for the request. Must not be awaited before the end of that barrier. Requires
  // defers_gets(rank).
  virtual bool defers_gets(int rank) const;
  virtual void start_deferred_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                                  const Piggyback* piggyback);
  virtual void await(Completion& completion);
  // Returns messages for ranks that local_address() does not reach; null if this transport has none.
  virtual TwoSided* two_sided() { return nullptr; }

  virtual uint64_t fetch_add64(int rank, uint64_t at, uint64_t value);
  virtual uint64_t compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired);
  virtual uint32_t fetch_add32(int rank, uint64_t at, uint32_t value);
  virtual uint32_t compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired);
  // Blocks until the 32-bit word is no longer `old`, or for at most `seconds`; returns its value. wake() shortens the
  // wait.
  virtual uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds);
  virtual void wake(int rank, uint64_t at);

  // A barrier that gives every rank's word to every rank: words[r] is rank r's. All must give the same tag; otherwise
  // it returns a status that names two ranks and their calls on the board. Between its halves a rank may do anything
  // except begin another barrier; a rank that has ended it may wait for an answer of one that has not. Puts made in
  // between belong to the next fence or barrier.
  virtual void start_barrier(uint64_t tag, uint64_t word);
  virtual Status end_barrier(std::span<uint64_t> words);
  Status barrier(uint64_t tag, uint64_t word, std::span<uint64_t> words) {
    start_barrier(tag, word);
    return end_barrier(words);
  }

  // A barrier without words that waits for some ranks only: writes of `others` before it are visible to this rank after
  // it. Every rank makes the call, and two ranks name each other or neither does. A transport without a cheaper way
  // waits for all ranks.
  virtual Status group_barrier(uint64_t tag, std::span<const int> others);

  // Messages and bytes, with heads, that this rank has sent to the network so far. Zero on one machine.
  struct Traffic {
    uint64_t messages = 0, bytes = 0;
  };
  virtual Traffic traffic() const;
  // Writes a handle of the network library's own type (an MPI_Comm) for all ranks in order; returns 0 if there is none.
  // The first call is collective.
  virtual size_t communicator(void* out, size_t room);

  // Marks the begin and end of the page-fault handler in the calling thread.
  virtual void faulting(bool inside);

  // Releases the cost of mapping the source of earlier gets in this range, which will not be needed soon.
  virtual void release_mapping(uint64_t offset, uint64_t bytes);

 protected:
  void deliver(int handler, int source, const void* payload, size_t bytes) const {
    handlers_[handler].function(handlers_[handler].context, source, payload, bytes);
  }
  // Starts the reference implementation; start() calls it.
  void start_reference(const Config& config);
  // Returns a status with the missing ranks' calls, for a barrier that has waited too long.
  Status late(const Config& config, std::span<const int> missing) const;
  // Returns a status with the calls of two ranks whose tags differ. `learn` copies a remote rank's call to our board.
  Status unequal(const Config& config, int a, int b, const std::function<void(int)>& learn = {}) const;
  const Config& config() const { return config_; }

 private:
  struct Slot {
    Handler function = nullptr;
    void* context = nullptr;
  };
  friend class Wrapper;
  struct Reference;
  // The first handlers are the reference implementation's.
  static constexpr int first_added_handler = 8, max_handlers = 32;
  Slot handlers_[max_handlers];
  int handlers_added_ = first_added_handler;
  Config config_;
  std::shared_ptr<Reference> reference_;
};

// A transport that forwards everything to another one; the base of instruments and fault injection.
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

// A possible value of option transport.
struct TransportEntry {
  const char* name;
  const char* summary;
  std::vector<std::string> found;  // a line for each possible plug-in: "openmpi: yes", "mpich: no: ..."
  std::vector<Capability> capabilities;
};
std::vector<TransportEntry> describe_transports();

// Joins the job by the transport that the options select, wrapped as they say (chaos, trace); null with a status on
// failure. Collective.
Status make_transport(const Options& options, Job& job, std::unique_ptr<Transport>& out);

}  // namespace hiroba
