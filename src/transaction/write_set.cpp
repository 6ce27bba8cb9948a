#include "transaction/write_set.hpp"

#include <algorithm>

namespace hiroba {

void WriteSet::add(uint64_t address, uint64_t value, uint64_t mask) {
  const size_t at = cell_of(address);
  const uint32_t index = cells_[at].index(generation_);
  if (index != none) {
    Entry& entry = entries_[index];
    if (savepoints_ > 0) undos_.push_back({index, entry.value, entry.mask});
    entry.value = (entry.value & ~mask) | (value & mask), entry.mask |= mask;
    return;
  }
  used_ = true;
  cells_[at] = {generation_, static_cast<uint32_t>(entries_.size())};
  entries_.push_back({address, value & mask, mask});
  if (entries_.size() * 2 <= cells_.size()) return;
  cells_.assign(cells_.size() * 2, Cell());
  last_cell_ = cells_.size() - 1;
  index_all();
}

void WriteSet::index_all() {
  used_ = watched_ || !entries_.empty();
  for (size_t i = 0; i < entries_.size(); ++i) {
    const uint64_t address = entries_[i].address;
    cells_[cell_of(address)] = {generation_, static_cast<uint32_t>(i)};
  }
}

void WriteSet::forget() {
  entries_.clear(), undos_.clear();
  if (++generation_ == 0) std::fill(cells_.begin(), cells_.end(), Cell()), generation_ = 1;
}

void WriteSet::undo(const Savepoint& to) {
  for (; undos_.size() > to.undos; undos_.pop_back()) {
    const Undo& last = undos_.back();
    entries_[last.index].value = last.value, entries_[last.index].mask = last.mask;
  }
  entries_.resize(to.entries);
  if (++generation_ == 0) std::fill(cells_.begin(), cells_.end(), Cell()), generation_ = 1;
  index_all();
  release();
}

}  // namespace hiroba
