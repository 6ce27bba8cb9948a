#include "task/flow/flow.hpp"

#include <utility>

#include "section/walk.hpp"
#include "task/flow/mixed.hpp"

namespace hiroba {

void Flow::start(Memory& memory, Worker& worker, Events& events) {
  world_ = &memory.collective().world(), memory_ = &memory;
  rank_ = world_->rank, several_ = world_->nranks > 1;
  tasks_.start(memory, worker, events);
  sharing_.start(memory, directory_, tasks_);
}

// ---- the data of a task, and its homes ------------------------------------------------------------------------------

Status Flow::add_parts(const TaskAccess& access) {
  if (!world_->is_shared(access.section.address)) {
    access_parts_.push_back(
        {nullptr, &access.section, &access});  // it has an entry only on the rank that runs the task
    return {};
  }
  return add_shared(access, access.key(), access.section);
}

// Tasks depend on each other by `key`; `section` is the part of it that they use.
Status Flow::add_shared(const TaskAccess& access, const TaskSection& key, const TaskSection& section) {
  Entry& entry = directory_.find(key);
  if (entry.shares == nullptr && entry.parts.empty()) {
    Array* array = nullptr;
    HIROBA_TRY(find_array(key, array));
    find_homes(entry, *array, key);
  }
  if (entry.shares != nullptr) {
    access_parts_.push_back({&entry, &section, &access});
    return {};
  }
  // If a tile is on several nodes, its sections have their own entries.
  if (&key != &section && access.tile == &key) return add_shared(access, section, section);
  for (const TaskSection& part : entry.parts) HIROBA_TRY(add_shared(access, part, part));
  return {};
}

// Finds the array that contains the whole section.
Status Flow::find_array(const TaskSection& section, Array*& array) const {
  HIROBA_TRY(memory_->arrays().find(section.address, array));
  if (section.end() <= array->data + array->distribution.bytes()) return {};
  return Status::error("a section of %zu bytes from %s on is %s", section.total(),
                       element_name(*array, section.address - array->data).c_str(),
                       memory_->arrays().explain(section.end() - 1).c_str());
}

// The entry belongs to one node, or is cut into sections that do.
void Flow::find_homes(Entry& entry, const Array& array, const TaskSection& section) const {
  const auto page_of = [&](const char* at) { return static_cast<uint64_t>(at - world_->base) >> page_shift; };
  const HomeRun* run = &array.home(page_of(section.address));
  const int node = world_->job.node_of(run->rank), home = run->rank;
  uint64_t end = run->first + run->pages;  // end of the consecutive pages on that node
  while (end < array.end_page && world_->job.node_of((++run)->rank) == node) end = run->first + run->pages;
  if (page_of(section.end() - 1) < end) {
    entry.shares = std::make_shared<Shares>(home, array.owner(section.address), world_->nranks);
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
  entry.parts = {simplified(first), simplified(second)};
}

// The first shared data that the task writes decides.
int Flow::place_of_task(int on) const {
  if (on != unsaid) return on;
  for (const AccessPart& part : access_parts_)
    if (part.entry != nullptr && writes(part.access->mode)) return part.entry->shares->owner;
  return everywhere;
}

// The first task since clear(). Old records of sections of freed arrays would hide their misuse; other arrays may have
// other homes.
void Flow::begin() {
  used_ = true;
  if (std::exchange(changes_, memory_->arrays().changes()) != changes_) directory_.drop();
}

Status Flow::create(std::span<const TaskAccess> accesses, int on, const TaskLabel* label, Task*& task) {
  if (!used_) begin();
  if (!several_) {
    const size_t known = directory_.added();
    task = &create_local(tasks_.worker(), tasks_.domain(), directory_, accesses);
    task->number = ++count_;
    if (directory_.added() == known) return {};
    for (const TaskAccess& access : accesses) {
      Array* array = nullptr;
      const bool shared = !access.section.empty() && world_->is_shared(access.section.address);
      if (shared) HIROBA_TRY(find_array(access.section, array));
    }
    return {};
  }
  access_parts_.clear();
  for (const TaskAccess& access : accesses)
    if (!access.section.empty()) HIROBA_TRY(add_parts(access));
  tasks_.next(++count_);
  if (!parts_) note(accesses, label);
  const int place = place_of_task(on);
  task = nullptr;
  if (place != everywhere && place != rank_) {
    use_shared(place, nullptr);
    return {};
  }
  task = &tasks_.worker().create(tasks_.domain(), Task::program);
  task->number = count_ | (place != everywhere ? Task::lone : 0);
  Wiring wiring(tasks_.worker(), *task);
  for (const AccessPart& part : access_parts_) {
    const TaskAccess& access = *part.access;
    Entry& entry = part.entry != nullptr ? *part.entry : directory_.find(access.key());
    entry.exclude(access.mode, *task);
    if (part.entry == nullptr) directory_.use(entry, access.mode, wiring);
  }
  for (int r = place == everywhere ? 0 : rank_; r < (place == everywhere ? world_->nranks : rank_ + 1); ++r)
    use_shared(r, r == rank_ ? &wiring : nullptr);
  wiring.close();
  return {};
}

// `rank` runs the task; `wiring` is the task's, if that is this rank. The predecessors are created before the
// successors: of sections that overlap, one must not wait for the other.
void Flow::use_shared(int rank, Wiring* wiring) {
  for (const bool after : {false, true})
    for (const AccessPart& part : access_parts_)
      if (part.entry != nullptr) sharing_.use(*part.entry, part.access->mode, *part.section, rank, wiring, after);
}

// Records the values that must be the same in all ranks.
void Flow::note(std::span<const TaskAccess> accesses, const TaskLabel* label) {
  uint64_t history = mixed(made_.empty() ? 0 : made_.back().history, accesses.size());
  for (const TaskAccess& access : accesses) {
    if (!world_->is_shared(access.section.address)) continue;
    const auto offset = static_cast<uint64_t>(access.section.address - world_->base);
    history = mixed(history, offset << 4 | access.mode), history = mixed(history, access.section.total());
  }
  made_.push_back({label, history});
}

// Ranks then number tasks differently, so events are compared by their sections only.
void Flow::allow_parts(bool parts) {
  parts_ = parts;
  count_ = 0;  // the same in all ranks
  tasks_.number_events(!parts);
}

bool Flow::uses(const TaskSection& bytes, bool to_write) const {
  bool used = false, copied = false;
  directory_.for_each_near(bytes, [&](const Entry& entry) { copied = copied || sharing_.has_copy(entry, bytes); });
  directory_.for_each_near(bytes, [&](const Entry& entry) {
    if (used || !overlap(entry.section, bytes)) return;
    const bool here =
        entry.writer.pending() || ((to_write || entry.mode != TaskAccess::in) && entry.users.any_pending());
    used = here || sharing_.uses(entry, to_write, copied);
  });
  return used;
}

void Flow::clear() {
  used_ = false;
  made_.clear();
  sharing_.clear();
  directory_.clear();
}

}  // namespace hiroba
