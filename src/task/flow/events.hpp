// What ranks tell each other about tasks, by number: event n from rank a to rank b is the same for both, because both
// derive it from the same sequence of tasks. An event may carry data, which then goes where the task says that waits
// for it. README.md, "Events", has the protocol.
//
// Owner: Tasks. Handlers of messages run in any thread, also in the page-fault handler: they take no lock and allocate
// nothing. send() and poll() are for any thread of the crew; everything else for the thread that creates the program's
// tasks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "collective/collective.hpp"
#include "memory/memory.hpp"
#include "task/access.hpp"
#include "task/crew/crew.hpp"

namespace hiroba {

class Events;

// The argument of a task that waits for an event.
struct Expected {
  Events* events = nullptr;
  TaskSection to;         // where its data goes, if it has any
  uint32_t what = 0;      // the sender has to say the same
  uint32_t transfer = 0;  // by rendezvous
  int from = 0;
};

// Of tasks that run again and again (graph.hpp): an event has the same number in each iteration.
struct RecordedEvents {
  std::vector<uint64_t> sent;                // how many, to each rank
  std::vector<std::vector<Task*>> expected;  // by number, from each rank
};

class Events final : public Outside {
 public:
  // Most events by which a sender may be ahead of what the receiver expects.
  static constexpr uint64_t window = 16384;

  Status listen(Transport& transport, const Job& job, Crew& crew);  // before the transport starts
  // Events may come before.
  void start(const World& world) { world_ = &world; }
  // Option check: from now on that is told of what events may order.
  void tell(Consistency& consistency) { order_ = &consistency; }
  void note_order() {
    if (order_ != nullptr) order_->note_order();
  }

  // From now on events of the program's tasks belong to these. Null: to none.
  void record(RecordedEvents* events);
  // From now on those that come may be of these. All ranks have said so before any of them sends one.
  void replay(const RecordedEvents& events) { replayed_ = &events; }

  // The number of the next event to, or from, that rank; runs other tasks while that is too far ahead.
  uint64_t number_to(int rank, Worker& worker);
  // That of the next event that expect() is about.
  uint64_t number_from(int rank) const { return peers_[static_cast<size_t>(rank)].expected; }
  // The task, whose argument is an Expected, waits for the next event from that rank. False if it has come already.
  bool expect(int rank, Task& task, Worker& worker);

  // `what` tells whether the ranks mean the same.
  void send(int rank, uint64_t number, uint32_t what);
  // The same with data, which the task that sends it holds until it has gone. Only to ranks whose memory this process
  // does not reach.
  void send(int rank, uint64_t number, uint32_t what, const TaskSection& data, Task& sender);

  bool poll() override;
  void sleep(double seconds) override { world_->transport->sleep(seconds); }
  void interrupt() override;

 private:
  struct Peer {
    std::atomic<uint64_t>* events = nullptr;  // by number: 0 nothing yet, odd what came first, else the task
    uint64_t sent = 0, expected = 0;
    std::atomic<uint64_t> allowed{window};  // events that may be sent
  };
  struct Message {
    uint64_t number;
    uint32_t what, transfer;
  };
  // A transfer by rendezvous, with the memory that it goes from or to where a section is not contiguous.
  struct Transfer {
    Completion completion;
    Task* task = nullptr;
    bool receives = false;
    std::unique_ptr<char[]> packed;
    TaskSection section;
  };
  static constexpr uint64_t slots = 2 * window;
  static constexpr uint64_t is_recorded = uint64_t{1} << 63;  // in numbers

  static void on_event(void* self, int source, const void* payload, size_t bytes);
  static void on_data(void* self, int source, const void* payload, size_t bytes);
  static void on_transfer(void* self, int source, const void* payload, size_t bytes);
  static void on_credit(void* self, int source, const void* payload, size_t bytes);
  Task* come(int source, const Message& message);
  Task* recorded_task(int source, uint64_t number) const;
  static void compare(uint32_t expected, uint32_t what, int rank);
  void add(std::unique_ptr<Transfer> transfer);
  bool start_receives();
  bool finish_transfers();

  const World* world_ = nullptr;
  Consistency* order_ = nullptr;
  Crew* crew_ = nullptr;
  int event_ = 0, data_ = 0, transfer_ = 0, credit_ = 0;
  std::vector<Peer> peers_;
  RecordedEvents* recording_ = nullptr;
  const RecordedEvents* replayed_ = nullptr;
  TaskStack offered_;  // wait for data whose sender has begun a transfer
  std::atomic<size_t> transfers_left_{0};
  SpinLock transfers_lock_;  // guards what follows
  std::vector<std::unique_ptr<Transfer>> transfers_;
};

}  // namespace hiroba
