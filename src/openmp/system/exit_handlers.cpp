#include "openmp/system/exit_handlers.hpp"

#include "openmp/program/runtime.hpp"

namespace hiroba::openmp {

Status ExitHandlers::begin(Memory& memory) {
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(array_of_ranks(memory.job(), "exit handlers", sizeof(List), 1), at));
  lists_ = static_cast<List*>(at);
  memory_ = &memory;
  return {};
}

bool ExitHandlers::add(void (*function)(void*), void* argument) {
  const InRuntime runtime;
  const std::lock_guard guard(lock_);
  List& own = lists_[memory_->job().rank];
  if (own.count == most) return false;
  own.handlers[own.count++] = {function, argument};
  return true;
}

void ExitHandlers::run() const {
  for (int rank = memory_->job().nranks - 1; rank > 0; --rank)
    for (uint64_t i = lists_[rank].count; i-- > 0;)
      lists_[rank].handlers[i].function(lists_[rank].handlers[i].argument);
}

}  // namespace hiroba::openmp
