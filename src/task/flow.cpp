#include "task/flow.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hiroba {

namespace {

// The argument of a task that tells another rank something.
struct Signal {
  Events* events;
  uint64_t number;
  int rank;
  uint32_t what;
};
// The same with data.
struct Sending {
  Signal signal;
  TaskSection data;
};
// The argument of a task that copies a section between the memory of its home and that of this rank.
struct Copying {
  TaskSection section;
  char* home;  // where this process reaches the section's first byte
};

template <typename Argument>
void set_argument(Task& task, const Argument& argument) {
  static_assert(sizeof argument <= Task::argument_bytes && std::is_trivially_copyable_v<Argument>);
  std::memcpy(task.argument, &argument, sizeof argument);
}
template <typename Argument>
Argument argument_of(void* argument) {
  Argument out;
  std::memcpy(static_cast<void*>(&out), argument, sizeof out);
  return out;
}
Task& task_of(void* argument) {
  return *reinterpret_cast<Task*>(reinterpret_cast<uintptr_t>(argument) & ~uintptr_t{sizeof(Task) - 1});
}

void run_nothing(void*, int) {}
void run_signal(void* argument, int) {
  const auto signal = argument_of<Signal>(argument);
  signal.events->send(signal.rank, signal.number, signal.what);
}
void run_sending(void* argument, int) {
  const auto sending = argument_of<Sending>(argument);
  const Signal& signal = sending.signal;
  signal.events->send(signal.rank, signal.number, signal.what, sending.data, task_of(argument));
}
template <bool home_to_here>
void run_copying(void* argument, int) {
  const auto copying = argument_of<Copying>(argument);
  copying.section.for_each_block([&](char* block) {
    char* const there = copying.home + (block - copying.section.address);
    if (home_to_here) std::memcpy(block, there, copying.section.bytes);
    else std::memcpy(there, block, copying.section.bytes);
  });
}

uint64_t mixed(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15;
  return a ^ (a >> 29);
}

}  // namespace

bool RankSet::any_but(int rank) const {
  if (!any_) return false;
  for (size_t i = 0; i < words_.size(); ++i)
    if ((words_[i] & ~(static_cast<size_t>(rank) / 64 == i ? bit(rank) : 0)) != 0) return true;
  return false;
}

void Flow::start(Memory& memory, Crew& crew, Events& events) {
  world_ = &memory.collective().world(), memory_ = &memory, crew_ = &crew, events_ = &events;
  rank_ = world_->rank, several_ = world_->nranks > 1;
  for (int r = 0; r < world_->nranks; ++r) all_reach_ = all_reach_ && world_->reaches(r);
}

// ---- which data, and where -----------------------------------------------------------------------------------------

Status Flow::add_pieces(const TaskAccess& access) {
  if (!several_ || !world_->is_shared(access.section.address)) {
    pieces_.push_back({nullptr, access});  // private memory has an entry only where the task runs
    return {};
  }
  const TaskSection& key = access.tile != nullptr ? *access.tile : access.section;
  Entry& entry = directory_.find(key);
  if (entry.shares != nullptr) {
    pieces_.push_back({&entry, access});
    return {};
  }
  if (entry.parts.empty()) {
    Array* array = nullptr;
    HIROBA_TRY(memory_->arrays().find(key.address, array));
    if (key.end() > array->data + array->distribution.bytes())
      return Status::error(format("a section of %zu bytes from %s on is %s", key.total(),
                                  element_name(*array, key.address - array->data).c_str(),
                                  memory_->arrays().explain(key.end() - 1).c_str()));
    find_homes(entry, *array, key);
    if (entry.parts.empty()) pieces_.push_back({&entry, access});
  }
  // Where a tile lies on several nodes, sections of it have entries of their own.
  if (access.tile != nullptr && !entry.parts.empty()) {
    TaskAccess alone = access;
    alone.tile = nullptr;
    return add_pieces(alone);
  }
  for (const TaskSection& part : entry.parts) {
    TaskAccess piece = access;
    piece.section = part, piece.tile = nullptr;
    HIROBA_TRY(add_pieces(piece));
  }
  return {};
}

