// Part of the contract of this floor: the job's shared arrays, from their allocation to their end, and which of them an
// address belongs to.
//
// Owner: Memory. allocate(), free() and set_twin() are collective; everything else is thread-safe and may be called in
// the fault handler, but what builds a text only on the way to the end of the job.
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

// A failure, after the name of the call in which it was met.
Status in_call(const char* call, Status status);

// What arrays have counted that were freed, by name; of names that come late together.
struct FreedCounters {
  struct Sum {
    uint64_t arrays = 0;
    Counters counters;
  };
  std::map<std::string, Sum> by_name;

  void add(const Array& array);
};

class Arrays {
 public:
  explicit Arrays(MemoryParts& parts) : parts_(parts) {}

  struct Request {
    std::vector<int64_t> dim, div;
    uint64_t element_bytes = 0;
    int first = 0, count = 1;
    std::vector<int64_t> cuts = {};  // in the place of dim, div, first and count: Distribution::make_cut
    const char* call = "";           // for messages: "sms_alloc(8, 100, 0)"
    const char* place = "";          // "main.c:12"
    const char* freed_by = "free";   // the call that gives it back
    bool watched = true;             // option check finds races on it
    GuardedParts parts = {};         // if each rank has one of its own, and closed pages after it
  };
  [[HIROBA_SHOWN]] Status allocate(const Request& request, void*& out);
  // Messages of these two name the call.
  [[HIROBA_SHOWN]] Status free(void* data, const char* call);
  // Other homes for the elements, all at once; the arguments are as for an allocation.
  Status redistribute(void* data, std::span<const int64_t> div, int first, int count, const char* call);
  // Of what has a part for each rank, homes do not change.
  Status check_movable(const Array& array) const;
  FreedCounters freed;
  uint64_t changes() const { return changes_; }  // arrays that were freed or have got other homes, so far
  void homes_changed() { ++changes_; }
  enum class Twin { by_option, at_fetch, at_write };
  Status set_twin(void* data, Twin twin, const char* call);
  // What this rank writes to the array is published by values of so many bytes.
  Status set_scalar(void* data, size_t bytes, const char* call);
  // From now on this rank touches pages of other nodes only after it has preloaded them since the last synchronisation.
  // `call` is kept.
  [[HIROBA_SHOWN]] Status preload_only(const void* data, const char* call);

  // The live array that contains the address, null if none; or a status that explains what the address is.
  Array* at(const void* address) const;
  Status find(const void* address, Array*& out) const;
  std::string explain(const void* address) const;
  // The live array with this id; null if none.
  Array* by_id(uint64_t id) const;
  void for_each(const std::function<void(Array&)>& visit) const;  // that is live
  // Whether option check has closed the pages there, which follow a rank's part.
  bool is_guard(const void* address) const;
  // Whether an access to these bytes may be a page fault, because they are shared memory of another node.
  bool may_fault(const void* address, size_t bytes) const;
  // Nothing has been written beside the arrays.
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
