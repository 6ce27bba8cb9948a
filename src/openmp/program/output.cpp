#include "openmp/program/output.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"

namespace hiroba::openmp {

Status RegionOutput::begin(Memory& memory) {
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(array_of_ranks(memory.job(), "output of regions", sizeof(Lists), 1), at));
  lists_ = static_cast<Lists*>(at);
  memory_ = &memory;
  return {};
}

// The C library has allocated the stream for the program, so it lies in shared memory of the rank that has opened it.
bool RegionOutput::is_of_rank_0(const FILE* file) const {
  if (memory_ == nullptr || memory_->job().rank == 0) return false;
  const InRuntime runtime;
  PastCache::Place place = {};
  return memory_->past_cache().locate(file, place).ok() && place.rank == 0;
}

void RegionOutput::write(FILE* file, std::string_view text) {
  Text* made = nullptr;
  {
    const InProgram program;
    made = static_cast<Text*>(std::malloc(sizeof(Text) + text.size()));
  }
  if (made == nullptr) end_job(1, "no memory for the %zu bytes that a region writes to a file", text.size());
  *made = {nullptr, file, text.size()};
  std::memcpy(made->data(), text.data(), text.size());
  const InRuntime runtime;
  const std::lock_guard guard(lock_);
  (last_ == nullptr ? lists_[memory_->job().rank].first[interval_] : last_->next) = made;
  last_ = made;
  words::add(&lists_[0].texts, 1);
}

// After the barrier nobody adds to the lists of the interval that has ended, and rank 0 alone reads them. It has read
// them at the next barrier, after which this rank uses the list again.
void RegionOutput::after_barrier() {
  if (memory_->job().rank == 0 && words::load(&lists_[0].texts) != written_) write_all();
  interval_ = 1 - interval_;
  last_ = nullptr;
  Text*& list = lists_[memory_->job().rank].first[interval_];
  if (list != nullptr) list = nullptr;
}

// Others may have written since the barrier, to their other lists.
void RegionOutput::write_all() {
  for (int rank = 1; rank < memory_->job().nranks; ++rank)
    for (Text* text = lists_[rank].first[interval_]; text != nullptr; ++written_) {
      std::fwrite(text->data(), 1, text->bytes, text->file);
      std::free(std::exchange(text, text->next));
    }
}

}  // namespace hiroba::openmp
