// Transactions on memory of nodes that this process reaches by messages only: the requests, the home's part, and what
// one attempt has read there. README.md, "Between nodes".
//
// Owner: FarHomes belongs to TransactionProcess and is thread-safe; its handlers may run in any thread of the home's
// process. FarReads belongs to a Snapshot, whose thread alone uses it. Requests block until they are answered.
#pragma once

#include <atomic>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "base/wait.hpp"
#include "memory/memory.hpp"
#include "transaction/domain.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class TransactionProcess;

// A word of stripes in a request: its number, the version that it has if it was read, and whether to lock it.
struct FarStripe {
  uint32_t index;
  enum Flag : uint32_t { lock = 1, expects = 2, writes = 4 };
  uint32_t flags;
  uint64_t version;
};
struct FarWrite {
  uint64_t offset, value, mask;
};

class FarHomes {
 public:
  enum class Kind : uint32_t { read, lock, validate, write, undo };
  struct Head {
    Kind kind;
    uint32_t reply;  // number of the room for the answer
    uint32_t owner;  // the slot of the thread
    uint32_t count;  // of the items that follow
    uint64_t last;   // no more items of this kind follow
  };
  struct Read {
    uint64_t offset;
    uint32_t bytes, index;
  };
  static constexpr size_t chunk = 64;  // most bytes of a read
  struct Reply {
    uint64_t ok, version, clock;
    char data[chunk];
  };

  void listen(Transport& transport);
  void start(Memory& memory, TransactionDomain& domain);

  // A request to one home; `reply` is its answer.
  struct Request {
    int rank;
    Head head;
    const void* items;
    size_t bytes;
    Reply reply;
  };
  // Sends requests to different homes, and waits for the answers.
  void ask(std::span<Request> requests);
  void count_message() { messages_.fetch_add(1, std::memory_order_relaxed); }  // of another kind
  uint64_t messages() const { return messages_.load(std::memory_order_relaxed); }

  template <typename Item>
  static constexpr size_t most_items() {
    return (Piggyback::max_piggyback - sizeof(Head)) / sizeof(Item);
  }

 private:
  static constexpr uint64_t replies_at = uint64_t{32} << 20;
  static constexpr uint32_t rooms = 64;  // for answers to one rank at a time
  struct Held {
    uint32_t index;
    bool writes;
    uint64_t version;
  };

  void serve(int source, const void* payload, size_t bytes);
  void read(const Read& request, Reply& reply) const;
  bool lock(uint64_t owner, std::span<const FarStripe> stripes);
  bool is_valid(std::span<const FarStripe> stripes) const;
  void write(std::span<const FarWrite> writes) const;
  void unlock(uint64_t owner, bool written);
  Reply& reply_of(int source, uint32_t room) const;
  uint64_t reply_offset(int rank, int source, uint32_t room) const;
  uint32_t take_room();

  Memory* memory_ = nullptr;
  TransactionDomain* domain_ = nullptr;
  int handler_ = 0;
  std::atomic<uint64_t> taken_rooms_{0};
  std::atomic<uint64_t> messages_{0};
  SignalSafeLock lock_;                         // guards held_
  std::map<uint64_t, std::vector<Held>> held_;  // by owner: the words that threads of other nodes have locked here
};

class FarReads {
 public:
  explicit FarReads(TransactionProcess& process) : process_(process) {}

  struct Answer {
    bool locked;
    uint64_t version, clock;
    char data[FarHomes::chunk];
  };
  // Finds the word in what was read before.
  bool find(uint64_t address, uint64_t& out) const;
  void get(const PastCache::Place& place, uint64_t address, int stripe_shift, Answer& answer) const;
  // Notes the answer to get(), and returns its word.
  void add(int node, uint64_t address, int stripe_shift, const Answer& answer, uint64_t& out);
  bool any() const { return !reads_.empty(); }
  void clear() { reads_.clear(); }
  // Asks the homes whether all that was read is still there, but for those of `skipped`.
  bool is_valid(std::span<const int> skipped = {}) const;
  // Adds the stripes that were read on a node.
  void stripes_of(int node, std::vector<FarStripe>& out) const;

 private:
  struct Entry {
    uint64_t address, bytes, version;
    int node;
    uint32_t index;
    char data[FarHomes::chunk];
  };
  static uint64_t bytes_of(int stripe_shift) {
    return std::min<uint64_t>(FarHomes::chunk, uint64_t{1} << stripe_shift);
  }

  TransactionProcess& process_;
  std::vector<Entry> reads_;
};

}  // namespace hiroba
