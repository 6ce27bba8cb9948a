#include "task/flow/directory.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace hiroba {

void TaskList::add_more(const TaskRef& task) {
  if (more_.size() == more_.capacity()) {
    std::erase_if(more_, [](const TaskRef& t) { return !t.pending(); });
    size_t kept = 0;
    for (size_t i = 0; i < count_; ++i)
      if (tasks_[i].pending()) tasks_[kept++] = tasks_[i];
    count_ = kept;
    if (count_ < in_place) {
      tasks_[count_++] = task;
      return;
    }
  }
  more_.push_back(task);
}

bool TaskList::any_pending() const {
  const auto pending = [](const TaskRef& task) { return task.pending(); };
  return std::any_of(tasks_, tasks_ + count_, pending) || std::any_of(more_.begin(), more_.end(), pending);
}

void Entry::exclude(TaskAccess::Mode access, Task& task) {
  if (access != TaskAccess::commutative) return;
  if (exclusion == nullptr) exclusion = std::make_unique<Exclusion>();
  if (task.extra == nullptr) task.extra = new TaskExtra;
  std::vector<Exclusion*>& list = task.extra->exclusions;
  const auto at = std::lower_bound(list.begin(), list.end(), exclusion.get());
  if (at == list.end() || *at != exclusion.get()) list.insert(at, exclusion.get());
}

// Small at first: each task with children has a directory.
Directory::Directory() : slots_(16), mask_(slots_.size() - 1), shift_(64 - std::countr_zero(slots_.size())) {}

// ---- entries -------------------------------------------------------------------------------------------------------

Entry& Directory::add(const TaskSection& section) {
  if (entries_.size() >= sweep_at_) sweep();
  if (2 * (addresses_ + 1) > slots_.size()) rebuild(2 * slots_.size());
  ++added_;
  Entry& entry = *entries_.emplace_back(std::make_unique<Entry>(section));
  insert(entry);
  find_others(entry);
  return entry;
}

void Directory::insert(Entry& entry) {
  const void* const address = entry.section.address;
  size_t i = hash(address);
  while (slots_[i & mask_].address != nullptr && slots_[i & mask_].address != address) ++i;
  Slot& slot = slots_[i & mask_];
  if (slot.address == nullptr) ++addresses_;
  slot.address = address, entry.chain = slot.first, slot.first = &entry;
}

void Directory::rebuild(size_t slots) {
  slots_.assign(slots, {});
  mask_ = slots_.size() - 1, shift_ = 64 - std::countr_zero(slots_.size()), addresses_ = 0;
  for (const auto& entry : entries_) insert(*entry);
}

// Few tasks are under way (option task-window), so memory is bounded although each task may name its own data.
void Directory::sweep() {
  index_ = {};
  for (const auto& entry : entries_)
    entry->over = entry->is_over();  // computed once, because tasks end during the sweep
  for (const auto& entry : entries_)
    if (!entry->over) std::erase_if(entry->others, [](const Entry* other) { return other->over; });
  std::erase_if(entries_, [](const auto& entry) { return entry->over; });
  rebuild(slots_.size());
  for (const auto& entry : entries_) index_.add(*entry);
  sweep_at_ = std::max(least_swept, 2 * entries_.size());
}

void Directory::find_others(Entry& entry) {
  const auto before = [](const Entry* a, const Entry* b) {
    const TaskSection &s = a->section, &t = b->section;
    return std::tuple(s.address, s.bytes, s.dims, s.end()) < std::tuple(t.address, t.bytes, t.dims, t.end());
  };
  const auto insert_in = [&](std::vector<Entry*>& list, Entry* e) {
    list.insert(std::upper_bound(list.begin(), list.end(), e, before), e);
  };
  index_.for_each_near(entry.section, [&](Entry& other) {
    if (std::exchange(other.seen, added_) == added_ || !overlap(entry.section, other.section)) return;
    insert_in(entry.others, &other);
    insert_in(other.others, &entry);
  });
  index_.add(entry);
}

void Directory::clear() {
  if (entries_.size() > most_kept) drop();
}

void Directory::drop() {
  index_ = {};
  entries_.clear();
  slots_.assign(slots_.size(), {});
  addresses_ = 0;
}

// ---- edges ---------------------------------------------------------------------------------------------------------

void Directory::after_writers(const Entry& entry, Wiring& wiring) {
  wiring.after(entry.writer);
  if (entry.mode != TaskAccess::in) entry.users.before(wiring);
}

void Directory::after_all(const Entry& entry, Wiring& wiring) {
  wiring.after(entry.writer);
  entry.users.before(wiring);
}

// Makes one task of the users so far, whose mode differs from the next ones'; these wait for that task.
void Directory::close_group(Entry& entry, Wiring& wiring) {
  if (entry.users.size() == 1) {
    entry.writer = entry.users.first();
  } else if (!entry.users.empty()) {
    Task& join = wiring.create_join();
    Wiring edges(wiring.worker(), join, &wiring.task());
    after_all(entry, edges);
    entry.writer = TaskRef(&join);
    edges.submit();
  }
  entry.users.clear();
}

void Directory::use(Entry& entry, TaskAccess::Mode mode, Wiring& wiring) {
  if (mode == TaskAccess::out || mode == TaskAccess::inout) {
    after_all(entry, wiring);
    for (Entry* const other : entry.others) after_all(*other, wiring);
    entry.writer = TaskRef(&wiring.task());
    entry.users.clear();
    for (Entry* const other : entry.others)
      if (covers(entry.section, other->section)) other->forget_tasks();
    return;
  }
  if (entry.mode != mode && !entry.users.empty()) close_group(entry, wiring);
  entry.mode = mode;
  wiring.after(entry.writer);
  for (Entry* const other : entry.others)
    if (mode == TaskAccess::in) after_writers(*other, wiring);
    else after_all(*other, wiring);
  entry.users.add(TaskRef(&wiring.task()), wiring.draws());
}

Task& create_local(Worker& worker, Domain& domain, Directory& directory, std::span<const TaskAccess> accesses) {
  Task& task = worker.create(domain, Task::program);
  Wiring wiring(worker, task);
  for (const TaskAccess& access : accesses) {
    if (access.section.empty()) continue;
    Entry& entry = directory.find(access.key());
    entry.exclude(access.mode, task);
    directory.use(entry, access.mode, wiring);
  }
  wiring.close();
  return task;
}

}  // namespace hiroba
