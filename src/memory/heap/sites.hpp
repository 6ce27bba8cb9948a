// The places in the program that allocate objects of the heap, and the amount that each holds, in control segments, so
// that every rank can name the places of all. Without option check the amounts are estimated from samples.
//
// Owner: Heap. Thread-safe after start().
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "memory/layout.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class HeapSites {
 public:
  static constexpr uint32_t most = 4096;  // further places count as the first, which has no name
  // Offset in the heap's part of a rank's control segment.
  static constexpr uint64_t table_at = uint64_t{32} << 20;

  void start(const Layout& layout, const Job& job, char* base, Transport* transport);

  // Returns the number of a place on this rank.
  uint32_t number(std::string_view place);
  // Changes the amount of a place.
  void add(uint32_t site, int64_t bytes, int64_t objects);
  std::string name(int rank, uint32_t site) const;

  struct Holding {
    int rank;
    std::string place;
    int64_t bytes, objects;
  };
  // Returns the amounts of all places of some ranks, the largest first.
  std::vector<Holding> holdings(int first, int count) const;

 private:
  struct Entry {
    int64_t bytes, objects;
    char place[112];
  };
  uint64_t entry_at(int rank, uint32_t site) const {
    return layout_.heap_control(rank) + table_at + page_bytes + site * sizeof(Entry);
  }
  Entry& own(uint32_t site) const { return *reinterpret_cast<Entry*>(base_ + entry_at(rank_, site)); }
  std::atomic_ref<uint64_t> count() const;

  Layout layout_;
  char* base_ = nullptr;
  Transport* transport_ = nullptr;
  int rank_ = 0;
  std::mutex lock_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

}  // namespace hiroba
