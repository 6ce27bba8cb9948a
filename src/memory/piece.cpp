#include "memory/piece.hpp"

namespace hiroba {

Status Piece::start(const char* base, const Layout& layout) {
  base_ = base;
  HIROBA_TRY(twins_.create("check: pages that a task names in part", most_twins * sizeof(uint64_t)));
  HIROBA_TRY(twin_of_.create("check: which of them have twins", layout.pages() * sizeof(uint64_t)));
  return twin_memory_.create("check: their twins", layout.space);
}

void Piece::begin(NamedBytes&& bytes, NamedWrites::Refuse refuse, const void* context) {
  NamedBytes before = std::move(bytes);
  const std::lock_guard<SignalSafeLock> guard(lock_);
  std::swap(bytes_, before);
  context_ = context, twin_count_ = 0, ++number_;
  refuse_.store(refuse);
}

void Piece::end() { refuse_.store(nullptr); }

bool Piece::names(const Array& array, uint64_t page) const {
  const auto first = static_cast<uint64_t>(array.data - base_);
  const uint64_t begin = std::max(first, page << page_shift);
  const uint64_t end = std::min(first + array.distribution.bytes(), (page + 1) << page_shift);
  const std::lock_guard<SignalSafeLock> guard(lock_);
  return bytes_.have(begin, end);
}

void Piece::check(const char* address, size_t bytes, const void* code) const {
  const auto begin = static_cast<uint64_t>(address - base_);
  lock_.lock();
  const uint64_t gap = bytes_.first_gap(begin, begin + bytes);
  lock_.unlock();
  if (gap < begin + bytes) refuse({base_ + gap, code, false});
}

void Piece::keep_twin(uint64_t page) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  uint64_t& twin_of = twin_of_.as<uint64_t>()[page];
  if (twin_of == number_ || twin_count_ == most_twins) return;
  twin_of = number_;
  std::memcpy(twin_memory_.data() + (page << page_shift), base_ + (page << page_shift), page_bytes);
  twins_.as<uint64_t>()[twin_count_++] = page;
}

const char* Piece::changed(uint64_t page) const {
  const char *const now = base_ + (page << page_shift), *const twin = twin_memory_.data() + (page << page_shift);
  const char* out = nullptr;
  bytes_.for_each_gap(page << page_shift, (page + 1) << page_shift, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin % page_bytes; out == nullptr && at < begin % page_bytes + (end - begin); ++at)
      if (now[at] != twin[at]) out = now + at;
  });
  return out;
}

}  // namespace hiroba
