#include "task/crew/pool.hpp"

namespace hiroba {

bool TaskPool::refill(size_t limit) {
  free_ = returned_.take_all();
  if (free_ != nullptr) return true;
  if (blocks_.size() * block >= limit) return false;
  blocks_.push_back(std::make_unique<Task[]>(block));
  for (size_t i = block; i-- > 0;) {
    Task& task = blocks_.back()[i];
    task.pool = this;
    put(task);
  }
  return true;
}

}  // namespace hiroba
