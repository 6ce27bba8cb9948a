// The stores of a transaction: values by address, which its loads find, and which its commit writes to memory. It
// counts bytes in words of 8 at multiples of 8.
//
// Owner: a Transaction, whose thread alone uses it. add() allocates only when it grows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/shown.hpp"

namespace hiroba {

class WriteSet {
 public:
  struct Entry {
    uint64_t address;  // a multiple of 8
    uint64_t value, mask;
  };
  WriteSet() : cells_(first_cells) {}

  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  // False if the word is not there; cheap.
  bool may_have(uint64_t address) const {
    return used_ && (watched_ || cells_[first_cell(address)].generation == generation_);
  }
  // Returns null if the word is not there.
  const Entry* find(uint64_t address) const {
    const uint32_t index = cells_[cell_of(address)].index(generation_);
    return index == none ? nullptr : &entries_[index];
  }
  // From now on may_have() is true for all words, until clear(): the user looks at each access.
  void watch() { watched_ = used_ = true; }
  bool watched() const { return watched_; }
  // Stores the bytes that the mask selects.
  [[HIROBA_SHOWN]] void add(uint64_t address, uint64_t value, uint64_t mask);
  void clear() {
    used_ = watched_ = false, savepoints_ = 0;
    if (!entries_.empty() || !undos_.empty()) forget();
  }

  // A savepoint: undo() returns to it. Savepoints end in reverse order, by undo() or release().
  struct Savepoint {
    uint64_t entries, undos;
  };
  Savepoint save() { return ++savepoints_, Savepoint{entries_.size(), undos_.size()}; }
  void undo(const Savepoint& to);
  void release() {
    if (--savepoints_ == 0) undos_.clear();
  }

 private:
  static constexpr size_t first_cells = 64;
  static constexpr uint32_t none = UINT32_MAX;
  struct Cell {
    uint32_t generation = 0, number = 0;
    uint32_t index(uint32_t now) const { return generation == now ? number : none; }
  };
  struct Undo {
    size_t index;
    uint64_t value, mask;
  };
  static uint64_t hash(uint64_t address) { return (address >> 3) * 0x9e3779b97f4a7c15; }
  size_t first_cell(uint64_t address) const { return hash(address) >> 32 & last_cell_; }
  // Returns the cell with this word, or the free one where it belongs.
  size_t cell_of(uint64_t address) const {
    for (size_t at = first_cell(address);; at = (at + 1) & last_cell_) {
      const uint32_t index = cells_[at].index(generation_);
      if (index == none || entries_[index].address == address) return at;
    }
  }
  void index_all();
  void forget();

  bool used_ = false;  // there are entries, or `watched_` is set
  uint32_t generation_ = 1;
  size_t last_cell_ = first_cells - 1;
  bool watched_ = false;
  std::vector<Entry> entries_;
  std::vector<Cell> cells_;  // a power of two, at least twice as many as entries
  int savepoints_ = 0;
  std::vector<Undo> undos_;
};

// Stores some bytes of a word of 8, at a multiple of 8, and no others: those may be in use without transactions. Each
// store releases: a load that returns it, and acquires, comes after the lock of its stripe. Thread-safe.
template <typename T>
void store_at(char* at, uint64_t value) {
  std::atomic_ref(*reinterpret_cast<T*>(at)).store(static_cast<T>(value), std::memory_order_release);
}

inline void store_masked(char* at, uint64_t value, uint64_t mask) {
  if (mask == ~uint64_t{0}) return store_at<uint64_t>(at, value);
  for (unsigned byte = 0; byte < 8;) {
    const unsigned shift = byte * 8;
    if (byte % 4 == 0 && (mask >> shift & 0xffffffff) == 0xffffffff) {
      store_at<uint32_t>(at + byte, value >> shift), byte += 4;
    } else if (byte % 2 == 0 && (mask >> shift & 0xffff) == 0xffff) {
      store_at<uint16_t>(at + byte, value >> shift), byte += 2;
    } else {
      if ((mask >> shift & 0xff) != 0) store_at<uint8_t>(at + byte, value >> shift);
      ++byte;
    }
  }
}

}  // namespace hiroba
