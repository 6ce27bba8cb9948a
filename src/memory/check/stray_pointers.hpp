// Finds pointers to a rank's own memory among its writes to shared arrays since the last barrier, with option check. In
// other ranks such an address is not mapped, or is something else. A finding is certain to look like a pointer: a
// changed, aligned word of an array of 8-byte elements, or multiples, that is an address of this process outside of the
// shared range. Addresses below 4 GiB are ignored, because numbers look like them, and words of what may be long
// doubles.
//
// Owner: RaceChecker, whose recorder knows the writes. Called between two barriers, by one thread.
#pragma once

#include <set>
#include <string>

#include "memory/check/access_recorder.hpp"

namespace hiroba {

class StrayPointers {
 public:
  // Prints findings that have not been printed before; each array and kind of memory once.
  void look(AccessRecorder& recorder, const RankLog& log, const ArrayTable& arrays, const char* base);

 private:
  std::set<std::string> told_;
};

}  // namespace hiroba
