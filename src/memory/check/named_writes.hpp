// Part of the contract of this floor, for option check: a piece of the program (a task) names the bytes of shared
// arrays that it writes, and any other write ends the job. README.md, "Races", says how accesses are detected.
//
// Owner: Memory. begin() and end() are for one thread at a time, and only if on(). Between the two, the writes of all
// threads of the rank count as the piece's.
#pragma once

#include <cstddef>
#include <string>

#include "memory/check/named_bytes.hpp"

namespace hiroba {

struct MemoryParts;

// A write to bytes that were not named.
struct UnnamedWrite {
  const char* address;
  const void* code;  // null: not known
  bool near;         // the code is that of the first write to the page
};

class NamedWrites {
 public:
  explicit NamedWrites(MemoryParts& parts) : parts_(parts) {}
  // Ends the job; may run in a signal handler, in any thread.
  using Refuse = void (*)(const void* context, const UnnamedWrite& write);

  // Returns whether accesses are recorded: with option check, if races can be looked for.
  bool on() const;
  // Allows writes to these bytes of shared arrays only, until end().
  void begin(NamedBytes&& bytes, Refuse refuse, const void* context);
  void end();
  // Announces a write to these bytes at their home that bypasses the program's view: no piece there has written them.
  void past_view(const char* address, size_t bytes);

 private:
  MemoryParts& parts_;
};

}  // namespace hiroba
