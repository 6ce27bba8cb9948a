#include "task/flow/reductions.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "task/crew/crew.hpp"

namespace hiroba {

namespace {

constexpr TaskLabel label = {"reduce", "a reduction of tasks"};

bool is_reduction(const TaskAccess& access) { return access.mode == TaskAccess::reduction; }

bool same(const TaskAccess& a, const TaskAccess& b) {
  return a.mode == b.mode && a.op == b.op && a.type == b.type && a.section == b.section;
}

}  // namespace

// ---- the parts -----------------------------------------------------------------------------------------------------

TaskAccess ReductionParts::ordered(TaskAccess::Mode mode) {
  TaskAccess access;
  access.mode = mode, access.section = TaskSection(this, 1);
  return access;
}

void ReductionParts::allocate(int threads) {
  if (parts_ != nullptr) return;
  constexpr size_t line = 64;
  threads_ = threads, stride_ = (target_.section.bytes + line - 1) / line * line;
  const size_t bytes = stride_ * static_cast<size_t>(threads);
  parts_.reset(static_cast<char*>(::operator new[](bytes, std::align_val_t{line})));
  reset();
}

void ReductionParts::reset() {
  const auto size = static_cast<int64_t>(bytes_of(target_.type));
  char neutral[sizeof(__complex__ long double)];
  store_neutral(target_.type, reduction_op[target_.op], neutral);
  const auto count = static_cast<int64_t>(target_.section.bytes) / size;
  for (int t = 0; t < threads_; ++t) convert(part(t), target_.type, size, neutral, target_.type, 0, count);
}

char* ReductionParts::moved(int thread, const char* address) const {
  return part(thread) + (address - target_.section.address);
}

void ReductionParts::combine() {
  Combine combine;
  (void)Combine::make(target_.type, reduction_op[target_.op], combine);
  const auto count = static_cast<int64_t>(target_.section.bytes / combine.element());
  for (int t = 0; t < threads_; ++t) combine(target_.section.address, part(t), count);
  reset();
}

char* part_of_reduction(int access, const char* address) {
  const Worker* const worker = Crew::here();
  const Task* const task = worker == nullptr ? nullptr : worker->current();
  if (task == nullptr || task->extra == nullptr) return nullptr;
  for (const TaskExtra::Part& part : task->extra->parts)
    if (part.access == access) return part.of->moved(worker->index(), address);
  return nullptr;
}

// ---- the tasks -----------------------------------------------------------------------------------------------------

bool Reductions::concern(std::span<const TaskAccess> accesses) const {
  return !open_.empty() || std::any_of(accesses.begin(), accesses.end(), is_reduction);
}

Status Reductions::create(std::span<const TaskAccess> accesses, const Tasks::Spec& spec, void*& argument) {
  HIROBA_TRY(combine([&](const TaskAccess& open) {
    return std::any_of(accesses.begin(), accesses.end(), [&](const TaskAccess& access) {
      return !access.section.empty() && !same(open, access) && overlap(open.section, access.section);
    });
  }));
  Tasks::Spec placed = spec;
  HIROBA_TRY(place(accesses, placed.on));
  std::vector<TaskAccess> ordered(accesses.begin(), accesses.end());
  std::vector<TaskExtra::Part> parts;
  for (size_t i = 0; i < ordered.size(); ++i) {
    if (!is_reduction(ordered[i])) continue;
    Open& reduction = open(ordered[i]);
    const int rank = sequence_.ranks > 1 && is_shared(ordered[i]) ? placed.on : Tasks::anywhere;
    const auto at = std::lower_bound(reduction.ranks.begin(), reduction.ranks.end(), rank);
    if (at == reduction.ranks.end() || *at != rank) reduction.ranks.insert(at, rank);
    ordered[i] = reduction.parts->ordered(TaskAccess::concurrent);
    parts.push_back({static_cast<int>(i), reduction.parts});
  }
  HIROBA_TRY(sequence_.create(ordered, placed, argument));
  if (argument == nullptr || parts.empty()) return {};
  for (const TaskExtra::Part& part : parts) part.of->allocate(sequence_.threads);
  Task& task = Task::of(argument);
  if (task.extra == nullptr) task.extra = new TaskExtra;
  task.extra->parts = std::move(parts);
  return {};
}

Reductions::Open& Reductions::open(const TaskAccess& access) {
  for (Open& open : open_)
    if (same(open.access, access)) return open;
  const size_t number = opened_++;
  const bool again = recording_ && number < recorded_.size() && same(recorded_[number].access, access);
  open_.push_back(again ? recorded_[number] : Open{access, std::make_shared<ReductionParts>(access), {}});
  if (recording_ && !again) recorded_.push_back(open_.back());
  return open_.back();
}

bool Reductions::is_shared(const TaskAccess& access) const {
  return sequence_.memory->collective().world().is_shared(access.section.address);
}

Status Reductions::owner(const TaskAccess& access, int& rank) const {
  Array* array = nullptr;
  HIROBA_TRY(sequence_.memory->arrays().find(access.section.address, array));
  rank = array->owner(access.section.address);
  return {};
}

// Chooses the rank that runs a task: the usual one, if it writes shared data; else the home of the first shared data
// that it reads, so that all ranks take part; else that of its reductions.
Status Reductions::place(std::span<const TaskAccess> accesses, int& on) const {
  if (sequence_.ranks == 1) return {};
  const TaskAccess *write = nullptr, *read = nullptr, *reduced = nullptr, *own = nullptr;
  for (const TaskAccess& access : accesses) {
    if (access.section.empty()) continue;
    const TaskAccess*& first =
        is_reduction(access) ? (is_shared(access) ? reduced : own) : (writes(access.mode) ? write : read);
    if (first == nullptr && (is_reduction(access) || is_shared(access))) first = &access;
  }
  if (on == Tasks::anywhere && (write != nullptr || reduced != nullptr))
    HIROBA_TRY(owner(write != nullptr ? *write : read != nullptr ? *read : *reduced, on));
  if (own == nullptr || on == Tasks::anywhere) return {};
  return Status::error(
      "a task on rank %d alone, with a reduction of private memory, of which each rank has its own; reduce a variable "
      "in shared memory, which is one for all ranks",
      on);
}

Status Reductions::combine() {
  return combine([](const TaskAccess&) { return true; });
}

template <typename Which>
Status Reductions::combine(const Which& which) {
  const auto stay = std::stable_partition(open_.begin(), open_.end(), [&](const Open& o) { return !which(o.access); });
  const std::vector<Open> ended(std::make_move_iterator(stay), std::make_move_iterator(open_.end()));
  open_.erase(stay, open_.end());
  for (const Open& open : ended) HIROBA_TRY(create_combining(open));
  return {};
}

Status Reductions::create_combining(const Open& open) {
  TaskAccess target = open.access;
  target.mode = TaskAccess::inout;
  const TaskAccess accesses[] = {open.parts->ordered(TaskAccess::inout), target};
  using Argument = std::shared_ptr<ReductionParts>;
  for (const int rank : open.ranks) {
    void* argument = nullptr;
    HIROBA_TRY(sequence_.create(accesses, {&label, rank, 0}, argument));
    if (argument == nullptr) continue;
    new (argument) Argument(open.parts);
    sequence_.submit(argument, [](void* a, int run) {
      Argument& parts = *static_cast<Argument*>(a);
      if (run != 0) parts->combine();
      if (run != 2) parts.~Argument();
    });
  }
  return {};
}

}  // namespace hiroba
