#include "memory/check/piece.hpp"

namespace hiroba {

Status Piece::start(const char* base, const Layout& layout) {
  base_ = base;
  return twins_.create(layout);
}

void Piece::begin(NamedBytes&& bytes, NamedWrites::Refuse refuse, const void* context) {
  NamedBytes before = std::move(bytes);
  const std::lock_guard<SignalSafeLock> guard(lock_);
  std::swap(bytes_, before);
  context_ = context, twins_.clear();
  first_write_.store(nullptr);
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

void Piece::check(const char* address, size_t bytes, const void* code) {
  const auto begin = static_cast<uint64_t>(address - base_);
  lock_.lock();
  const uint64_t gap = bytes_.first_gap(begin, begin + bytes);
  lock_.unlock();
  if (first_write_.load() == nullptr) first_write_.store(code);
  if (gap < begin + bytes) refuse({base_ + gap, code, false});
}

void Piece::keep_twin(uint64_t page) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  twins_.keep(base_, page);
}

const char* Piece::changed(uint64_t page) const {
  const char *const now = base_ + (page << page_shift), *const twin = twins_.of(page);
  const char* out = nullptr;
  bytes_.for_each_gap(page << page_shift, (page + 1) << page_shift, [&](uint64_t begin, uint64_t end) {
    const uint64_t at = begin % page_bytes, bytes = end - begin;
    if (out == nullptr && std::memcmp(now + at, twin + at, bytes) != 0)
      out = std::mismatch(now + at, now + at + bytes, twin + at).first;
  });
  return out;
}

}  // namespace hiroba