// The entry belongs to one node, or is cut into sections that do.
void Flow::find_homes(Entry& entry, const Array& array, const TaskSection& section) const {
  const auto page_of = [&](const char* at) { return static_cast<uint64_t>(at - world_->base) >> page_shift; };
  const HomeRun* run = &array.home(page_of(section.address));
  const int node = world_->job.node_of(run->rank), home = run->rank;
  uint64_t end = run->first + run->pages;  // of the pages from the first one on that lie on that node
  while (end < array.end_page && world_->job.node_of((++run)->rank) == node) end = run->first + run->pages;
  if (page_of(section.end() - 1) < end) {
    const auto element = static_cast<uint64_t>(section.address - array.data) / array.distribution.element_bytes();
    entry.shares = std::make_shared<Shares>(home, array.distribution.owner(element), world_->nranks);
    return;
  }
  TaskSection first = section, second = section;
  if (section.dims > 0) {
    first.count[0] = section.count[0] / 2, second.count[0] -= first.count[0];
    second.address += first.count[0] * section.stride[0];
  } else {
    first.bytes = static_cast<size_t>(world_->base + (end << page_shift) - section.address);
    second.address += first.bytes, second.bytes -= first.bytes;
  }
  entry.parts = {first.simplified(), second.simplified()};
}

// The first shared data that it writes decides.
int Flow::place_of_task(int on) const {
  if (on != unsaid) return on;
  for (const Piece& piece : pieces_)
    if (piece.entry != nullptr && piece.access.writes()) return piece.entry->shares->owner;
  return everywhere;
}

Flow::Reach Flow::reach(int rank, int home) const {
  if (world_->job.node_of(rank) == world_->job.node_of(home)) return Reach::same;
  return all_reach_ ? Reach::pull : Reach::push;
}

Status Flow::create(std::span<const TaskAccess> accesses, int on, const TaskLabel* label, Task*& task) {
  pieces_.clear();
  for (const TaskAccess& access : accesses)
    if (!access.section.empty()) HIROBA_TRY(add_pieces(access));
  ++tasks_;
  if (several_) note(accesses, label);
  const int place = several_ ? place_of_task(on) : everywhere;
  task = nullptr;
  creating_ = nullptr;
  used_ = true;
  if (place != everywhere && place != rank_) {
    use_shared(place, nullptr);
    return {};
  }
  task = &crew_->worker(0).create(domain_, Task::program);
  task->number = tasks_, task->label = label;
  creating_ = task;
  Wiring wiring(crew_->worker(0), *task);
  for (const Piece& piece : pieces_) {
    const TaskAccess& access = piece.access;
    Entry& entry =
        piece.entry != nullptr ? *piece.entry : directory_.find(access.tile != nullptr ? *access.tile : access.section);
    entry.exclude(access.mode, *task);
    if (piece.entry == nullptr) directory_.use(entry, access.mode, wiring);
  }
  for (int r = place == everywhere ? 0 : rank_; r < (place == everywhere ? world_->nranks : rank_ + 1); ++r)
    use_shared(r, r == rank_ ? &wiring : nullptr);
  wiring.close();
  return {};
}

// `rank` runs the task; `wiring` is the task's, if that is this rank. First all that the task waits for, then what
// waits for the task: of sections that overlap, the one must not wait for the other.
void Flow::use_shared(int rank, Wiring* wiring) {
  for (const bool writes : {false, true})
    for (const Piece& piece : pieces_)
      if (piece.entry != nullptr) use(piece, rank, wiring, writes);
}

// What must be the same in all ranks.
void Flow::note(std::span<const TaskAccess> accesses, const TaskLabel* label) {
  uint64_t history = mixed(made_.empty() ? 0 : made_.back().history, accesses.size());
  for (const TaskAccess& access : accesses) {
    if (!world_->is_shared(access.section.address)) continue;
    const auto offset = static_cast<uint64_t>(access.section.address - world_->base);
    history = mixed(history, offset << 4 | access.mode), history = mixed(history, access.section.total());
  }
  made_.push_back({label, history});
}

void Flow::clear() {
  ++epoch_;
  used_ = false;
  made_.clear();
  directory_.clear();
}

void Flow::renew(Entry& entry) const {
  if (entry.epoch == epoch_) return;
  entry.epoch = epoch_;
  entry.writer = TaskRef(), entry.users.clear();
  Shares& shares = *entry.shares;
  shares.writer = -1;
  shares.signalled.clear(), shares.readers.clear(), shares.copies.clear();
}

// ---- what one access means -----------------------------------------------------------------------------------------

