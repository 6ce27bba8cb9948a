// Learns which pages of other nodes the threads of this rank access between two barriers of the program, and fetches
// them together when the program comes to the same place again. README.md, "Pages that come again".
//
// Owner: Regions. For the thread that meets the other ranks, while the rank's other threads wait. Nothing blocks but
// for fetches of which there is no room.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class LearntPages {
 public:
  using Place = uint64_t;  // an address in the program's code, which tells where a barrier was left

  void start(Memory& memory);
  void begin(Place place);  // after a barrier
  void end();               // before the next barrier
  // Fetches, before this rank knows the place, what it accessed at the place that followed last time.
  void expect();

 private:
  // A place from which the pages are fetched together.
  struct Learnt {
    PageSet pages;
    PageSet left_out;             // were fetched and not used
    Place next = 0;               // the place that followed last
    uint32_t gap = 0, until = 0;  // executions between two trials, and until the next one
    bool on_trial = false;
  };
  static constexpr size_t most_places = 4096;
  static constexpr uint32_t most_gap = 31;
  void fetch(Learnt& learnt);
  void judge(Learnt& learnt) const;

  Preloads* preloads_ = nullptr;
  std::unordered_map<Place, Learnt> places_;
  Learnt* now_ = nullptr;
  Place expected_ = 0;
};

}  // namespace hiroba::openmp
