// Memory for one-sided access, where the wire has it: which of ours others may access, and what we know of theirs. A
// range is made accessible when somebody asks for it first, because a network card may pin what it registers.
//
// Owner: Net. Threads: none of its own; the engine's lock guards it (wire state).
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
  // A place in memory that another process has made accessible: for Wire::put and get.
  struct Place {
    int handle;
    uint64_t offset;
  };

  void start(Wire* wire) { wire_ = wire; }
  bool usable() const { return wire_ != nullptr && wire_->remote().memory; }

  // Memory of this process, [offset, offset + bytes) of the job's, at `at`; and its end, here or elsewhere.
  void attach(uint64_t offset, uint64_t bytes, char* at);
  void detach(uint64_t offset, uint64_t bytes);

  // What a process that wants to access our memory at `offset` must learn.
  Status tell(uint64_t offset, std::vector<char>& out);
  void learn(int wire_rank, std::span<const char> told);
  // Whether [offset, offset + bytes) has been learnt.
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