void Flow::use(const Piece& piece, int rank, Wiring* wiring, bool writes) {
  Entry& entry = *piece.entry;
  const int home = entry.shares->home;
  renew(entry);
  for (Entry* const other : entry.others)
    if (other->shares != nullptr) renew(*other);
  const bool concerned = wiring != nullptr || is_near(home);
  if (!concerned) {
    if (writes && piece.access.writes()) invalidate(entry);
  } else if (reach(rank, home) == Reach::same) {
    if (writes == piece.access.writes()) use_near(entry, piece.access.mode, rank, wiring);
  } else if (!writes) {
    if (wiring != nullptr && piece.access.writes()) after_copies(entry, piece.access.section, *wiring);
    if (piece.access.reads()) read_far(piece, rank, wiring);
  } else {
    if (piece.access.writes()) write_far(piece, rank, wiring);
  }
}

// Ranks that use the same memory.
void Flow::use_near(Entry& entry, TaskAccess::Mode mode, int rank, Wiring* wiring) {
  Shares& shares = *entry.shares;
  if (mode == TaskAccess::in) {
    for (Entry* const other : entry.others) read_near(*other, rank);
    read_near(entry, rank);
    shares.readers.add(rank);
    if (wiring != nullptr) directory_.use(entry, mode, *wiring);
    return;
  }
  arrivals_.clear();
  for (Entry* const other : entry.others) write_near(*other, rank);
  write_near(entry, rank);
  if (wiring != nullptr) {
    // What comes after others in any order: all of it after what others have done.
    if (!arrivals_.empty() && mode != TaskAccess::out && mode != TaskAccess::inout) join_arrivals(entry, *wiring);
    for (const TaskRef& arrival : arrivals_) wiring->after(arrival);
    directory_.use(entry, mode, *wiring);
  } else {
    entry.writer = TaskRef(), entry.users.clear();
  }
  shares.writer = rank;
  shares.signalled.clear(), shares.readers.clear();
  invalidate(entry);
  for (Entry* const other : entry.others) {
    if (other->shares == nullptr || !covers(entry.section, other->section)) continue;
    other->shares->writer = -1, other->shares->signalled.clear(), other->shares->readers.clear();
    if (wiring == nullptr) other->writer = TaskRef(), other->users.clear();
  }
}

void Flow::join_arrivals(Entry& entry, Wiring& wiring) {
  Task& join = wiring.create(Task::inner);
  join.body = run_nothing;
  Wiring edges(wiring.worker(), join, &wiring.task());
  for (const TaskRef& arrival : std::exchange(arrivals_, {})) edges.after(arrival);
  Directory::after_all(entry, edges);
  entry.writer = TaskRef(&join), entry.users.clear();
  edges.submit();
}

// The rank will read it: it has to know of the last write.
void Flow::read_near(Entry& entry, int rank) {
  if (entry.shares == nullptr) return;
  Shares& shares = *entry.shares;
  if (shares.writer < 0 || shares.writer == rank || shares.signalled.has(rank)) return;
  if (shares.writer == rank_) signal(rank, entry, false);
  if (rank == rank_) entry.writer = expect(shares.writer, entry.section), entry.users.clear();
  shares.signalled.add(rank);
}

// The rank will write it: it has to know that the others have used it; and of the last write, unless those knew.
void Flow::write_near(Entry& entry, int rank) {
  if (entry.shares == nullptr) return;
  const Shares& shares = *entry.shares;
  const bool need_writer =
      shares.writer >= 0 && shares.writer != rank && !shares.signalled.has(rank) && !shares.readers.any_but(rank);
  if (rank == rank_) {
    shares.readers.for_each([&](int reader) {
      if (reader != rank) arrivals_.push_back(expect(reader, entry.section));
    });
    if (need_writer) arrivals_.push_back(expect(shares.writer, entry.section));
  } else if (shares.readers.has(rank_) || (need_writer && shares.writer == rank_)) {
    signal(rank, entry, true);
  }
}

// ---- copies in other memory ----------------------------------------------------------------------------------------

void Flow::invalidate(Entry& entry) {
  const auto all_of = [](Entry& e) {
    if (e.shares != nullptr)
      for (Shares::Copy& copy : e.shares->copies) copy.valid = false;
  };
  all_of(entry);
  for (Entry* const other : entry.others) all_of(*other);
}

