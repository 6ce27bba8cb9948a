// Sends objects that this rank has freed to the ranks that allocated them, in batches: each rank has a ring of them in
// its control segment. README.md, "Heap", has the order of steps.
//
// Owner: Heap. Thread-safe after start(). add() and send_all() may block for an answer of another node. They do not
// block if a ring has no room: the objects then stay here.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "memory/layout.hpp"
#include "transport/transport.hpp"

namespace hiroba {

struct FreedObject {
  uint64_t position;  // in the heap
  int rank;           // the rank that has freed it
  uint32_t site;      // the place of the free: a number of that rank (HeapSites)
};

class HeapReturns {
 public:
  static constexpr uint64_t slots = 65536;
  static constexpr size_t batch = 240;  // fits a message
  // Offset in the heap's part of a rank's control segment.
  static constexpr uint64_t ring_at = uint64_t{24} << 20;

  struct Config {
    Layout layout;
    Job job;
    char* base = nullptr;
    Transport* transport = nullptr;
    // Sends home this rank's writes to these objects.
    std::function<void(std::span<const FreedObject>)> publish;
  };
  void listen(Transport& transport);  // before the transport starts
  void start(Config config);

  // Adds an object of another rank that this rank has freed.
  void add(int owner, const FreedObject& object);
  void send_all();

  // Returns whether other ranks have freed objects of this rank.
  bool any() const {
    return ring_->added.load(std::memory_order_relaxed) != ring_->taken.load(std::memory_order_relaxed);
  }
  // Takes those that have arrived; one thread at a time.
  void take(std::vector<FreedObject>& out);

  struct Counts {
    std::atomic<uint64_t> objects{0}, batches{0};  // that this rank has sent
  };
  const Counts& counts() const { return counts_; }

 private:
  // The words of an object. The highest byte of each is the lap of the ring, so that a reader sees which have arrived.
  struct Slot {
    uint64_t where, who;
  };
  struct Ring {
    alignas(64) std::atomic<uint64_t> added;  // objects, since the start
    alignas(64) std::atomic<uint64_t> taken;
    alignas(64) Slot slot[slots];
  };
  struct Box {  // objects of one owner
    std::mutex lock;
    std::vector<FreedObject> objects;
    double since = 0;
  };
  struct Message {
    uint64_t first, count;
    Slot slot[batch];
  };
  static_assert(sizeof(Message) <= Transport::max_message);

  uint64_t ring_of(int rank) const { return config_.layout.heap_control(rank) + ring_at; }
  static Slot pack(const FreedObject& object, uint64_t index);
  static void store(Ring& ring, uint64_t first, std::span<const Slot> from);
  void receive(int source, const void* payload, size_t bytes);
  Box& box(int owner);
  void send(int owner, Box& box);
  bool reserve(int owner, uint64_t count, uint64_t& first) const;

  Config config_;
  int handler_ = 0;
  Ring* ring_ = nullptr;  // of this rank
  std::unique_ptr<std::atomic<Box*>[]> boxes_;
  std::mutex making_;
  std::vector<std::unique_ptr<Box>> owned_;
  Counts counts_;
};

}  // namespace hiroba
