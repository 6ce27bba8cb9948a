// The sharers of a node's pages, as far as its ranks must know them: for each page and rank of the node a byte says
// whether the rank's writes to the page are tracked, and a ring names the pages whose tracking has begun. A rank of
// another node that copies a page registers it here, before it reads the page. README.md, "Home pages", has the order
// of steps and why no write is missed.
//
// Owner: MemoryParts. Threads: any, also in the fault handler and in handlers of messages. Allocates nothing after
// start(). A lock in the node's memory, held for some system calls, guards all changes.
#pragma once

#include <atomic>
#include <memory>

#include "base/wait.hpp"
#include "memory/array_table.hpp"
#include "memory/space/uffd.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class Sharers {
 public:
  // In the byte of a page and a rank of its home's node.
  enum Flag : uint8_t {
    tracked = 1,  // the kernel finds the rank's writes to the page
    unarmed = 2,  // the page was copied, and the rank itself has to begin to track its writes
    idle = 4,     // nobody has copied the page since the rank's latest notice of it, which all ranks have read
    again = 8,    // nodes copy the page again and again, so it stays tracked when it is written
    unread = 16,  // nobody had copied the page when it was last found written
  };

  struct Config {
    Layout layout;
    Job job;
    char* base = nullptr;
    Transport* transport = nullptr;
    const ArrayTable* arrays = nullptr;
    Userfaultfd* uffd = nullptr;  // of this rank; tracks writes, or not
  };
  // Before a barrier of all ranks, after which others register copies.
  void start(const Config& config);

  // A rank elsewhere is about to read these pages, which have one home, on `node`. In a process that reaches the memory
  // of that node.
  void add(int node, uint64_t page, uint64_t pages);

  // The following functions are for ranks of the node, about its pages. count() returns the number of registrations
  // that have changed a byte: writes of this thread before the call precede copies that later ones announce.
  uint64_t count() const;
  PageRun registration(uint64_t number) const;  // of the latest Layout::registration_slots
  uint8_t flags(uint64_t page) const { return mine_[page].load(std::memory_order_relaxed); }
  // Under the lock.
  void set_flags(uint64_t page, unsigned flags) const { mine_[page].store(static_cast<uint8_t>(flags)); }
  // Tracks this rank's writes from now on; false if the kernel refuses. Under the lock.
  bool arm_here(uint64_t page, uint64_t pages) { return arm(config_.job.rank, page, pages); }

  SignalSafeLock& lock(int node) const;

 private:
  // By this another process makes the kernel track a rank's writes; in the memory of that rank.
  struct Tracking {
    std::atomic<uint64_t> process;  // 0: it cannot
    std::atomic<uint64_t> descriptor, base;
  };
  struct Peer {
    Userfaultfd uffd;
    char* base = nullptr;
    bool tried = false;
  };

  char* reach(int rank, uint64_t offset) const { return config_.transport->local_address(rank, offset); }
  std::atomic<uint8_t>& byte(int rank, uint64_t page) const {
    return *reinterpret_cast<std::atomic<uint8_t>*>(reach(rank, config_.layout.directory(rank) + page));
  }
  std::atomic<uint64_t>& word(uint64_t offset, int keeper) const {
    return *reinterpret_cast<std::atomic<uint64_t>*>(reach(keeper, offset));
  }
  bool all_know(int node, uint64_t page, uint64_t pages, uint8_t but_not) const;
  void announce(int node, uint64_t page, uint64_t pages) const;
  void add_for(int rank, uint64_t page, uint64_t pages);
  bool arm(int rank, uint64_t page, uint64_t pages);
  bool watch(Userfaultfd& uffd, char* base, int node, uint64_t page, uint64_t pages) const;
  Userfaultfd* uffd_of(int rank, char*& base);

  Config config_;
  std::atomic<uint8_t>* mine_ = nullptr;  // the bytes of this rank
  std::unique_ptr<Peer[]> peers_;         // by rank; each under the lock of its node
};

}  // namespace hiroba
