// With option check: pointers to a rank's own memory among what the rank has written to shared arrays since the last
// barrier. Elsewhere such an address is not mapped, or is something else. What is found is certain to look like one: a
// changed, aligned word of an array of 8-byte elements, or multiples, that is an address of this process outside of the
// shared range. Addresses below 4 GiB are not looked at, because numbers look like them.
//
// Owner: RaceChecker, whose recorder knows what has been written. Called between two barriers, by one thread.
#pragma once

#include <set>
#include <string>

#include "memory/check/access_recorder.hpp"

namespace hiroba {

class StrayPointers {
 public:
  // Prints what has not been printed before; each array and kind of memory once.
  void look(AccessRecorder& recorder, const RankLog& log, const ArrayTable& arrays, const char* base);

 private:
  std::set<std::string> told_;
};

}  // namespace hiroba
