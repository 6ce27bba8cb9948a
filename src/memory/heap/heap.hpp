// Part of the contract of this floor: the heap, shared memory that any thread of any rank allocates and frees without
// the other ranks. An object has its home at one rank, the caller or a named one, and belongs to the rank that has
// allocated it; any rank may free it.
//
// Owner: Memory. Thread-safe, except start and end. allocate() may block for another node's answer if the home is
// there, and free() if the object was allocated there; neither waits for the program there. Collective calls call
// at_barrier().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/tables/options.hpp"
#include "transport/transport.hpp"

namespace hiroba {

struct MemoryParts;
struct HeapParts;
struct FreedObject;

class Heap {
 public:
  explicit Heap(MemoryParts& parts);
  ~Heap();

  static constexpr int caller = -1;  // the home
  // The place of objects that a program allocates which does not know of Hiroba; it need not free them before its end.
  static constexpr const char* unnamed_place = "the program";
  struct Request {
    size_t bytes = 0;
    size_t alignment = 1;  // a power of two
    int home = caller;
    bool zeroed = false;
    const char* place = "";  // "main.c:12"
  };
  [[HIROBA_SHOWN]] Status allocate(const Request& request, void*& out);
  // Allocate and free by this thread's cache: uninitialised objects with their home here, without a lock. They return
  // null or false if the cache cannot serve the call; then allocate() or free() is to be called. They use the process's
  // heap, and may be called while there is none.
  [[HIROBA_SHOWN]] static void* allocate_kept(size_t bytes);
  [[HIROBA_SHOWN]] static bool keep(void* object);
  [[HIROBA_SHOWN]] Status free(void* object, const char* place);
  // Returns the same object, or another one with the same home and content, of the requested size.
  Status reallocate(void* object, const Request& request, void*& out);

  bool contains(const void* address) const;
  // Returns the addresses of all ranks' objects, as long as the process lives.
  [[HIROBA_SHOWN]] std::span<const char> addresses() const;
  // Returns the size of the object that begins there, of any rank, as it uses memory; 0 if there is none.
  [[HIROBA_SHOWN]] uint64_t size(const void* object) const;

  struct Statistics {
    uint64_t live = 0, used = 0;         // of objects that this rank has allocated: bytes, and their memory
    uint64_t returned = 0, batches = 0;  // objects of other ranks that it has freed, and their batches
  };
  // `exact`: objects that others have freed by now do not count; this may ask other nodes.
  Status statistics(Statistics& out, bool exact);
  // Explains an address of the heap, as text for people.
  std::string explain(const void* address) const;

  // ---- for Memory ----
  // Sets `bytes` to the addresses of a rank's part; the same in every rank.
  static Status part_size(const Options& options, int nranks, uint64_t space, uint64_t& bytes);
  void listen(Transport& transport);  // before it starts
  Status start(const Options& options);
  Status at_barrier();  // sends this rank's frees of others' objects
  Status finish();      // before the last barrier; option check reports objects that were not freed

 private:
  void place(const Request& request, int home, void*& out);
  void* fetch_small(size_t bytes);
  Status free_own(void* object, const FreedObject& freed);
  Status drain();
  void publish_writes(std::span<const FreedObject> objects);
  bool publish_reuse(const std::vector<FreedObject>& objects);
  void refresh(uint64_t position, uint64_t bytes);
  void give_back(void* address, uint64_t bytes);
  Status exhausted(const Request& request, int home) const;
  Status add_arrays();

  MemoryParts& parts_;
  std::unique_ptr<HeapParts> heap_;
};

}  // namespace hiroba
