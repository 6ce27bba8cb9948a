#include "openmp/task_frame.hpp"

#include <cstdlib>
#include <utility>

#include "base/log.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"

namespace hiroba::openmp {

Worker::Worker(DequeWords& words, TaskRecord* all) : frames(new Frame[most_frames]), records(all) {
  deque.begin(words);
}

// Memory of its own first; else of the heaps, as much as the program makes tasks that cannot begin.
Frame* Worker::new_frame() {
  Frame* frame = std::exchange(hot, nullptr);
  for (int tries = 0; frame == nullptr && tries < 8; ++tries) {
    Frame& next_one = frames[next++ % most_frames];
    if (!next_one.used.load(std::memory_order_acquire)) frame = &next_one;
  }
  if (frame == nullptr) {
    frame = new Frame;
    frame->is_pooled = false;
    const InProgram program;
    frame->record = static_cast<TaskRecord*>(std::aligned_alloc(alignof(TaskRecord), sizeof(TaskRecord)));
    if (frame->record == nullptr) end_job(1, "no memory for another task");
    return frame;
  }
  frame->used.store(true, std::memory_order_relaxed);
  frame->record = records + (frame - frames.get());
  frame->maker = -1, frame->threads_before = 0, frame->set_threads_before = false,
  frame->is_final = frame->uses_libgomp = false;
  frame->group = frame->innermost = nullptr, frame->siblings = frame->children = nullptr;
  return frame;
}

// Other threads may have made it.
void Worker::free_frame(Frame* frame) {
  if (frame->is_pooled) {
    if (frame >= frames.get() && frame < frames.get() + most_frames) hot = frame;
    frame->node.reset(), frame->made.reset();
    frame->used.store(false, std::memory_order_release);
    return;
  }
  if (frame->maker < 0) std::free(frame->record);
  delete frame;
}

Frame* Worker::new_frame(TaskRecord* record, int maker) {
  Frame* const frame = new_frame();
  if (!frame->is_pooled) std::free(frame->record);
  frame->record = record, frame->maker = maker, frame->is_final = record->is_final != 0;
  frame->own_root.pending.store(1, std::memory_order_relaxed);
  frame->own_root.task = frame;
  frame->root = &frame->own_root;
  return frame;
}

Status ReturnedTasks::begin(Memory& memory) {
  rank_ = memory.job().rank;
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(array_of_ranks(memory.job(), "returned tasks", page_bytes, 1), at));
  first_ = static_cast<int64_t*>(at);
  return {};
}

int64_t* ReturnedTasks::first(int rank) const { return first_ + int64_t{rank} * int64_t{page_bytes / sizeof *first_}; }

void ReturnedTasks::give(int maker, TaskRecord* record) const {
  int64_t* const head = first(maker);
  words::release(head);
  uint64_t next = 0, seen = words::load(head);
  for (;;) {
    words::swap(&record->next, next, seen);
    next = seen;
    seen = words::swap(head, next, reinterpret_cast<uint64_t>(record));
    if (seen == next) return;
  }
}

TaskRecord* ReturnedTasks::take() const {
  int64_t* const head = first(rank_);
  uint64_t seen = words::load(head);
  if (seen == 0) return nullptr;
  for (uint64_t old; (old = words::swap(head, seen, 0)) != seen;) seen = old;
  if (seen != 0) words::acquire(head);
  return reinterpret_cast<TaskRecord*>(seen);
}

TaskRecord* ReturnedTasks::next(const TaskRecord& record) {
  return reinterpret_cast<TaskRecord*>(words::load(&record.next));
}

}  // namespace hiroba::openmp
