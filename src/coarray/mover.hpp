// Moves sections between images: put, get, and both. It copies if this process can access the memory; the transport
// moves the rest, as one piece, as large pieces, or as strided boxes.
//
// Thread-safe. Started moves are in progress until await(); puts are complete at the next fence after it.
#pragma once

#include <memory>

#include "collective/collective.hpp"
#include "section/walk.hpp"

namespace hiroba {

class Mover {
 public:
  void start(const World& world) { world_ = &world; }

  // Gets data at `from`, of a walk's from side, into memory here that cannot fault. Complete after await(); boxes on
  // return.
  void start_get(char* to, const RemoteAddress& from, const Walk& walk, Completion& completion) const;
  void await(Completion& completion) const { world_->transport->one_sided().await(completion); }
  // Moves memory here that cannot fault to a walk's to side. put: it may be changed on return; started: after await().
  void start_put(const RemoteAddress& to, const char* from, const Walk& walk, Completion& completion) const;
  void put(const RemoteAddress& to, const char* from, const Walk& walk) const;
  // The elements of a section, packed one after the other.
  std::unique_ptr<char[]> get_packed(const RemoteAddress& from, const Section& section) const;
  void put_packed(const RemoteAddress& to, const Section& section, const char* packed) const;

 private:
  const World* world_ = nullptr;
};

}  // namespace hiroba
