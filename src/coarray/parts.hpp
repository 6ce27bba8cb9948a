// The parts of Coarrays, for the files that implement it. Owner: Coarrays; each part states what is thread-safe.
#pragma once

#include "coarray/checker.hpp"
#include "coarray/coarray.hpp"
#include "coarray/mail.hpp"
#include "coarray/mover.hpp"
#include "coarray/update.hpp"

namespace hiroba {

struct Coarrays::Parts {
  Control control;
  Coarray control_array;
  Mail mail;
  Mover mover;
  Updater updater;
  Checker checker;
};

}  // namespace hiroba
