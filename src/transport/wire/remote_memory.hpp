// Memory for one-sided access, over wires that offer it: our memory that others may access, and theirs that we know. A
// range is exposed at the first request for it, because a network card may pin registered memory.
//
// Owner: Net. The engine's lock guards it (wire state).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

class RemoteMemory {
 public:
  // A place in memory that another process has exposed: for Wire::put and get.
  struct Place {
    int handle;
    uint64_t offset;
  };

  void start(Wire* wire) { wire_ = wire; }
  bool usable() const { return wire_ != nullptr && wire_->remote().memory; }

  // Adds memory of this process, [offset, offset + bytes) of the job's, at `at`. detach() ends memory here or
  // elsewhere.
  void attach(uint64_t offset, uint64_t bytes, char* at);
  void detach(uint64_t offset, uint64_t bytes);

  // tell() writes what a process needs to access our memory at `offset`; learn() stores that.
  Status tell(uint64_t offset, std::vector<char>& out);
  void learn(int wire_rank, std::span<const char> told);
  // Returns true if [offset, offset + bytes) has been learnt.
  bool find(uint64_t offset, uint64_t bytes, Place& out) const;

 private:
  struct Own {
    uint64_t bytes;
    char* at;
    std::vector<char> key;  // empty: not accessible yet
  };
  struct Other {
    uint64_t bytes;
    int handle;
  };
  Wire* wire_ = nullptr;
  std::map<uint64_t, Own> own_;  // by offset
  std::map<uint64_t, Other> others_;
};

}  // namespace hiroba
