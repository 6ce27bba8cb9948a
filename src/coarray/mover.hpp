// Moves sections between images: put, get, and both. It copies if this process can access the memory; the transport
// moves the rest, as one piece, as large pieces, or as strided boxes.
//
// Thread-safe. Started moves are in progress until await(); puts are complete at the next fence after it.
#pragma once

#include <memory>

#include "coarray/section.hpp"
#include "collective/collective.hpp"

namespace hiroba {

class Mover {
 public:
  void start(const World& world) { world_ = &world; }

  // Gets data at `from`, of a walk's from side, into memory here that cannot fault. Complete after await(); boxes on
  // return.
  void start_get(char* to, const Place& from, const Walk& walk, Completion& completion) const;
  void await(Completion& completion) const { world_->transport->await(completion); }
  // Puts memory here that cannot fault to a walk's to side. The memory may be changed on return; if started, after
  // await().
  void start_put(const Place& to, const char* from, const Walk& walk, Completion& completion) const;
  void put(const Place& to, const char* from, const Walk& walk) const;
  // Returns the elements of a section, packed one after the other.
  std::unique_ptr<char[]> get_packed(const Place& from, const Box& box, size_t element) const;
  void put_packed(const Place& to, const Box& box, const char* packed, size_t element) const;

 private:
  const World* world_ = nullptr;
};

}  // namespace hiroba
