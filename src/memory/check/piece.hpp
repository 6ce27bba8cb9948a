// Part of NamedWrites: the piece of the program that runs, the bytes that it has named, and the twins of pages that it
// writes without having named all of them.
//
// Owner: RaceChecker. Thread-safe, except begin(), end() and the comparison, which are for one thread at a time. Used
// in signal handlers; only begin() and end() allocate.
#pragma once

#include <atomic>
#include <mutex>

#include "base/wait.hpp"
#include "memory/array.hpp"
#include "memory/check/named_writes.hpp"
#include "memory/check/page_twins.hpp"

namespace hiroba {

class Piece {
 public:
  Status start(const char* base, const Layout& layout);
  void begin(NamedBytes&& bytes, NamedWrites::Refuse refuse, const void* context);
  void end();
  bool runs() const { return refuse_ != nullptr; }
  // Returns whether the piece may write only the bytes that it has named of this array. It names nothing of the heap.
  bool judges(const Array& array) const { return runs() && !array.is_heap; }

  // Returns whether the piece names all bytes of the array in this page.
  bool names(const Array& array, uint64_t page) const;
  // Refuses a write in `code` if its bytes are not named.
  void check(const char* address, size_t bytes, const void* code);
  const void* first_write() const { return first_write_.load(); }  // in the code; null if none was seen

  const NamedBytes& bytes() const { return bytes_; }

  // Called before the piece writes a page that it has not named as a whole.
  void keep_twin(uint64_t page);
  const PageTwins& twins() const { return twins_; }
  // Returns the first byte that is not named and has changed since; null if there is none.
  const char* changed(uint64_t page) const;
  void refuse(const UnnamedWrite& write) const { refuse_.load()(context_, write); }

 private:
  const char* base_ = nullptr;
  mutable SignalSafeLock lock_;  // guards bytes_
  NamedBytes bytes_;
  std::atomic<NamedWrites::Refuse> refuse_{nullptr};
  std::atomic<const void*> first_write_{nullptr};
  const void* context_ = nullptr;
  PageTwins twins_;
};

}  // namespace hiroba
