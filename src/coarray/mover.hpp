// Moving sections between images: put, get, and both. What this process can reach by itself it copies; the rest goes
// by the transport, as one piece, as large pieces, or as strided boxes.
//
// Thread-safe. What is started goes on until await(); puts are complete at the next fence after it.
#pragma once

#include "coarray/section.hpp"
#include "collective/collective.hpp"

namespace hiroba {

class Mover {
 public:
  void start(const World& world) { world_ = &world; }

  // What lies at `from`, of a walk's from side, to memory here that cannot fault. There after await(); boxes are on
  // return.
  void start_get(char* to, const Place& from, const Walk& walk, Completion& completion) const;
  void await(Completion& completion) const { world_->transport->await(completion); }
  // Memory here that cannot fault, to a walk's to side. put: it may be changed on return; started: after await().
  void start_put(const Place& to, const char* from, const Walk& walk, Completion& completion) const;
  void put(const Place& to, const char* from, const Walk& walk) const;

 private:
  const World* world_ = nullptr;
};

}  // namespace hiroba
