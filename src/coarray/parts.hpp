// The parts of one rank's coarrays, for the files that implement this floor. Owner: Coarrays; each part states its
// thread-safety, and the rest is set at the start.
#pragma once

#include <vector>

#include "coarray/checker.hpp"
#include "coarray/coarray.hpp"
#include "coarray/mail.hpp"
#include "coarray/mover.hpp"
#include "coarray/update.hpp"

namespace hiroba {

struct CoarrayParts {
  Memory* memory = nullptr;
  const World* world = nullptr;
  Control control;
  Coarray control_array;
  Mail mail;
  Mover mover;
  Updater updater;
  Checker checker;
  std::vector<const Coarray*> counted;  // option stats

  Assignments assignments{*this};
  ImageSync image_sync{*this};
  CoarrayLocks locks{*this};
  CoarrayAtomics atomics{*this};

  // Finds a section's memory; an error if it is not inside its coarray.
  Status locate(const CoarraySection& section, RemoteAddress& out) const;
  // For the checker: a synchronisation by a word transfers the clock at the word's home.
  void pass_order(const RemoteAddress& word, bool release, bool acquire) {
    if (checker.on()) pass_clock(word, release, acquire);
  }

 private:
  void pass_clock(const RemoteAddress& word, bool release, bool acquire);
};

}  // namespace hiroba
