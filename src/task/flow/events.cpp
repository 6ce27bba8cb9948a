#include "task/flow/events.hpp"

#include <sys/mman.h>

#include <cstring>

#include "base/log.hpp"
#include "section/walk.hpp"

namespace hiroba {

namespace {

Expected& expected_of(Task& task) { return *reinterpret_cast<Expected*>(task.argument); }
static_assert(sizeof(Expected) <= Task::argument_bytes && alignof(Expected) <= 16);

}  // namespace

Status Events::listen(Transport& transport, const Job& job, Crew& crew) {
  crew_ = &crew;
  event_ = add_handler<&Events::receive_event>(transport, this);
  data_ = add_handler<&Events::receive_data>(transport, this);
  transfer_ = add_handler<&Events::receive_transfer>(transport, this);
  credit_ = add_handler<&Events::receive_credit>(transport, this);
  const auto n = static_cast<size_t>(job.nranks);
  // Reserves addresses only; events allocate memory as they come.
  const size_t bytes = n * slots * sizeof(std::atomic<uint64_t>);
  void* const events = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (events == MAP_FAILED) return Status::error("cannot map %zu bytes for events of tasks", bytes);
  peers_ = std::vector<Peer>(n);
  for (size_t r = 0; r < n; ++r) peers_[r].events = static_cast<std::atomic<uint64_t>*>(events) + r * slots;
  return {};
}

// ---- numbers -------------------------------------------------------------------------------------------------------

void Events::record(RecordedEvents* events) {
  recording_ = events;
  if (events != nullptr) events->sent.assign(peers_.size(), 0), events->expected.assign(peers_.size(), {});
}

uint64_t Events::number_to(int rank, Worker& worker) {
  if (recording_ != nullptr) return is_recorded | recording_->sent[rank]++;
  Peer& peer = peers_[rank];
  const uint64_t number = peer.sent++;
  const auto allowed = [&] { return number < peer.allowed.load(std::memory_order_relaxed); };
  if (!allowed()) worker.work_until(allowed);
  return number;
}

// A slot serves number n + slots after n. The sender sends that only after this rank has expected n + window, for which
// n had to be over.
bool Events::expect(int rank, Task& task, Worker& worker) {
  if (recording_ != nullptr) return recording_->expected[rank].push_back(&task), true;
  Peer& peer = peers_[rank];
  const uint64_t number = peer.expected++;
  if (number >= window) {
    const std::atomic<uint64_t>& before = peer.events[(number - window) % slots];
    const auto over = [&] { return before.load(std::memory_order_acquire) == 0; };
    if (!over()) worker.work_until(over);
  }
  constexpr uint64_t credit_step = window / 4;
  if (peer.expected % credit_step == 0) {
    const uint64_t allowed = peer.expected + window;
    world_->transport->send(rank, credit_, &allowed, sizeof allowed);
  }
  std::atomic<uint64_t>& slot = peer.events[number % slots];
  uint64_t nothing = 0;
  if (slot.compare_exchange_strong(nothing, reinterpret_cast<uintptr_t>(&task), std::memory_order_acq_rel)) return true;
  compare(expected_of(task).what, static_cast<uint32_t>(nothing >> 1), rank);
  slot.store(0, std::memory_order_release);
  return false;
}

void Events::compare(uint32_t expected, uint32_t what, int rank) {
  if (expected == what) return;
  end_job(1,
          "this rank and rank %d have created different tasks: an event between them is about one task here and about "
          "another one there; every rank must create the same tasks in the same order (after hiroba_task_parts: all "
          "tasks that use shared data that it uses)",
          rank);
}

void Events::receive_credit(int source, const void* payload, size_t /*bytes*/) {
  uint64_t allowed = 0;
  std::memcpy(&allowed, payload, sizeof allowed);
  std::atomic<uint64_t>& known = peers_[source].allowed;
  for (uint64_t old = known.load(); old < allowed && !known.compare_exchange_weak(old, allowed);) {
  }
}

// ---- events --------------------------------------------------------------------------------------------------------

void Events::send(int rank, uint64_t number, uint32_t what) {
  const Message message = {number, what, 0};
  world_->transport->send(rank, event_, &message, sizeof message);
}

Task* Events::recorded_task(int source, uint64_t number) const {
  const std::vector<Task*>& tasks = replayed_->expected[source];
  if (number >= tasks.size())
    end_job(1, "rank %d runs another graph of tasks than this rank; every rank must create the same tasks in it",
            source);
  return tasks[number];
}

// Reads the message; returns the task that waits for its event, or null if none does yet.
Task* Events::come(int source, const void* payload, Message& message) {
  std::memcpy(&message, payload, sizeof message);
  if ((message.number & is_recorded) != 0) {
    Task* const task = recorded_task(source, message.number & ~is_recorded);
    compare(expected_of(*task).what, message.what, source);
    return task;
  }
  std::atomic<uint64_t>& slot = peers_[source].events[message.number % slots];
  uint64_t nothing = 0;
  const uint64_t early = uint64_t{message.what} << 1 | 1;
  if (slot.compare_exchange_strong(nothing, early, std::memory_order_acq_rel)) return nullptr;
  slot.store(0, std::memory_order_release);
  Task* const task = reinterpret_cast<Task*>(nothing);
  compare(expected_of(*task).what, message.what, source);
  return task;
}

void Events::receive_event(int source, const void* payload, size_t /*bytes*/) {
  Message message;
  if (Task* const task = come(source, payload, message)) crew_->arrive(*task);
}

// ---- events with data ----------------------------------------------------------------------------------------------

// The receiver has reported before that the memory is free, so a task waits there for the data.
void Events::send(int rank, uint64_t number, uint32_t what, const TaskSection& data, Task& sender) {
  TwoSided& two_sided = *world_->transport->two_sided();
  Message message = {number, what, 0};
  const size_t bytes = data.total();
  const std::span<const char> head(reinterpret_cast<const char*>(&message), sizeof message);
  if (sizeof message + bytes <= two_sided.eager_limit()) {
    if (data.dims == 0) return two_sided.send(rank, data_, head, {data.address, bytes});
    thread_local std::vector<char> packed;
    packed.resize(bytes);
    pack(packed.data(), data);
    return two_sided.send(rank, data_, head, {packed.data(), bytes});
  }
  auto transfer = std::make_unique<Transfer>();
  transfer->task = &sender;
  const char* from = data.address;
  if (data.dims > 0) {
    transfer->packed.reset(new char[bytes]);
    pack(transfer->packed.get(), data);
    from = transfer->packed.get();
  }
  crew_->hold(sender);
  std::optional<uint32_t> id;
  while (!(id = two_sided.start_send(rank, from, bytes, transfer->completion))) world_->transport->progress();
  message.transfer = *id;
  add(std::move(transfer));
  world_->transport->send(rank, transfer_, &message, sizeof message);
}

void Events::receive_data(int source, const void* payload, size_t bytes) {
  Message message;
  Task* const task = come(source, payload, message);
  assert(task != nullptr);
  const TaskSection& to = expected_of(*task).to;
  if (bytes - sizeof message != to.total())
    end_job(1, "a task waits for %zu bytes of rank %d, which has sent %zu: the ranks have created different tasks",
            to.total(), source, bytes - sizeof message);
  unpack(to, static_cast<const char*>(payload) + sizeof message);
  crew_->arrive(*task);
}

void Events::receive_transfer(int source, const void* payload, size_t /*bytes*/) {
  Message message;
  Task* const task = come(source, payload, message);
  assert(task != nullptr);
  expected_of(*task).transfer = message.transfer, expected_of(*task).from = source;
  offered_.push(*task);
}

void Events::add(std::unique_ptr<Transfer> transfer) {
  const std::lock_guard guard(transfers_lock_);
  transfers_.push_back(std::move(transfer));
  transfers_left_.store(transfers_.size(), std::memory_order_relaxed);
}

bool Events::start_receives() {
  if (offered_.empty()) return false;
  for (Task* task = offered_.take_all(); task != nullptr;) {
    Task* const following = task->next;
    const Expected& expected = expected_of(*task);
    auto transfer = std::make_unique<Transfer>();
    transfer->task = task, transfer->receives = true, transfer->section = expected.to;
    char* to = expected.to.address;
    if (expected.to.dims > 0) transfer->packed.reset(new char[expected.to.total()]), to = transfer->packed.get();
    world_->transport->two_sided()->start_receive(expected.from, expected.transfer, to, expected.to.total(),
                                                  transfer->completion);
    add(std::move(transfer));
    task = following;
  }
  return true;
}

bool Events::finish_transfers() {
  if (!transfers_lock_.try_lock()) return false;
  std::vector<std::unique_ptr<Transfer>> over;
  std::erase_if(transfers_, [&](std::unique_ptr<Transfer>& transfer) {
    if (transfer->completion.left.load(std::memory_order_acquire) > 0) return false;
    over.push_back(std::move(transfer));
    return true;
  });
  transfers_left_.store(transfers_.size(), std::memory_order_relaxed);
  transfers_lock_.unlock();
  for (const auto& transfer : over) {
    if (transfer->receives && transfer->packed != nullptr) unpack(transfer->section, transfer->packed.get());
    if (transfer->receives) crew_->arrive(*transfer->task);
    else crew_->let_go(*transfer->task);
  }
  return !over.empty();
}

bool Events::poll() {
  bool any = world_->transport->progress();
  any = start_receives() || any;
  if (transfers_left_.load(std::memory_order_relaxed) > 0) any = finish_transfers() || any;
  return any;
}

// Sends an empty message to this rank.
void Events::interrupt() {
  const uint64_t nothing = 0;
  world_->transport->send(world_->rank, credit_, &nothing, sizeof nothing);
}

}  // namespace hiroba
