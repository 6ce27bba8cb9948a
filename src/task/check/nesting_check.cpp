#include "task/check/nesting_check.hpp"

#include <algorithm>

#include "section/walk.hpp"
#include "task/crew/crew.hpp"

namespace hiroba {

namespace {

bool conflict(TaskAccess::Mode a, TaskAccess::Mode b) { return writes(a) || writes(b); }

// Returns the end of the section's run of bytes that contains this byte; null if none does.
const char* end_of_run(const TaskSection& section, const char* byte) {
  if (byte < section.address || byte >= section.end()) return nullptr;
  const char* end = nullptr;
  for_each_block(section, [&](const char* block, size_t bytes) {
    if (block <= byte && byte < block + bytes) end = block + bytes;
  });
  return end;
}

// Returns true if these accesses cover the section; with `to_write` only accesses that write count.
bool have_all(std::span<const TaskAccess> accesses, const TaskSection& section, bool to_write) {
  const auto counts = [&](const TaskAccess& a) { return !to_write || writes(a.mode); };
  for (const TaskAccess& a : accesses)
    if (counts(a) && covers(a.section, section)) return true;
  bool all = true;
  for_each_block(section, [&](const char* block, size_t bytes) {
    for (const char *at = block, *const end = block + bytes; all && at < end;) {
      const char* next = nullptr;
      for (const TaskAccess& a : accesses)
        if (counts(a)) next = std::max(next, end_of_run(a.section, at));
      all = next != nullptr, at = next;
    }
  });
  return all;
}

const char* word(TaskAccess::Mode mode) { return writes(mode) ? "writes" : "reads"; }

}  // namespace

std::string NestingCheck::text_of(const TaskSection& section) const {
  Array* array = nullptr;
  if (!memory_->arrays().find(section.address, array).ok())
    return format("%zu bytes of private memory", section.total());
  return format("%zu bytes from %s on", section.total(), element_name(*array, section.address - array->data).c_str());
}

Status NestingCheck::refuse(const Use& child, const Task& parent, const std::string& why) const {
  return Status::error(
      "check: this task %s %s and is created in %s, which %s; name it in the parent, too, with %s, or nothing orders "
      "the child and what other tasks do with it",
      word(child.mode), text_of(child.section).c_str(), name_of(parent).c_str(), why.c_str(),
      writes(child.mode) ? "out or inout" : "in");
}

// A use that covers another one, whose task has ended, replaces it.
void NestingCheck::Sequence::add(const Use& use) {
  const char* const begin = use.section.address;
  longest = std::max(longest, static_cast<size_t>(use.section.end() - begin));
  const auto [first, last] = uses.equal_range(begin);
  for (auto i = first; i != last;) {
    const Use& old = i->second;
    const bool said = old.section == use.section && (writes(use.mode) || !writes(old.mode)) && !old.task.pending();
    i = said ? uses.erase(i) : std::next(i);
  }
  uses.emplace(begin, use);
}

void NestingCheck::begin(const Domain& domain) {
  const auto found = sequences_.find(&domain);
  if (found != sequences_.end()) sequences_.erase(found);
}

Status NestingCheck::created(const Domain& domain, const Task* task, std::span<const TaskAccess> accesses,
                             const TaskLabel* label) {
  Named named = {{}, label, &domain, ++order_};
  for (const TaskAccess& access : accesses) {
    if (access.section.empty()) continue;
    named.accesses.push_back(access);
    named.accesses.back().section = access.key(), named.accesses.back().tile = nullptr;
  }
  for (const TaskAccess& access : named.accesses) {
    const Use use = {access.section, access.mode, label, task != nullptr ? TaskRef(const_cast<Task*>(task)) : TaskRef(),
                     named.order};
    if (domain.parent != nullptr) HIROBA_TRY(check_child(use, *domain.parent));
    HIROBA_TRY(check_strays(sequences_[&domain], use));
  }
  for (const TaskAccess& access : named.accesses)
    sequences_[&domain].add({access.section, access.mode, label,
                             task != nullptr ? TaskRef(const_cast<Task*>(task)) : TaskRef(), named.order});
  if (task != nullptr) named_[task] = std::move(named);
  return {};
}

// Returns true if `before` ended before the task of this order. For a task of another rank that is known if this rank
// has read its results.
bool NestingCheck::Sequence::is_over(const Use& before, const Use& use, uint64_t order) const {
  if (before.order > order) return false;
  if (before.task.task != nullptr) return !before.task.pending();
  return !writes(use.mode) && std::any_of(uses.begin(), uses.end(), [&](const auto& each) {
    const Use& read = each.second;
    return read.order > before.order && read.order < order && read.task.task != nullptr && !read.task.pending() &&
           covers(read.section, use.section);
  });
}

// The parent's own parent may name data that the parent does not, and so on.
Status NestingCheck::check_child(const Use& use, const Task& parent) {
  for (const Task* task = &parent; task != nullptr; task = task->domain->parent) {
    const auto found = named_.find(task);
    if (found == named_.end()) return {};
    const std::vector<TaskAccess>& names = found->second.accesses;
    if (have_all(names, use.section, writes(use.mode))) return {};
    if (have_all(names, use.section, false)) return refuse(use, *task, "names it only to read");
    if (std::any_of(names.begin(), names.end(), [&](const TaskAccess& a) { return overlap(a.section, use.section); }))
      return refuse(use, *task, "names only a part of it");
    HIROBA_TRY(check_sequence(sequences_[found->second.domain], use, *task));
  }
  return {};
}

// Checks tasks of the parent's sequence: those after the parent, and those before it that have not ended or run on
// other ranks.
Status NestingCheck::check_sequence(Sequence& sequence, const Use& use, const Task& parent) {
  const uint64_t order = named_.find(&parent)->second.order;
  const char* const begin = use.section.address;
  const char* const from = reinterpret_cast<uintptr_t>(begin) > sequence.longest ? begin - sequence.longest : nullptr;
  for (auto i = sequence.uses.lower_bound(from); i != sequence.uses.end() && i->first < use.section.end(); ++i) {
    const Use& other = i->second;
    if (!sequence.is_over(other, use, order) && conflict(use.mode, other.mode) && overlap(use.section, other.section))
      return refuse(use, parent,
                    format("does not name it, and task %s (%s) %s it", other.label->name, other.label->place,
                           word(other.mode)));
  }
  std::erase_if(sequence.strays, [](const Stray& stray) { return !stray.parent.pending(); });
  const bool known = std::any_of(sequence.strays.begin(), sequence.strays.end(), [&](const Stray& stray) {
    return stray.use.section == use.section && stray.use.mode == use.mode && stray.parent.task == &parent;
  });
  if (!known) sequence.strays.push_back({use, TaskRef(const_cast<Task*>(&parent))});
  return {};
}

// Checks a task that is created while the parent of a stray child is under way.
Status NestingCheck::check_strays(Sequence& sequence, const Use& use) const {
  for (const Stray& stray : sequence.strays)
    if (stray.parent.pending() && conflict(use.mode, stray.use.mode) && overlap(use.section, stray.use.section))
      return Status::error(
          "check: this task %s %s, which task %s (%s) %s and its parent %s does not name; name it in the parent, too, "
          "or nothing orders the two tasks",
          word(use.mode), text_of(use.section).c_str(), stray.use.label->name, stray.use.label->place,
          word(stray.use.mode), name_of(*stray.parent.task).c_str());
  return {};
}

}  // namespace hiroba
