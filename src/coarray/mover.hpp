// Moving sections between images: put, get, and both. What this process can reach by itself it copies; the rest goes
// by the transport: as one piece, as a strided box where the transport has them, as pieces, or, if the pieces are
// small, packed (put), or packed by a handler at the target (get).
//
// Thread-safe. Gets block unless started; puts are complete at the next fence.
#pragma once

#include <memory>

#include "coarray/section.hpp"
#include "coarray/world.hpp"

namespace hiroba {

// The first element of a section, and where it is.
struct Place {
  int rank = 0;
  uint64_t offset = 0;   // if not here
  char* here = nullptr;  // where this process can access it; null: through the transport
};

// Data that is under way from other ranks; finish() waits for it and puts it where it belongs.
class Fetch {
 public:
  Fetch() = default;
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

 private:
  friend class Mover;
  Completion completion_;               // of gets by the transport
  std::atomic<uint32_t> gathering_{0};  // answers that have not come
  std::unique_ptr<char[]> landing_;     // where data comes before it is spread out
  char* to_ = nullptr;
  Walk spread_;  // from landing_ to to_
};

class Mover {
 public:
  void listen(Transport& transport);
  void start(const World& world) { world_ = &world; }

  // What lies at `from`, of a walk's from side, to memory here that cannot fault.
  void start_get(char* to, const Place& from, const Walk& walk, Fetch& fetch);
  bool finished(const Fetch& fetch) const;
  void finish(Fetch& fetch);
  // Memory here that cannot fault, to a walk's to side.
  void put(const Place& to, const char* from, const Walk& walk);

 private:
  void gather_far(char* to, const Place& from, const Walk& walk, Fetch& fetch);
  void get_boxes(char* to, const Place& from, const Walk& walk);
  void put_packed(const Place& to, const char* from, const Walk& walk);
  void put_boxes(const Place& to, const char* from, const Walk& walk);
  void serve_gather(int source, const void* payload);

  const World* world_ = nullptr;
};

}  // namespace hiroba
