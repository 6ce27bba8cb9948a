// Objects that other ranks have freed, on their way to the rank that allocated them, in batches: each rank has a ring
// of them in its control segment. README.md, "Heap", has the order of steps.
//
// Owner: Heap. Thread-safe after start(). add() and send_all() may block for an answer of another node; a ring without
// room makes objects stay here, it does not block.
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
  int rank;           // that has freed it
  uint32_t site;      // where: a number of that rank (HeapSites)
};

class HeapReturns {
 public:
  static constexpr uint64_t slots = 65536;
  static constexpr size_t batch = 240;  // fits a message
  // Of a rank's control segment of the heap, from its begin.
  static constexpr uint64_t ring_at = uint64_t{24} << 20;

  struct Config {
    Layout layout;
    Job job;
    char* base = nullptr;
    Transport* transport = nullptr;
    // Makes visible what this rank has written to these objects.
    std::function<void(std::span<const FreedObject>)> publish;
  };
  void listen(Transport& transport);  // before the transport starts
  void start(Config config);

  // This rank has freed an object of another rank.
  void add(int owner, const FreedObject& object);
  void send_all();

  // Whether there are objects of this rank that others have freed.
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
  // Words of an object; the highest byte of each is the lap of the ring, so that a reader sees which have arrived.
  struct Slot {
    uint64_t where, who;
  };
  struct Ring {
    alignas(64) std::atomic<uint64_t> added;  // objects, since the start
    alignas(64) std::atomic<uint64_t> taken;
    alignas(64) Slot slot[slots];
  };
  struct Box {  // of objects of one owner
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
