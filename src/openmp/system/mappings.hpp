// Memory that the program maps by mmap(): it has one address in all ranks, and is allocated as objects are.
// A file's contents are read when it is mapped; what is written to a shared mapping goes to the file by msync(), when
// it is unmapped, and at the end. Mappings of the same part of a file that are shared are one.
//
// Owner: the process (instance<Mappings>). Thread-safe after begin(). The functions return what those of the system do,
// and set errno; what cannot be done is told in a line.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class Mappings {
 public:
  Status begin(Memory& memory);  // collective
  void* map(void* at, size_t bytes, int access, int flags, int descriptor, off_t offset);
  int unmap(char* at, size_t bytes);
  int sync(const char* at, size_t bytes);
  int advise(char* at, size_t bytes, int advice);
  void* remap(char* at, size_t bytes, size_t wanted, int flags);
  bool has(const char* at);
  // Writes shared mappings that are left to their files. By rank 0, after main.
  void end();

 private:
  struct File {
    uint64_t device = 0, number = 0;
    off_t offset = 0;
    bool shared = false;
    int rank = -1, descriptor = -1;  // by which it can be written; -1: it is not
  };
  struct Mapping {  // in shared memory
    Mapping* next;
    char* begin;
    size_t bytes, mapped;  // mapped: bytes that have not been unmapped; more often if the mapping is shared again
    File file;
    char* end() const { return begin + bytes; }
  };
  struct Shared {
    uint32_t lock;
    Mapping* first;
  };
  struct Request {
    size_t bytes;
    int access, flags, descriptor;
    off_t offset;
  };
  class Locked;

  bool read_about(const Request& request, File& file) const;
  bool fill(char* at, const Request& request);
  void* map_anew(const Request& request, const File& file);
  void* map_over(char* at, const Request& request, const File& file);
  void* share_again(const Request& request, const File& file, bool& refused);
  Mapping* find(const char* at);
  void unmap_part(Mapping& mapping, size_t bytes);
  bool write_back(const Mapping& mapping) const;

  Memory* memory_ = nullptr;
  Shared* shared_ = nullptr;
};

}  // namespace hiroba::openmp
