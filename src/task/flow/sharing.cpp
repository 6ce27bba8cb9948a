#include "task/flow/sharing.hpp"

#include <algorithm>

#include "section/walk.hpp"

namespace hiroba {

bool RankSet::any_but(int rank) const {
  if (!any_) return false;
  for (size_t i = 0; i < words_.size(); ++i)
    if ((words_[i] & ~(static_cast<size_t>(rank) / 64 == i ? bit(rank) : 0)) != 0) return true;
  return false;
}

void Sharing::start(Memory& memory, Directory& directory, RuntimeTasks& tasks) {
  world_ = &memory.collective().world(), memory_ = &memory, directory_ = &directory, tasks_ = &tasks;
  rank_ = world_->rank;
  for (int r = 0; r < world_->nranks; ++r) all_reach_ = all_reach_ && world_->reaches(r);
}

Sharing::Route Sharing::route(int rank, int home) const {
  if (world_->job.node_of(rank) == world_->job.node_of(home)) return Route::same;
  return all_reach_ ? Route::pull : Route::push;
}

void Sharing::refresh(Entry& entry) const {
  if (entry.epoch == epoch_) return;
  entry.epoch = epoch_;
  entry.forget_tasks();
  entry.shares->written_by(Shares::nobody);
  entry.shares->copies.clear();
}

bool Sharing::has_copy(const Entry& entry, const TaskSection& bytes) const {
  if (entry.shares == nullptr || entry.epoch != epoch_) return false;
  const std::vector<Shares::Copy>& copies = entry.shares->copies;
  return std::any_of(copies.begin(), copies.end(), [&](const Shares::Copy& copy) {
    return copy.rank == rank_ && copy.valid && covers(copy.section, bytes) && !copy.mover.pending();
  });
}

bool Sharing::uses(const Entry& entry, bool to_write, bool copied) const {
  if (entry.shares == nullptr || entry.epoch != epoch_) return false;
  const Shares& shares = *entry.shares;
  if (route(rank_, shares.home) != Route::same) return to_write || !copied;
  const bool written = shares.writer != Shares::nobody && shares.writer != rank_ && !shares.signalled.has(rank_);
  return written || (to_write && shares.readers.any_but(rank_));
}

// ---- one access -----------------------------------------------------------------------------------------------------

void Sharing::use(Entry& entry, TaskAccess::Mode mode, const TaskSection& section, int rank, Wiring* wiring,
                  bool after) {
  if (after && !writes(mode)) return;
  const int home = entry.shares->home;
  refresh(entry);
  for (Entry* const other : entry.others)
    if (other->shares != nullptr) refresh(*other);
  const bool concerned = wiring != nullptr || is_near(home);
  if (!concerned) {
    if (after) invalidate(entry);
  } else if (route(rank, home) == Route::same) {
    if (after == writes(mode)) use_near(entry, mode, rank, wiring);
  } else if (after) {
    write_far(entry, section, rank, wiring);
  } else {
    if (wiring != nullptr && writes(mode)) after_copies(entry, section, *wiring, true);
    if (reads(mode)) read_far(entry, section, rank, wiring);
  }
}

// Handles an access of a rank that uses the same memory.
void Sharing::use_near(Entry& entry, TaskAccess::Mode mode, int rank, Wiring* wiring) {
  Shares& shares = *entry.shares;
  if (mode == TaskAccess::in) {
    for (Entry* const other : entry.others) read_near(*other, rank);
    read_near(entry, rank);
    shares.readers.add(rank);
    if (wiring != nullptr) directory_->use(entry, mode, *wiring);
    return;
  }
  arrivals_.clear();
  for (Entry* const other : entry.others) write_near(*other, rank);
  write_near(entry, rank);
  if (wiring != nullptr) {
    // A task after others that run in any order waits for all of them.
    if (!arrivals_.empty() && mode != TaskAccess::out && mode != TaskAccess::inout) join_arrivals(entry, *wiring);
    for (const TaskRef& arrival : arrivals_) wiring->after(arrival);
    directory_->use(entry, mode, *wiring);
  } else {
    entry.forget_tasks();
  }
  shares.written_by(rank);
  invalidate(entry);
  for (Entry* const other : entry.others) {
    if (other->shares == nullptr || !covers(entry.section, other->section)) continue;
    other->shares->written_by(Shares::nobody);
    if (wiring == nullptr) other->forget_tasks();
  }
}

void Sharing::join_arrivals(Entry& entry, Wiring& wiring) {
  Task& join = wiring.create_join();
  Wiring edges(wiring.worker(), join, &wiring.task());
  for (const TaskRef& arrival : std::exchange(arrivals_, {})) edges.after(arrival);
  Directory::after_all(entry, edges);
  entry.writer = TaskRef(&join), entry.users.clear();
  edges.submit();
}

// The rank will read the entry, so it must know of the last write.
void Sharing::read_near(Entry& entry, int rank) {
  if (entry.shares == nullptr) return;
  Shares& shares = *entry.shares;
  if (shares.writer == Shares::nobody || shares.writer == rank || shares.signalled.has(rank)) return;
  if (shares.writer == rank_) signal(rank, entry, false);
  if (rank == rank_) entry.writer = tasks_->expect(shares.writer, entry.section), entry.users.clear();
  shares.signalled.add(rank);
}

// The rank will write the entry, so it must know that the others have used it; and of the last write, unless those did.
void Sharing::write_near(Entry& entry, int rank) {
  if (entry.shares == nullptr) return;
  const Shares& shares = *entry.shares;
  const bool need_writer = shares.writer != Shares::nobody && shares.writer != rank && !shares.signalled.has(rank) &&
                           !shares.readers.any_but(rank);
  if (rank == rank_) {
    shares.readers.for_each([&](int reader) {
      if (reader != rank) arrivals_.push_back(tasks_->expect(reader, entry.section));
    });
    if (need_writer) arrivals_.push_back(tasks_->expect(shares.writer, entry.section));
  } else if (shares.readers.has(rank_) || (need_writer && shares.writer == rank_)) {
    signal(rank, entry, true);
  }
}

// ---- copies in other memory ----------------------------------------------------------------------------------------

void Sharing::invalidate(Entry& entry) {
  const auto all_of = [](Entry& e) {
    if (e.shares != nullptr)
      for (Shares::Copy& copy : e.shares->copies) copy.valid = false;
  };
  all_of(entry);
  for (Entry* const other : entry.others) all_of(*other);
}

Shares::Copy& Sharing::copy_of(Entry& entry, int rank, const TaskSection& section) const {
  std::vector<Shares::Copy>& copies = entry.shares->copies;
  for (Shares::Copy& copy : copies)
    if (copy.rank == rank && copy.valid && covers(copy.section, section)) return copy;
  for (Shares::Copy& copy : copies)
    if (copy.rank == rank && copy.section == section) return copy;
  copies.push_back({rank, section});
  if (rank == rank_)
    for_each_block(section, [&](char* block, size_t bytes) { memory_->replicas().open(block, bytes); });
  return copies.back();
}

// Makes the task wait for tasks that move data to this rank's copies of these bytes, and for those that use the copies.
void Sharing::after_copies(const Entry& entry, const TaskSection& section, Wiring& wiring, bool users) const {
  const auto of = [&](const Entry& e) {
    if (e.shares == nullptr) return;
    for (const Shares::Copy& copy : e.shares->copies) {
      if (copy.rank != rank_ || !overlap(copy.section, section)) continue;
      wiring.after(copy.mover);
      if (users) copy.readers.before(wiring);
    }
  };
  of(entry);
  for (const Entry* const other : entry.others) of(*other);
}

void Sharing::read_far(Entry& entry, const TaskSection& section, int rank, Wiring* wiring) {
  const int home = entry.shares->home;
  if (!copy_of(entry, rank, section).valid) {
    const Task* const reader = wiring != nullptr ? &wiring->task() : nullptr;
    const Route how = route(rank, home);
    if (how == Route::pull && rank == rank_) pull(entry, section, reader);
    else if (how == Route::push && rank == rank_) receive(entry, section, home, reader);
    else if (how == Route::push && home == rank_) send(entry, section, rank, TaskRef());
    else use_near(entry, TaskAccess::in, how == Route::pull ? rank : home, nullptr);
    copy_of(entry, rank, section).valid = true;
  }
  if (wiring == nullptr) return;
  after_copies(entry, section, *wiring, false);
  copy_of(entry, rank, section).readers.add(TaskRef(&wiring->task()), wiring->draws());
}

// The task writes this rank's copy; then the home gets it.
void Sharing::write_far(Entry& entry, const TaskSection& section, int rank, Wiring* wiring) {
  const int home = entry.shares->home;
  const Route how = route(rank, home);
  TaskRef writer, sender;
  if (wiring != nullptr) writer = TaskRef(&wiring->task());
  if (how == Route::pull && rank == rank_) sender = put_back(entry, section, writer);
  else if (how == Route::push && rank == rank_) sender = send(entry, section, home, writer);
  else if (how == Route::push && home == rank_) receive(entry, section, rank, nullptr);
  else use_near(entry, TaskAccess::out, how == Route::pull ? rank : home, nullptr);
  Shares::Copy& copy = copy_of(entry, rank, section);
  copy.valid = true;
  copy.mover = writer, copy.readers.clear();
  if (wiring != nullptr) copy.readers.add(sender);
}

// Tells that rank that tasks of this one have ended: those that have written the entry, or all that have used it.
void Sharing::signal(int rank, const Entry& entry, bool all_users) {
  Wiring wiring(tasks_->worker(), tasks_->signal(rank, entry.section));
  if (all_users) Directory::after_all(entry, wiring);
  else Directory::after_writers(entry, wiring);
  wiring.submit();
}

// ---- moving data ----------------------------------------------------------------------------------------------------

// This rank's copy is valid after the task.
void Sharing::moved_by(Entry& entry, const TaskSection& section, Task& task) const {
  Shares::Copy& copy = copy_of(entry, rank_, section);
  copy.mover = TaskRef(&task), copy.readers.clear();
}

void Sharing::pull(Entry& entry, const TaskSection& section, const Task* reader) {
  Task& task = tasks_->copying(entry.shares->home, section, true);
  Wiring wiring(tasks_->worker(), task, reader);
  use_near(entry, TaskAccess::in, rank_, &wiring);
  after_copies(entry, section, wiring, true);
  moved_by(entry, section, task);
  wiring.submit();
}

// Sends when the data is ready and the receiver has reported that nothing uses its memory.
TaskRef Sharing::send(Entry& entry, const TaskSection& section, int rank, const TaskRef& writer) {
  const TaskRef clear = tasks_->expect(rank, section);
  Task& task = tasks_->signal(rank, section, true);
  const TaskRef out(&task);
  Wiring wiring(tasks_->worker(), task);
  wiring.after(writer);
  wiring.after(clear);
  if (entry.shares->home == rank_) use_near(entry, TaskAccess::in, rank_, &wiring);
  else invalidate(entry);
  wiring.submit();
  return out;
}

// The receiver's side. The handler of messages knows the task before the other rank may send.
void Sharing::receive(Entry& entry, const TaskSection& section, int rank, const Task* reader) {
  Task& data = tasks_->receiving(rank, section);
  const TaskRef written(&data);
  Wiring clear(tasks_->worker(), tasks_->signal(rank, section), reader);
  if (entry.shares->home == rank_) {
    use_near(entry, TaskAccess::out, rank_, &clear);
    entry.writer = written;
  } else {
    after_copies(entry, section, clear, true);
    moved_by(entry, section, data);
  }
  tasks_->worker().submit(data, 1);
  clear.submit();
}

TaskRef Sharing::put_back(Entry& entry, const TaskSection& section, const TaskRef& writer) {
  Task& task = tasks_->copying(entry.shares->home, section, false);
  const TaskRef out(&task);
  Wiring wiring(tasks_->worker(), task);
  wiring.after(writer);
  use_near(entry, TaskAccess::out, rank_, &wiring);
  wiring.submit();
  return out;
}

}  // namespace hiroba
