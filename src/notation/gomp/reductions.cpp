#include "notation/gomp/reductions.hpp"

#include <cstdlib>
#include <cstring>

#include "base/log.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
void GOMP_taskgroup_reduction_register(uintptr_t*);
void GOMP_taskgroup_reduction_unregister(uintptr_t*);
void GOMP_task_reduction_remap(size_t, size_t, void**);
void GOMP_workshare_task_reduction_unregister(bool);
unsigned GOMP_parallel_reductions(void (*)(void*), void*, unsigned, unsigned);
bool GOMP_scope_start(uintptr_t*);
}

namespace hiroba::openmp {

namespace {

// Words of the data. Others follow that describe the variables.
constexpr int bytes_of_thread = 1, alignment = 2, parts = 2, next_data = 4, table = 5, parts_end = 6;

// The reductions of the constructs that this thread is in, from the outermost on: the ranks share their memory.
constexpr int most = 16;
thread_local uintptr_t* shared_data[most];
thread_local void* shared_memory[most];
thread_local int constructs = 0;

uintptr_t aligned(void* memory, uintptr_t to) { return (reinterpret_cast<uintptr_t>(memory) + to - 1) & ~(to - 1); }

// Calls `act` for each of the linked data, of which the last has libgomp's table.
template <typename Act>
void for_each(uintptr_t* data, const Act& act) {
  for (uintptr_t* d = data;; d = reinterpret_cast<uintptr_t*>(d[next_data])) {
    act(d);
    if (d[table] != 0) return;
  }
}

// libgomp has allocated parts for the threads of the rank.
void replace_parts(uintptr_t* data, uintptr_t memory) {
  std::free(reinterpret_cast<void*>(data[parts]));
  data[parts] = memory;
  data[parts_end] = memory + data[bytes_of_thread] * static_cast<uintptr_t>(member.threads);
}

// Returns the bytes of a thread's part of the memory that has the address; 0: it is not of these reductions.
uintptr_t bytes_of_part(uintptr_t* data, uintptr_t address) {
  uintptr_t bytes = 0;
  for_each(data, [&](const uintptr_t* d) {
    if (address >= d[parts] && address < d[parts_end]) bytes = d[bytes_of_thread];
  });
  return bytes;
}

// A loop with reductions of tasks has a taskgroup of its own, but for OpenMP its tasks are of the taskgroup around it:
// one that was cancelled cancels the loop's, and a task of the loop that cancels cancels both.
void begin_group_of_construct() {
  const bool is_cancelled = HIROBA_REAL(GOMP_cancellation_point)(cancels_taskgroup);
  GOMP_taskgroup_start();
  if (is_cancelled) HIROBA_REAL(GOMP_cancel)(cancels_taskgroup, true);
}

void end_group_of_construct() {
  bool is_cancelled = false;
  if (instance<Regions>().cancellation().on()) {
    GOMP_taskwait();  // a task that still waits may cancel
    is_cancelled = HIROBA_REAL(GOMP_cancellation_point)(cancels_taskgroup);
  }
  GOMP_taskgroup_end();
  if (is_cancelled) HIROBA_REAL(GOMP_cancel)(cancels_taskgroup, true);
}

}  // namespace

void begin_reductions(uintptr_t* data) {
  if (constructs == most) end_job(1, "constructs with reductions of tasks lie in each other more than %d deep", most);
  uintptr_t first[64];  // alignments, which libgomp overwrites
  size_t bytes = 0;
  unsigned number = 0;
  for (uintptr_t* d = data; d != nullptr && number < 64; d = reinterpret_cast<uintptr_t*>(d[next_data])) {
    first[number++] = d[alignment];
    bytes += d[bytes_of_thread] * static_cast<uintptr_t>(member.threads) + d[alignment];
  }
  begin_group_of_construct();
  instance<Regions>().tasks().group_reduces();
  HIROBA_REAL(GOMP_taskgroup_reduction_register)(data);
  void* at = shared_memory[constructs] = instance<Regions>().team_memory(bytes);
  number = 0;
  for_each(data, [&](uintptr_t* d) {
    replace_parts(d, aligned(at, first[number++]));
    at = reinterpret_cast<void*>(d[parts_end]);
  });
  shared_data[constructs++] = data;
  // A thread that is still in a barrier runs tasks of others, so all must know their parts before one makes tasks.
  instance<Regions>().barrier();
}

}  // namespace hiroba::openmp

using namespace hiroba;
using namespace hiroba::openmp;

// Those of a taskgroup are of tasks of this rank, by threads of this rank.
EXPORT void GOMP_taskgroup_reduction_register(uintptr_t* data) {
  if (!member.spans) return HIROBA_REAL(GOMP_taskgroup_reduction_register)(data);
  instance<Regions>().tasks().group_reduces();
  uintptr_t* d = data;
  uintptr_t align = 1;
  for (; d != nullptr; d = reinterpret_cast<uintptr_t*>(d[next_data]))
    align = d[alignment] > align ? d[alignment] : align;
  HIROBA_REAL(GOMP_taskgroup_reduction_register)(data);
  for_each(data, [&](uintptr_t* each) {
    const size_t bytes = each[bytes_of_thread] * static_cast<size_t>(member.threads);
    void* const memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
    std::memset(memory, 0, bytes);
    replace_parts(each, reinterpret_cast<uintptr_t>(memory));
  });
}

// libgomp takes the part of the thread's number in the rank.
EXPORT void GOMP_task_reduction_remap(size_t count, size_t originals, void** pointers) {
  HIROBA_REAL(GOMP_task_reduction_remap)(count, originals, pointers);
  if (!member.spans) return;
  const auto base = static_cast<uintptr_t>(member.thread - member.local);
  for (size_t i = 0; i < count; ++i)
    for (int depth = constructs; depth-- > 0;)
      if (const uintptr_t part = bytes_of_part(shared_data[depth], reinterpret_cast<uintptr_t>(pointers[i]));
          part != 0) {
        pointers[i] = static_cast<char*>(pointers[i]) + base * part;
        break;
      }
}

EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  if (!member.spans) return HIROBA_REAL(GOMP_workshare_task_reduction_unregister)(cancelled);
  end_group_of_construct();
  uintptr_t* const data = shared_data[--constructs];
  for_each(data, [](uintptr_t* d) { d[parts] = 0; });  // the memory is the team's
  HIROBA_REAL(GOMP_taskgroup_reduction_unregister)(data);
  if (cancelled) return;
  instance<Regions>().barrier();
  if (member.thread == 0) std::free(shared_memory[constructs]);
}

EXPORT bool GOMP_scope_start(uintptr_t* reductions) {
  if (!member.spans) return HIROBA_REAL(GOMP_scope_start)(reductions);
  return begin_reductions(reductions), true;
}

// A region with reductions of tasks: libgomp keeps their data, for a team of one rank. It reads the first word of the
// region's data.
namespace {

struct Reducing {
  uintptr_t* reductions;
  OwnTeam team;
};

}  // namespace

EXPORT unsigned GOMP_parallel_reductions(Function function, void* data, unsigned threads, unsigned flags) {
  Reducing reducing = {*static_cast<uintptr_t**>(data), {function, data}};
  return HIROBA_REAL(GOMP_parallel_reductions)([](void* all) { OwnTeam::function(&static_cast<Reducing*>(all)->team); },
                                               &reducing, reducing.team.threads(threads), flags);
}
