// Numbered events between ranks about tasks: event n from rank a to rank b is the same for both, because both derive it
// from the same sequence of tasks. An event may carry data, which goes to the address that the waiting task gives.
// README.md, "Events", has the protocol.
//
// Owner: Tasks. Message handlers run in any thread, also in the page-fault handler: they take no lock and allocate
// nothing. send() and poll() are for any thread of the crew; everything else is for the thread that creates the
// program's tasks.
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
  TaskSection to;         // the destination of its data, if it has any
  uint32_t what = 0;      // the sender must send the same value
  uint32_t transfer = 0;  // the number of the rendezvous
  int from = 0;
};

// Events of tasks that run repeatedly (graph.hpp): an event has the same number in each iteration.
struct RecordedEvents {
  std::vector<uint64_t> sent;                // the number of events to each rank
  std::vector<std::vector<Task*>> expected;  // by number, from each rank
};

class Events final : public Outside {
 public:
  // A sender may be ahead of the receiver's expectations by at most this number of events.
  static constexpr uint64_t window = 16384;

  Status listen(Transport& transport, const Job& job, Crew& crew);  // before the transport starts
  // Events may come before this call.
  void start(const World& world) { world_ = &world; }
  // Option check: reports the order that events make to `consistency` from now on.
  void tell(Consistency& consistency) { order_ = &consistency; }
  void note_order() {
    if (order_ != nullptr) order_->note_order();
  }

  // From now on the events of the program's tasks belong to `events`; null: to none.
  void record(RecordedEvents* events);
  // From now on received events may belong to `events`. All ranks have made this call before any of them sends one.
  void replay(const RecordedEvents& events) { replayed_ = &events; }

  // Returns the number of the next event to that rank; runs other tasks while that is too far ahead.
  uint64_t number_to(int rank, Worker& worker);
  // Returns the number of the next event that expect() handles.
  uint64_t number_from(int rank) const { return peers_[rank].expected; }
  // Makes the task, whose argument is an Expected, wait for the next event from that rank. Returns false if that has
  // arrived already.
  bool expect(int rank, Task& task, Worker& worker);

  // `what` is compared with the receiver's value.
  void send(int rank, uint64_t number, uint32_t what);
  // The same with data; the sending task does not end before the data is sent. Requires a rank whose memory this
  // process does not reach.
  void send(int rank, uint64_t number, uint32_t what, const TaskSection& data, Task& sender);

  bool poll() override;
  void sleep(double seconds) override { world_->transport->sleep(seconds); }
  void interrupt() override;

 private:
  struct Peer {
    std::atomic<uint64_t>* events = nullptr;  // by number: 0: nothing yet; odd: the event came first; else the task
    uint64_t sent = 0, expected = 0;
    std::atomic<uint64_t> allowed{window};  // events that may be sent
  };
  struct Message {
    uint64_t number;
    uint32_t what, transfer;
  };
  // A transfer by rendezvous, with a buffer for a section that is not contiguous.
  struct Transfer {
    Completion completion;
    Task* task = nullptr;
    bool receives = false;
    std::unique_ptr<char[]> packed;
    TaskSection section;
  };
  static constexpr uint64_t slots = 2 * window;
  static constexpr uint64_t is_recorded = uint64_t{1} << 63;  // flag in numbers

  void receive_event(int source, const void* payload, size_t bytes);
  void receive_data(int source, const void* payload, size_t bytes);
  void receive_transfer(int source, const void* payload, size_t bytes);
  void receive_credit(int source, const void* payload, size_t bytes);
  Task* come(int source, const void* payload, Message& message);
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
  TaskStack offered_;  // tasks that wait for data whose sender has begun a transfer
  std::atomic<size_t> transfers_left_{0};
  SpinLock transfers_lock_;  // guards the members below
  std::vector<std::unique_ptr<Transfer>> transfers_;
};

}  // namespace hiroba
