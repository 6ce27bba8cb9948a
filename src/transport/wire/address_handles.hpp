// Handles for wires that access any memory of another process by its address, without registration: a handle stands for
// an owner and an address there. Owner: the wire. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace hiroba {

class AddressHandles {
 public:
  struct Place {
    int owner = -1;  // wire rank; -1: free
    char* address = nullptr;
  };

  int add(int owner, uint64_t address) {
    if (free_.empty()) {
      free_.push_back(static_cast<int>(places_.size()));
      places_.emplace_back();
    }
    const int handle = free_.back();
    free_.pop_back();
    places_[handle] = {owner, reinterpret_cast<char*>(address)};
    return handle;
  }
  void drop(int handle) {
    places_[handle] = {};
    free_.push_back(handle);
  }
  Place at(int handle, uint64_t offset) const {
    const Place& place = places_[handle];
    return {place.owner, place.address + offset};
  }

 private:
  std::vector<Place> places_;
  std::vector<int> free_;
};

}  // namespace hiroba
