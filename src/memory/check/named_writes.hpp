// Part of the contract of this floor, for option check: a piece of the program (a task) says which bytes of shared
// arrays it writes, and what it writes besides ends the job. README.md, "Races", says how accesses are seen.
//
// Owner: Memory. begin() and end() are for one thread at a time, and only if on(). Between the two, what any thread of
// the rank writes counts as the piece's.
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
  // Ends the job; may run in a signal handler, of any thread.
  using Refuse = void (*)(const void* context, const UnnamedWrite& write);

  // Whether accesses are recorded: option check, where races are looked for.
  bool on() const;
  // Until end() only these bytes of shared arrays may be written.
  void begin(NamedBytes&& bytes, Refuse refuse, const void* context);
  void end();
  // These bytes will be written in the memory of their home, past the program's view of them: not by a piece there.
  void past_view(const char* address, size_t bytes);

 private:
  MemoryParts& parts_;
};

}  // namespace hiroba