Shares::Copy& Flow::copy_of(Entry& entry, int rank, const TaskSection& section) const {
  std::vector<Shares::Copy>& copies = entry.shares->copies;
  for (Shares::Copy& copy : copies)
    if (copy.rank == rank && copy.valid && covers(copy.section, section)) return copy;
  for (Shares::Copy& copy : copies)
    if (copy.rank == rank && copy.section == section) return copy;
  copies.push_back({rank, section});
  if (rank == rank_) section.for_each_block([&](char* block) { memory_->replicas().open(block, section.bytes); });
  return copies.back();
}

// All tasks of this rank that use its copies of these bytes.
void Flow::after_copies(const Entry& entry, const TaskSection& section, Wiring& wiring) const {
  const auto of = [&](const Entry& e) {
    if (e.shares == nullptr) return;
    for (const Shares::Copy& copy : e.shares->copies) {
      if (copy.rank != rank_ || !overlap(copy.section, section)) continue;
      wiring.after(copy.mover);
      copy.readers.before(wiring);
    }
  };
  of(entry);
  for (const Entry* const other : entry.others) of(*other);
}

void Flow::read_far(const Piece& piece, int rank, Wiring* wiring) {
  Entry& entry = *piece.entry;
  const int home = entry.shares->home;
  if (!copy_of(entry, rank, piece.access.section).valid) {
    const Reach how = reach(rank, home);
    if (how == Reach::pull && rank == rank_) pull(piece);
    else if (how == Reach::push && rank == rank_) receive(piece);
    else if (how == Reach::push && home == rank_) push(piece, rank);
    else use_near(entry, TaskAccess::in, how == Reach::pull ? rank : home, nullptr);
    copy_of(entry, rank, piece.access.section).valid = true;
  }
  if (wiring == nullptr) return;
  Shares::Copy& copy = copy_of(entry, rank, piece.access.section);
  wiring->after(copy.mover);
  copy.readers.add(TaskRef(&wiring->task()));
}

// The task writes this rank's copy; then the home gets it.
void Flow::write_far(const Piece& piece, int rank, Wiring* wiring) {
  Entry& entry = *piece.entry;
  const TaskSection& section = piece.access.section;
  const int home = entry.shares->home;
  const Reach how = reach(rank, home);
  TaskRef writer, sender;
  if (wiring != nullptr) writer = TaskRef(&wiring->task());
  if (how == Reach::pull && rank == rank_) sender = put_back(piece, writer);
  else if (how == Reach::push && rank == rank_) sender = send_back(piece, writer);
  else if (how == Reach::push && home == rank_) receive_back(piece, rank);
  else use_near(entry, TaskAccess::out, how == Reach::pull ? rank : home, nullptr);
  Shares::Copy& copy = copy_of(entry, rank, section);
  copy.valid = true;
  copy.mover = writer, copy.readers.clear();
  if (wiring != nullptr) copy.readers.add(sender);
}

// ---- tasks of the runtime ------------------------------------------------------------------------------------------

Task& Flow::make(Task::Kind kind, Task::Body body) {
  Task& task = crew_->worker(0).create(domain_, kind);
  task.body = body;
  task.number = tasks_;
  return task;
}

uint32_t Flow::what(const TaskSection& section) const {
  const auto address = static_cast<uint64_t>(section.address - world_->base);
  return static_cast<uint32_t>(mixed(address, tasks_) & 0x7fffffff);
}

// A task that ends when that rank's next event has come.
TaskRef Flow::expect(int rank, const TaskSection& section) {
  Task& task = make(Task::inner, run_nothing);
  Expected expected;
  expected.what = what(section);
  set_argument(task, expected);
  const TaskRef out(&task);
  crew_->worker(0).submit(task, events_->expect(rank, task, crew_->worker(0)) ? 1 : 0);
  return out;
}

// Tells that rank that tasks of this one have ended: those that have written it, or all that have used it.
void Flow::signal(int rank, const Entry& entry, bool all_users) {
  Task& task = make_signal(rank, entry.section);
  Wiring wiring(crew_->worker(0), task);
  if (all_users) Directory::after_all(entry, wiring);
  else Directory::after_writers(entry, wiring);
  wiring.submit();
}

