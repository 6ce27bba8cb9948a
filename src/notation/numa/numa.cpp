// The entry points of placement.h.
#define SMS_NO_PLACES
#include "placement.h"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "process/process.hpp"

#define NUMA_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

static_assert(HIROBA_PAGE_UNUSED == Affinity::absent && HIROBA_PAGE_ELSEWHERE == Affinity::elsewhere);

namespace {

Affinity& affinity_of(const char* call) { return process_memory(call).affinity(); }

Array& array_of(const void* address, const char* call) {
  Array* array = nullptr;
  require_at(process_memory(call).arrays().find(address, array), call);
  return *array;
}

// Requires that the address is in a shared array.
Affinity& affinity_of(const void* array, const char* call) { return array_of(array, call), affinity_of(call); }

std::vector<int> domains_of_pages(const Array& array, const char* call) {
  std::vector<int> out;
  require_at(affinity_of(call).locate(array, out), call);
  return out;
}

}  // namespace

NUMA_EXPORT int64_t hiroba_place_memory(void* array, int where) {
  constexpr const char* call = "hiroba_place_memory";
  MemoryPlace place;
  switch (where) {
    case HIROBA_ON_OWNER: place.kind = MemoryPlace::Kind::owner; break;
    case HIROBA_INTERLEAVED: place.kind = MemoryPlace::Kind::interleave; break;
    case HIROBA_ON_FIRST_TOUCH: place.kind = MemoryPlace::Kind::touch; break;
    default:
      if (where < 0)
        end_job(1, "%s: %d is not HIROBA_ON_OWNER, HIROBA_INTERLEAVED, HIROBA_ON_FIRST_TOUCH, nor a NUMA domain", call,
                where);
      place = {MemoryPlace::Kind::domain, where};
  }
  uint64_t moved = 0;
  require(affinity_of(array, call).place(array, place, call, moved));
  return static_cast<int64_t>(moved);
}

NUMA_EXPORT int64_t hiroba_migrate(void* array, const sms_range section[], int rank) {
  constexpr const char* call = "hiroba_migrate";
  const Array& a = array_of(array, call);
  Range ranges[Distribution::max_dims];
  const auto dims = static_cast<size_t>(a.distribution.dims());
  for (size_t d = 0; d < dims; ++d) ranges[d] = {section[d].base, section[d].length, section[d].step};
  uint64_t moved = 0;
  require(affinity_of(call).migrate(array, {ranges, dims}, rank, call, moved));
  return static_cast<int64_t>(moved);
}

NUMA_EXPORT void hiroba_next_touch(void* array) {
  constexpr const char* call = "hiroba_next_touch";
  require(affinity_of(array, call).next_touch(array, call));
}

NUMA_EXPORT void hiroba_sample_touches(void* array, int on) {
  constexpr const char* call = "hiroba_sample_touches";
  require(affinity_of(array, call).sample(array, on != 0, call));
}

NUMA_EXPORT int64_t hiroba_migrate_by_touches(void* array) {
  constexpr const char* call = "hiroba_migrate_by_touches";
  uint64_t moved = 0;
  require(affinity_of(array, call).migrate_by_use(array, call, moved));
  return static_cast<int64_t>(moved);
}

NUMA_EXPORT size_t hiroba_page_domains(const void* array, int domain[], size_t room) {
  constexpr const char* call = "hiroba_page_domains";
  const std::vector<int> where = domains_of_pages(array_of(array, call), call);
  std::copy_n(where.begin(), std::min(room, where.size()), domain);
  return where.size();
}

NUMA_EXPORT char* hiroba_describe_pages(const void* array) {
  constexpr const char* call = "hiroba_describe_pages";
  const Array& a = array_of(array, call);
  const std::vector<int> where = domains_of_pages(a, call);
  const size_t domains = affinity_of(call).domains().size();
  const std::string text = format("%s: %zu pages; this machine has %s\n", a.name, where.size(),
                                  domains == 1 ? "one NUMA domain" : format("%zu NUMA domains", domains).c_str()) +
                           show_domains(where);
  char* const out = strdup(text.c_str());
  if (out == nullptr) end_job(1, "%s: no memory for the text", call);
  return out;
}

NUMA_EXPORT int hiroba_numa_domains(void) {
  return static_cast<int>(affinity_of("hiroba_numa_domains").domains().size());
}

NUMA_EXPORT int hiroba_numa_domain_of(int rank) {
  constexpr const char* call = "hiroba_numa_domain_of";
  const Job& job = process_memory(call).job();
  if (rank < 0 || rank >= job.nranks || !job.is_here(rank))
    end_job(1, "%s: rank %d is not one of this node, which has ranks %d..%d", call, rank, job.first_rank_of(job.node),
            job.first_rank_of(job.node + 1) - 1);
  return affinity_of(call).domain_of(rank);
}

}  // namespace hiroba
