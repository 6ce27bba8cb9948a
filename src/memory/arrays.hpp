// Part of the contract of this floor: the job's shared arrays, from their allocation to their end, and the lookup of
// the array to which an address belongs.
//
// Owner: Memory. allocate(), free(), redistribute() and set_twin() are collective; everything else is thread-safe. The
// fault handler may call it, but functions that build a text only if the job then ends.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/shown.hpp"
#include "memory/array.hpp"

namespace hiroba {

struct MemoryParts;

// Returns the status, with the name of the call before the message of a failure.
Status in_call(const char* call, Status status);

class Arrays {
 public:
  explicit Arrays(MemoryParts& parts) : parts_(parts) {}

  struct Request {
    std::vector<int64_t> dim, div;
    uint64_t element_bytes = 0;
    int first = 0, count = 1;
    std::vector<int64_t> cuts = {};  // replaces dim, div, first and count: Distribution::make_cut
    const char* call = "";           // for messages: "sms_alloc(8, 100, 0)"
    const char* place = "";          // "main.c:12"
    const char* freed_by = "free";   // the call that frees it
    bool watched = true;             // option check finds races on it
    bool own_open = false;           // a rank's accesses to its own part count only where watch_own() says so
    GuardedParts parts = {};         // if each rank has its own part, with a guard after it
    const void* adopts = nullptr;    // memory of the executable in the address range, which becomes the array with the
                                     // contents that rank `first` has; whole pages
    bool sparse = false;             // most of it will not be used: it counts as no memory
    const char* closed_pages = nullptr;  // for messages: what an access to a page means that its owner has closed
    bool closable = false;  // calls of the system get its bytes by SystemAccess alone, so home pages that nobody writes
                            // may be closed to writes
  };
  [[HIROBA_SHOWN]] Status allocate(const Request& request, void*& out);
  // Messages of this function and the next name the call.
  [[HIROBA_SHOWN]] Status free(void* data, const char* call);
  // Changes the homes of all elements at once; the arguments are as for an allocation.
  Status redistribute(void* data, std::span<const int64_t> div, int first, int count, const char* call);
  // Fails for an array with a part for each rank: its homes do not change.
  Status check_movable(const Array& array) const;
  Counters freed;                                // of all arrays that are freed
  uint64_t changes() const { return changes_; }  // number of arrays freed or given other homes
  void homes_changed() { ++changes_; }
  enum class Twin { by_option, at_fetch, at_write };
  Status set_twin(void* data, Twin twin, const char* call);
  // Sets the size of the values in which this rank's writes to the array are published.
  Status set_scalar(void* data, size_t bytes, const char* call);
  // Promises that this rank touches pages of other nodes only after it has preloaded them since the last
  // synchronisation. `call` is kept.
  [[HIROBA_SHOWN]] Status preload_only(const void* data, const char* call);

  // Returns the live array that contains the address, or null; find() returns a status that explains the address
  // instead.
  Array* at(const void* address) const;
  Status find(const void* address, Array*& out) const;
  std::string explain(const void* address) const;
  // Returns the live array with this id; null if there is none.
  Array* by_id(uint64_t id) const;
  void for_each(const std::function<void(Array&)>& visit) const;  // visits live arrays
  // Returns whether the address is in a guard, which option check has closed after a rank's part.
  bool is_guard(const void* address) const;
  // Returns whether an access to these bytes may be a page fault, because they are shared memory of another node.
  bool may_fault(const void* address, size_t bytes) const;
  // Fails if the program has written beside the arrays.
  Status check_ends() const;

 private:
  Status unused(const Array& array) const;
  Status find_first(void* data, Array*& out) const;
  Status distribute(const Array& array, std::span<const int64_t> div, int first, int count, Distribution& next,
                    std::vector<HomeRun>& homes) const;
  Status map_homes(const Array& array);
  Status close_guards(const Array& array) const;
  Status check_room(const Array& array, const std::vector<HomeRun>& homes) const;
  Status check_ends(const Array& array) const;
  std::string explain_part(const Array& array, const char* address) const;

  MemoryParts& parts_;
  uint64_t changes_ = 0;
};

}  // namespace hiroba