char* Flow::at_home(const Entry& entry, const TaskSection& section) const {
  return world_->reach(entry.shares->home, static_cast<uint64_t>(section.address - world_->base));
}

// This rank's copy is valid after the task.
void Flow::moved_by(Entry& entry, const TaskSection& section, Task& task) const {
  Shares::Copy& copy = copy_of(entry, rank_, section);
  copy.mover = TaskRef(&task), copy.readers.clear();
}

void Flow::pull(const Piece& piece) {
  Entry& entry = *piece.entry;
  const TaskSection& section = piece.access.section;
  Task& task = make(Task::move, run_copying<true>);
  set_argument(task, Copying{section, at_home(entry, section)});
  Wiring wiring(crew_->worker(0), task, creating_);
  use_near(entry, TaskAccess::in, rank_, &wiring);
  after_copies(entry, section, wiring);
  moved_by(entry, section, task);
  wiring.submit();
}

// The home's side: it sends when the data is there, and the receiver has said that nothing uses its copy.
void Flow::push(const Piece& piece, int rank) {
  Entry& entry = *piece.entry;
  const TaskSection& section = piece.access.section;
  const TaskRef clear = expect(rank, section);
  const uint64_t number = events_->number_to(rank, crew_->worker(0));
  Task& task = make(Task::move, run_sending);
  set_argument(task, Sending{{events_, number, rank, what(section)}, section});
  Wiring wiring(crew_->worker(0), task);
  wiring.after(clear);
  use_near(entry, TaskAccess::in, rank_, &wiring);
  wiring.submit();
}

// The other side. The task is known to the handler of messages before the home may send.
void Flow::receive(const Piece& piece) {
  Entry& entry = *piece.entry;
  const TaskSection& section = piece.access.section;
  const int home = entry.shares->home;
  Task& data = make_receiving(home, section);
  Task& clear = make_signal(home, section);
  Wiring wiring(crew_->worker(0), clear, creating_);
  after_copies(entry, section, wiring);
  moved_by(entry, section, data);
  crew_->worker(0).submit(data, 1);
  wiring.submit();
}

TaskRef Flow::put_back(const Piece& piece, const TaskRef& writer) {
  Entry& entry = *piece.entry;
  const TaskSection& section = piece.access.section;
  Task& task = make(Task::move, run_copying<false>);
  set_argument(task, Copying{section, at_home(entry, section)});
  const TaskRef out(&task);
  Wiring wiring(crew_->worker(0), task);
  wiring.after(writer);
  use_near(entry, TaskAccess::out, rank_, &wiring);
  wiring.submit();
  return out;
}

TaskRef Flow::send_back(const Piece& piece, const TaskRef& writer) {
  Entry& entry = *piece.entry;
  const TaskSection& section = piece.access.section;
  const int home = entry.shares->home;
  const TaskRef clear = expect(home, section);
  const uint64_t number = events_->number_to(home, crew_->worker(0));
  Task& task = make(Task::move, run_sending);
  set_argument(task, Sending{{events_, number, home, what(section)}, section});
  const TaskRef out(&task);
  Wiring wiring(crew_->worker(0), task);
  wiring.after(writer);
  wiring.after(clear);
  invalidate(entry);
  wiring.submit();
  return out;
}

void Flow::receive_back(const Piece& piece, int rank) {
  Entry& entry = *piece.entry;
  const TaskSection& section = piece.access.section;
  Task& data = make_receiving(rank, section);
  const TaskRef written(&data);
  Task& clear = make_signal(rank, section);
  Wiring wiring(crew_->worker(0), clear);
  use_near(entry, TaskAccess::out, rank_, &wiring);
  entry.writer = written;
  crew_->worker(0).submit(data, 1);
  wiring.submit();
}

// Not yet submitted: it waits for one event.
Task& Flow::make_receiving(int rank, const TaskSection& section) {
  Task& task = make(Task::inner, run_nothing);
  Expected expected;
  expected.to = section, expected.what = what(section);
  set_argument(task, expected);
  (void)events_->expect(rank, task, crew_->worker(0));  // it has not come: it needs what follows
  return task;
}

Task& Flow::make_signal(int rank, const TaskSection& section) {
  const uint64_t number = events_->number_to(rank, crew_->worker(0));
  Task& task = make(Task::inner, run_signal);
  set_argument(task, Signal{events_, number, rank, what(section)});
  return task;
}

}  // namespace hiroba
