#include "task/check/name_check.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/debug/symbols.hpp"
#include "base/log.hpp"
#include "section/walk.hpp"

namespace hiroba {

namespace {

// Returns an empty text if the location is not known.
std::string place_of(const void* code) {
  if (code == nullptr) return "";
  const std::string place = source_location(code);
  const bool of_body = place.starts_with("hiroba::detail::");  // the name is that of a template and a lambda
  return of_body ? "its function " + place.substr(place.rfind('(')) : place;
}

}  // namespace

// With a message transport between nodes, message handlers write received data while a body runs.
bool NameCheck::possible(const Memory& memory) {
  const World& world = memory.collective().world();
  bool all = memory.named_writes().on();
  for (int r = 0; r < world.nranks; ++r) all = all && world.reaches(r);
  return all;
}

void NameCheck::start(Memory& memory) {
  memory_ = &memory, on_ = possible(memory);
  if (!on_ && memory.named_writes().on() && memory.job().rank == 0)
    log_line(
        "check: what tasks do not name is not looked for, because the transport sends messages between nodes; "
        "leave out option transport");
}

void NameCheck::created(const Task& task, std::span<const TaskAccess> accesses) {
  if (!on_) return;
  std::vector<TaskAccess>& named = named_[&task];
  named.clear();
  for (const TaskAccess& access : accesses)
    if (!access.section.empty() && memory_->collective().world().is_shared(access.section.address)) {
      named.push_back(access);
      named.back().tile = nullptr;  // its lifetime is shorter
    }
}

void NameCheck::hold(const Task& task) {
  if (!on_) return;
  const std::lock_guard<std::mutex> guard(lock_);
  held_.push_back(&task);
}

void NameCheck::let_go(const Task& task) {
  if (!on_) return;
  const std::lock_guard<std::mutex> guard(lock_);
  const auto held = std::find(held_.begin(), held_.end(), &task);
  if (held != held_.end()) held_.erase(held);
}

void NameCheck::began(int, const Task& task) {
  memory_->consistency().note_order();
  if (!on_) return;
  leave();
  running_.push_back(&task);
  enter();
}

void NameCheck::ended(int, const Task&) {
  memory_->consistency().note_order();
  if (!on_) return;
  leave();
  running_.pop_back();
  enter();
}

void NameCheck::leave() {
  if (runs_program()) memory_->named_writes().end();
}

// The innermost task begins or resumes.
void NameCheck::enter() {
  if (!runs_program()) return;
  std::vector<NamedBytes::Run> runs;
  add(*running_.back(), runs);
  {
    const std::lock_guard<std::mutex> guard(lock_);
    for (const Task* const task : held_) add(*task, runs);
  }
  memory_->named_writes().begin(NamedBytes(std::move(runs)), refuse, this);
}

void NameCheck::add(const Task& task, std::vector<NamedBytes::Run>& runs) const {
  const char* const base = memory_->collective().world().base;
  const auto named = named_.find(&task);
  if (named == named_.end()) return;
  for (const TaskAccess& access : named->second)
    if (writes(access.mode))
      for_each_block(access.section, [&](const char* block, size_t bytes) {
        const auto begin = static_cast<uint64_t>(block - base);
        runs.push_back({begin, begin + bytes});
      });
}

void NameCheck::refuse(const void* self, const UnnamedWrite& write) {
  static std::atomic_flag refusing;
  while (refusing.test_and_set()) pause();  // another thread ends the job
  const NameCheck& check = *static_cast<const NameCheck*>(self);
  const Arrays& arrays = check.memory_->arrays();
  const Task& task = *check.running_.back();
  const Array* const array = arrays.at(write.address);
  if (array == nullptr)
    end_job(1, "check: %s writes beside shared arrays: %s", name_of(task).c_str(),
            arrays.explain(write.address).c_str());
  const std::vector<TaskAccess>& named = check.named_.find(&task)->second;
  const TaskSection byte(const_cast<char*>(write.address), 1);
  const bool reads =
      std::any_of(named.begin(), named.end(), [&](const TaskAccess& a) { return overlap(a.section, byte); });
  const AccessReport access = {name_of(task), "writes", element_name(*array, write.address - array->data),
                               in_code(write.near ? "near" : "in", place_of(write.code))};
  end_job(1, "check: %s, %s; name it with out, or with inout if the task reads it before", access.text().c_str(),
          reads ? "which it names only to read" : "which it does not name");
}

}  // namespace hiroba
