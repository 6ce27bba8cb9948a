// The transport contract: all operations that move bytes between ranks, for the floors above.
//
// Addresses: memory is named by (rank, offset): the offset counts from the start of the job's address range, the rank
// is one whose node holds that memory (its home). attach() sets the home of each range; only attached memory may be
// named.
//
// Core and parts: a transport must implement the core, and hand out the parts. OneSided has a reference implementation
// on the core (reference.cpp), which a transport overrides where it can do better; tests/conformance has words and
// barriers by messages for the time that it has none of its own. capabilities() lists what is native.
//
// Order and completion:
// - get: the data has arrived on return.
// - put, put_strided: the source may be reused on return; the data is visible at the target after the
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
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/job.hpp"
#include "base/status.hpp"
#include "base/tables/options.hpp"
#include "transport/one_sided.hpp"
#include "transport/rank_barriers.hpp"
#include "transport/remote_words.hpp"
#include "transport/two_sided.hpp"

namespace hiroba {

struct Capability {
  const char* name;
  bool native;  // else the reference implementation
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
  virtual std::vector<Capability> capabilities() const { return {}; }

  // ---- core ----
  // An implementation calls this one first, which keeps the configuration.
  virtual Status start(const Config& config) { return config_ = config, Status(); }
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

  // ---- parts ----
  OneSided& one_sided() const { return *parts_.one_sided; }
  RemoteWords& words() const { return *parts_.words; }
  RankBarriers& barriers() const { return *parts_.barriers; }
  // Returns messages for ranks that local_address() does not reach; null if this transport has none.
  TwoSided* two_sided() const { return parts_.two_sided; }

  // ---- with a reference implementation ----
  // Sends a message whose handler runs when all earlier puts of this rank, to any rank, are visible.
  virtual void send_after_puts(int rank, int handler, const void* payload, size_t bytes) {
    fence();
    send(rank, handler, payload, bytes);
  }

  // Returns the address at which this process can access that memory directly; null if it cannot.
  virtual char* local_address(int /*rank*/, uint64_t /*offset*/) const { return nullptr; }

  // Messages and bytes, with heads, that this rank has sent to the network so far. Zero on one machine.
  struct Traffic {
    uint64_t messages = 0, bytes = 0;
  };
  virtual Traffic traffic() const { return {}; }
  // Writes a handle of the network library's own type (an MPI_Comm) for all ranks in order; returns 0 if there is none.
  // The first call is collective.
  virtual size_t communicator(void* /*out*/, size_t /*room*/) { return 0; }

  // Marks the begin and end of the page-fault handler in the calling thread.
  virtual void faulting(bool /*inside*/) {}

 protected:
  void deliver(int handler, int source, const void* payload, size_t bytes) const {
    handlers_[handler].function(handlers_[handler].context, source, payload, bytes);
  }
  const Config& config() const { return config_; }

  // The parts that it hands out. An implementation sets them when it is constructed.
  struct Parts {
    OneSided* one_sided = nullptr;
    RemoteWords* words = nullptr;
    RankBarriers* barriers = nullptr;
    TwoSided* two_sided = nullptr;
  };
  Parts parts_;

 private:
  struct Slot {
    Handler function = nullptr;
    void* context = nullptr;
  };
  friend class Wrapper;
  friend class OneSided;
  friend class RankBarriers;
  static constexpr int max_handlers = 32;
  Slot handlers_[max_handlers];
  int handlers_added_ = 0;
  Config config_;
};

// Adds a method of an object as a handler.
template <auto Method, typename Object>
int add_handler(Transport& transport, Object* object) {
  const auto call = [](void* self, int source, const void* payload, size_t bytes) {
    (static_cast<Object*>(self)->*Method)(source, payload, bytes);
  };
  return transport.add_handler(call, object);
}

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
