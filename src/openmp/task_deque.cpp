#include "openmp/task_deque.hpp"

#include "openmp/program/words.hpp"

namespace hiroba::openmp {

namespace {

struct Range {
  uint32_t first, end;
  explicit Range(uint64_t word) : first(static_cast<uint32_t>(word >> 32)), end(static_cast<uint32_t>(word)) {}
  Range(uint32_t f, uint32_t e) : first(f), end(e) {}
  uint64_t word() const { return uint64_t{first} << 32 | end; }
  uint32_t count() const { return end - first; }
};

}  // namespace

// push() may use the place again.
TaskRecord* Deque::take(uint32_t number) {
  int64_t& place = words_->task[number % DequeWords::most];
  auto* const task = reinterpret_cast<TaskRecord*>(__atomic_load_n(&place, __ATOMIC_ACQUIRE));
  __atomic_store_n(&place, 0, __ATOMIC_RELEASE);
  return task;
}

uint32_t Deque::count() const { return end_ - Range(words::load(&words_->published)).first; }

bool Deque::push(TaskRecord* task) {
  int64_t& place = words_->task[end_ % DequeWords::most];
  if (__atomic_load_n(&place, __ATOMIC_ACQUIRE) != 0) return false;
  __atomic_store_n(&place, reinterpret_cast<int64_t>(task), __ATOMIC_RELEASE);
  ++end_;
  publish_some();
  return true;
}

// Within a node publishing costs nothing, so each task is published at once. Between nodes it sends home what this rank
// has written, so half of the tasks are published together, and the last one stays.
void Deque::publish_some() {
  const Range range(words::load(&words_->published));
  uint32_t count = end_ - published_;
  const bool soon = words::checked && soon_ > 0 && soon_-- > 0;  // races are found between ranks, so they get tasks
  if (words::between_nodes && !soon) count = range.count() == 0 ? count / 2 : 0;
  if (count == 0) return;
  words::release(&words_->published);
  published_ += count;
  for (Range seen = range;;) {
    const uint64_t old = words::swap(&words_->published, seen.word(), Range(seen.first, published_).word());
    if (old == seen.word()) return;
    seen = Range(old);
  }
}

TaskRecord* Deque::pop() {
  if (end_ == published_) return pop_published();
  TaskRecord* const task = take(--end_);
  publish_some();
  return task;
}

TaskRecord* Deque::pop_published() {
  for (Range seen(words::load(&words_->published)); seen.count() > 0;) {
    const uint64_t old = words::swap(&words_->published, seen.word(), Range(seen.first, seen.end - 1).word());
    if (old != seen.word()) {
      seen = Range(old);
      continue;
    }
    end_ = --published_;
    return take(end_);
  }
  return nullptr;
}

// The place of a taken task stays used until the taker has read it, so push() does not overwrite it.
TaskRecord* Deque::steal(DequeWords& words) {
  const Range seen(words::load(&words.published));
  if (seen.count() == 0) return nullptr;
  if (words::swap(&words.published, seen.word(), Range(seen.first + 1, seen.end).word()) != seen.word()) return nullptr;
  words::acquire(&words.published);
  int64_t* const place = &words.task[seen.first % DequeWords::most];
  const uint64_t task = words::load(place);
  words::swap(place, task, 0);
  return reinterpret_cast<TaskRecord*>(task);
}

}  // namespace hiroba::openmp
