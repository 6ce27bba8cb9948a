#include "memory/check/named_writes.hpp"

#include "memory/parts.hpp"

namespace hiroba {

bool NamedWrites::on() const { return parts_.races.on(); }

void NamedWrites::begin(NamedBytes&& bytes, Refuse refuse, const void* context) {
  parts_.races.begin_piece(std::move(bytes), refuse, context);
}

void NamedWrites::end() { parts_.races.end_piece(); }

void NamedWrites::past_view(const char* address, size_t bytes) {
  if (!on() || bytes == 0) return;
  const uint64_t end = parts_.page_of(address + bytes - 1) + 1;
  for (uint64_t page = parts_.page_of(address); page < end; ++page) parts_.races.recorder().blur(page);
}

}  // namespace hiroba
