#include "memory/check/stray_pointers.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/debug/symbols.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

// Finds the kind of this process's memory at an address, outside of shared arrays.
class OwnMemory {
 public:
  // Returns null if nothing is there.
  const char* kind(uint64_t address) {
    if (ranges_.empty()) read_ranges();
    for (const Range& range : ranges_)
      if (address >= range.first && address < range.end) return range.kind;
    return nullptr;
  }

 private:
  struct Range {
    uint64_t first, end;
    const char* kind;
  };
  void read_ranges() {
    FILE* const maps = std::fopen("/proc/self/maps", "re");
    char line[4400];
    while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
      Range range = {};
      char access[5] = "", name[4096] = "";
      if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %4095s", &range.first, &range.end, access, name) <
          3)
        continue;
      if (access[0] != 'r' || access[3] != 'p' || std::strncmp(name, "[v", 2) == 0) continue;  // vdso, vvar
      range.kind = std::strcmp(name, "[stack]") == 0 ? "a local variable"
                   : name[0] != '/'                  ? "malloc's memory or a thread's stack"
                   : access[2] == 'x'                ? "a function"
                   : access[1] == 'w'                ? "a global variable"
                                                     : "a literal or constant";
      ranges_.push_back(range);
    }
    if (maps != nullptr) std::fclose(maps);
  }
  std::vector<Range> ranges_;
};

// Returns true if two words may be a long double, as NumPy stores it: nothing sets the upper 48 of its 128 bits, which
// may make the second word look like an address. The leading bit of a number other than 0 is in the first word.
bool may_be_long_double(uint64_t first, uint64_t second) {
  const uint64_t exponent = second & 0x7fff;
  const bool has_leading_bit = first >> 63 != 0;
  return has_leading_bit ? exponent >= 0x3c00 && exponent < 0x4400 : first == 0 && (second & 0xffff) == 0;
}

}  // namespace

// Examines each recorded write, then the changes on pages that were open for writing.
void StrayPointers::look(AccessRecorder& recorder, const RankLog& log, const ArrayTable& arrays, const char* base) {
  OwnMemory own;
  const auto word_at = [](const char* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
  };
  const auto examine = [&](uint64_t offset, const void* place, const char* relation) {
    constexpr uint64_t least = uint64_t{1} << 32, end = uint64_t{1} << 47;
    const uint64_t value = word_at(base + offset);
    if (value < least || value >= end) return;
    const Array* const array = arrays.live(offset >> page_shift);
    if (array == nullptr || array->distribution.element_bytes() % sizeof value != 0) return;
    const bool is_second = array->distribution.element_bytes() % 16 == 0 && (base + offset - array->data) % 16 == 8;
    if (is_second && may_be_long_double(word_at(base + offset - sizeof value), value)) return;
    // A view of another node's memory is a private mapping, but not of private memory.
    if (arrays.live((value - reinterpret_cast<uint64_t>(base)) >> page_shift) != nullptr) return;
    const char* const kind = own.kind(value);
    if (kind == nullptr || !told_.insert(format("%s %s", array->name, kind)).second) return;
    log_finding("check: a pointer to private memory: %s is now %#" PRIx64
                ", an address in this rank alone (%s; written %s %s); store an index, or put what it points to into a "
                "shared array",
                element_name(*array, base + offset - array->data).c_str(), value, kind, relation,
                place == nullptr ? "a place that is not known" : source_location(place).c_str());
  };
  for (uint64_t i = 0; i < log.records; ++i) {
    const AccessRecord& record = log.record[i];
    const Array* const array = arrays.live(record.page());
    if (!record.writes() || record.bytes < sizeof(uint64_t) || array == nullptr || !array->watched) continue;
    recorder.peek(record.page());
    const uint64_t first = (record.address + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
    const uint64_t end = std::min(record.end(), (record.page() + 1) << page_shift);
    for (uint64_t at = first; at + sizeof(uint64_t) <= end; at += sizeof(uint64_t)) examine(at, record.place, "in");
  }
  for (const PageRun& run : recorder.twins().runs())
    for (uint64_t page = run.first; page < run.first + run.pages; ++page)
      for (uint64_t at = 0; at < page_bytes; at += sizeof(uint64_t)) {
        const uint64_t offset = (page << page_shift) + at;
        if (word_at(base + offset) != word_at(recorder.twins().of(page) + at))
          examine(offset, recorder.place_of_write(page), "near");
      }
}

}  // namespace hiroba
