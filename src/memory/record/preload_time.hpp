// Notes the time of its life as that of a preload (base/record/record.hpp), if pages of the array come.
#pragma once

#include "memory/record/array_record.hpp"

namespace hiroba {

class PreloadTime {
 public:
  explicit PreloadTime(Array* array)
      : array_(recording() ? array : nullptr), begin_(array_ == nullptr ? 0 : seconds_now()), before_(preloaded()) {}
  PreloadTime(const PreloadTime&) = delete;
  // A start that brings nothing is over at once, and is made again and again.
  ~PreloadTime() {
    if (array_ != nullptr && (waits_ || preloaded() > before_))
      note_preload(record_number(*array_), preloaded() - before_, begin_, seconds_now());
  }
  void waits() { waits_ = true; }

 private:
  uint64_t preloaded() const { return array_ == nullptr ? 0 : array_->counters.preloaded.load(); }

  Array* array_;
  double begin_;
  uint64_t before_;
  bool waits_ = false;
};

}  // namespace hiroba
