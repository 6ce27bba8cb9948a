// power.hpp: regions of the program whose energy is measured, in C++, on top of power.h, which says what is promised.
//
//   {
//     hiroba::energy_region region("solve");
//     ...
//   }                                            // or, for its figures: hiroba_energy spent = region.end();
#pragma once

#include <source_location>
#include <string>

#include "place.hpp"
#include "power.h"

namespace hiroba {

// Its region is open while the object lives, or until end().
class energy_region {
 public:
  explicit energy_region(std::string name, std::source_location where = std::source_location::current())
      : name_(std::move(name)) {
    const detail::place place(where);
    hiroba_place = place;
    (hiroba_energy_begin)(name_.c_str());
  }
  energy_region(const energy_region&) = delete;
  energy_region& operator=(const energy_region&) = delete;
  ~energy_region() {
    if (open_) end();
  }
  hiroba_energy end(std::source_location where = std::source_location::current()) {
    const detail::place place(where);
    hiroba_place = place;
    open_ = false;
    return (hiroba_energy_end)(name_.c_str());
  }

 private:
  std::string name_;
  bool open_ = true;
};

}  // namespace hiroba
