#include "openmp/system/output.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "openmp/program/objects.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

Status RegionOutput::begin(Memory& memory) {
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(array_of_ranks(memory.job(), "output of regions", sizeof(Lists), 1), at));
  lists_ = static_cast<Lists*>(at);
  memory_ = &memory;
  return {};
}

// The C library has allocated the stream for the program, so it lies in shared memory of the rank that has opened it.
int RegionOutput::owner(const FILE* file) const {
  const InRuntime runtime;
  PastCache::Place place = {};
  if (memory_ == nullptr) return 0;
  const bool is_shared = instance<Objects>().has(file) && memory_->past_cache().locate(file, place).ok();
  return is_shared ? place.rank : memory_->job().rank;
}

bool RegionOutput::is_elsewhere(const FILE* file) const {
  return in_program && memory_ != nullptr && owner(file) != memory_->job().rank;
}

void RegionOutput::write(FILE* file, int unit, std::string_view text) {
  Text* made = nullptr;
  {
    const InProgram program;
    made = static_cast<Text*>(std::malloc(sizeof(Text) + text.size()));
  }
  if (made == nullptr) end_job(1, "no memory for the %zu bytes that a region writes to a file", text.size());
  const InRuntime runtime;
  std::memcpy(made->data(), text.data(), text.size());
  {
    const std::lock_guard guard(lock_);
    *made = {0, file, unit, words::add(&lists_[0].numbers, 1), text.size()};
    words::release(&lists_[0].texts);
    int64_t* const link = last_ == nullptr ? &lists_[memory_->job().rank].first : &last_->next;
    words::swap(link, 0, reinterpret_cast<uint64_t>(made));
    last_ = made;
  }
  words::add(&lists_[0].texts, 1);
}

// A text stays until the next one of its rank is known, because it has the link to that.
RegionOutput::Text* RegionOutput::following(size_t rank) {
  const Text* const last = written_[rank];
  return reinterpret_cast<Text*>(words::load(last == nullptr ? &lists_[rank].first : &last->next));
}

void RegionOutput::write_given() {
  if (memory_ == nullptr || memory_->job().rank != 0 || words::load(&lists_[0].texts) == count_) return;
  const InRuntime runtime;
  const std::lock_guard guard(lock_);
  written_.resize(static_cast<size_t>(memory_->job().nranks));
  while (count_ != words::load(&lists_[0].texts)) write_next();
}

// Not by fwrite(), which is replaced here.
static void put(FILE* file, const char* text, size_t bytes) {
  flockfile(file);
  fwrite_unlocked(text, 1, bytes, file);
  funlockfile(file);
}

// By Fortran's FPUTC, which writes bytes as they are.
static void put(int unit, char* text, size_t bytes) {
  using Put = void (*)(const int*, char*, int*, size_t);
  static const auto function = reinterpret_cast<Put>(dlsym(RTLD_DEFAULT, "_gfortran_fputc_i4_sub"));
  int status = 0;
  for (size_t i = 0; i < bytes && status == 0; ++i) function(&unit, text + i, &status, 1);
  if (status != 0) log_line("what a region writes to unit %d cannot be written there", unit);
}

// Writes the text that was begun first, of those that are there.
void RegionOutput::write_next() {
  std::vector<Text*> next(written_.size());
  for (size_t rank = 1; rank < next.size(); ++rank) next[rank] = following(rank);
  words::acquire(&lists_[0].texts);
  size_t first = 0;
  for (size_t rank = 1; rank < next.size(); ++rank)
    if (next[rank] != nullptr && (first == 0 || next[rank]->number < next[first]->number)) first = rank;
  Text* const text = next[first];
  if (text == nullptr) return;
  if (text->file == nullptr) put(text->unit, text->data(), text->bytes);
  else put(text->file, text->data(), text->bytes);
  const InProgram program;
  std::free(std::exchange(written_[first], text));
  ++count_;
}

}  // namespace hiroba::openmp
