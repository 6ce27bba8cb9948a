// The C entry points of sms.h: arguments into the memory floor's terms, and its errors into the end of the job.
#define SMS_NO_PLACES
#include "sms.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/debugger.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "memory/memory.hpp"
#include "notation/sms/process.hpp"
#include "notation/sms/report.hpp"

using hiroba::Array;
using hiroba::Distribution;
using hiroba::end_job;
using hiroba::format;
using hiroba::Job;
using hiroba::Memory;
using hiroba::Options;
using hiroba::Range;
using hiroba::Status;

#define SMS_EXPORT extern "C" __attribute__((visibility("default")))

SMS_EXPORT int sms_rank, sms_nprocs, sms_node, sms_nnodes;
int sms_rank = 0, sms_nprocs = 1, sms_node = 0, sms_nnodes = 1;

namespace {

// The interface has no handle, so this is the one Memory of the process.
std::unique_ptr<Memory> the_memory;
hiroba::Coarrays the_coarrays;
bool shut_down = false, print_stats = false;
void (*start_hook)() = nullptr, (*end_hook)() = nullptr,
     (*barrier_hook)() = nullptr;  // set by constructors of the program, before there is anything that could own it

void require(const Status& status) {
  if (!status.ok()) end_job(1, "%s", status.message().c_str());
}

// Messages before the start carry the rank, too, if hirobarun has given it, and only the first rank that fails speaks.
void introduce() {
  if (!Job::in_environment()) return;
  Job job;
  const Status described = Job::from_environment(job);
  hiroba::set_reporter(job.rank, nullptr);
  require(described);
  hiroba::Board* board = nullptr;
  require(hiroba::map_board(job, board));
  hiroba::set_reporter(job.rank, &board->aborting);
}

// A child that a rank makes by fork has a copy of all this, and is no rank: its calls would be taken for the rank's.
bool in_forked_child = false;

Memory& memory(const char* call) {
  if (in_forked_child) {
    hiroba::log_line(
        "%s in process %d, a child that this rank has made by fork and that is no rank; only the rank itself "
        "may call Hiroba: let the child compute and leave by _exit(), or execute another program",
        call, static_cast<int>(getpid()));
    _exit(1);
  }
  if (the_memory != nullptr) return *the_memory;
  hiroba::not_started(call, "sms_startup", "sms_shutdown");
}

// A program that leaves without sms_shutdown leaves the others waiting for it.
void left_early(int status, void*) {
  if (the_memory == nullptr) {
    // With glibc, exit() in an exit handler goes on with the handlers that are left.
    if (shut_down && status == 0 && hiroba::findings() > 0) exit(1);
    return;
  }
  if (the_memory->board().rank(sms_rank).pid != getpid()) return;  // a child that the program forked
  (void)the_memory.release();                                      // other threads may still use it
  end_job(status == 0 ? 1 : status & 0xff,
          "the program ended with status %d, by exit or by returning from main, before %s", status,
          the_coarrays.started() ? "xmp_finalize" : "sms_shutdown");
}

// The numbers up to -1.
template <typename Int>
std::vector<int64_t> list(const Int* numbers, const char* call, const char* what) {
  std::vector<int64_t> out;
  if (numbers == nullptr) end_job(1, "%s: %s is NULL; it is a list of numbers that ends with -1", call, what);
  for (; *numbers != -1; ++numbers) {
    out.push_back(*numbers);
    if (out.size() > Distribution::max_dims)
      end_job(1, "%s: %s has more than %d entries; does it end with -1?", call, what, Distribution::max_dims);
  }
  return out;
}

std::string show(const std::vector<int64_t>& numbers) {
  std::string text = "{";
  for (const int64_t n : numbers) text += format("%s%lld", text.size() == 1 ? "" : ",", static_cast<long long>(n));
  return text + "}";
}

void* allocate(Memory::Request request, const std::string& call, const char* place) {
  request.call = call.c_str();
  request.place = place;
  void* out = nullptr;
  const Status status = memory(call.c_str()).allocate(request, out);
  if (!status.ok()) end_job(1, "%s: %s: %s", place, call.c_str(), status.message().c_str());
  return out;
}

template <typename Int>
void* map_allocate(const Int dim[], const Int div[], size_t elemsize, int first, int count, const char* name,
                   const char* place) {
  memory(name);
  Memory::Request request;
  request.dim = list(dim, name, "dim"), request.div = list(div, name, "div");
  request.element_bytes = elemsize, request.first = first, request.count = count;
  const std::string call = format("%s(%s, %s, %zu, %d, %d)", name, show(request.dim).c_str(), show(request.div).c_str(),
                                  elemsize, first, count);
  return allocate(request, call, place);
}

Array& array_of(const void* address, const char* call) {
  Array* array = nullptr;
  const Status status = memory(call).find(address, array);
  if (!status.ok()) end_job(1, "%s: %s", call, status.message().c_str());
  return *array;
}

uint64_t add(void* address, unsigned bytes, uint64_t value, const char* call) {
  uint64_t old = 0;
  const Status status = memory(call).atomic_add(address, bytes, value, old);
  if (!status.ok()) end_job(1, "%s: %s", call, status.message().c_str());
  return old;
}

uint64_t swap(void* address, unsigned bytes, uint64_t expected, uint64_t desired, const char* call) {
  uint64_t old = 0;
  const Status status = memory(call).atomic_swap(address, bytes, expected, desired, old);
  if (!status.ok()) end_job(1, "%s: %s", call, status.message().c_str());
  return old;
}

template <typename T>
T combine(T a, T b, sms_op op) {
  switch (op) {
    case SMS_SUM: return a + b;
    case SMS_MIN: return b < a ? b : a;
    case SMS_MAX: return b > a ? b : a;
    case SMS_PROD: return a * b;
  }
  end_job(1, "reduction with operation %d; use SMS_SUM, SMS_MIN, SMS_MAX or SMS_PROD", static_cast<int>(op));
}

template <typename T>
T reduce(T value, sms_op op, const char* name) {
  return hiroba::reduce_over_ranks(value, name, op, [op](T a, T b) { return combine(a, b, op); });
}

}  // namespace

namespace hiroba {
Memory& process_memory(const char* call) { return memory(call); }
Coarrays& process_coarrays() { return the_coarrays; }
bool process_started() { return the_memory != nullptr; }
void not_started(const char* call, const char* begin, const char* end) {
  if (shut_down) end_job(1, "%s after %s; move it before", call, end);
  introduce();
  end_job(1, "%s before %s; call %s(&argc, &argv) first", call, begin, begin);
}
void at_start(void (*hook)()) { start_hook = hook; }
void at_end(void (*hook)()) { end_hook = hook; }
void at_barrier(void (*hook)()) { barrier_hook = hook; }
void begin_barrier() {
  if (the_memory->checking() && barrier_hook != nullptr) barrier_hook();
}
}  // namespace hiroba

SMS_EXPORT int sms_startup(int*, char***) {
  if (the_memory != nullptr) end_job(1, "sms_startup called twice");
  if (shut_down) end_job(1, "sms_startup after sms_shutdown; a job starts once");
  Options options;
  introduce();
  require(Options::from_environment(options));
  require(Memory::start(options, [](hiroba::Transport& transport) { the_coarrays.listen(transport); }, the_memory));
  const Job& job = the_memory->job();
  sms_rank = job.rank, sms_nprocs = job.nranks, sms_node = job.node, sms_nnodes = job.nnodes;
  print_stats = options.flag("stats");
  if (job.launched) {
    setvbuf(stdout, nullptr, _IOLBF, 0);  // to hirobarun it is a pipe, where stdio would keep whole pages back
    prctl(PR_SET_PDEATHSIG, SIGKILL);     // also behind a wrapper script, a killed hirobarun leaves nobody
  }
  on_exit(left_early, nullptr);
  pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; });
  hiroba::Debugging debugging;
  require(hiroba::Debugging::from_option(options.text("debug"), job.rank, job.nranks, debugging));
  hiroba::set_debugging(debugging, job.rank);
  hiroba::stop_at_start();
  if (start_hook != nullptr) start_hook();
  return 0;
}

SMS_EXPORT int sms_shutdown(void) {
  Memory& m = memory("sms_shutdown");
  if (print_stats) hiroba::report_statistics(m), the_coarrays.report_statistics();
  if (the_coarrays.started()) require(the_coarrays.stop());
  require(m.stop());
  the_memory.reset();
  shut_down = true;
  if (end_hook != nullptr) end_hook();
  if (hiroba::findings() > 0)
    hiroba::log_line("check: %d mistake%s found; the exit status of the job is 1", hiroba::findings(),
                     hiroba::findings() == 1 ? "" : "s");
  return 0;
}

SMS_EXPORT void sms_abort(int status, const char* message) {
  end_job(status < 1 || status > 255 ? 1 : status, "sms_abort: %s", message == nullptr ? "" : message);
}

SMS_EXPORT void* sms_alloc_at(size_t elemsize, size_t n, int rank, const char* place) {
  memory("sms_alloc");
  const std::string call = format("sms_alloc(%zu, %zu, %d)", elemsize, n, rank);
  if (n > INT64_MAX) end_job(1, "%s: %s: %zu elements; was the number negative?", place, call.c_str(), n);
  Memory::Request request;
  request.dim = {static_cast<int64_t>(n)}, request.div = {1};
  request.element_bytes = elemsize, request.first = rank;
  return allocate(request, call, place);
}

SMS_EXPORT void* sms_mapalloc_at(const int dim[], const int div[], size_t elemsize, int first, int count,
                                 const char* place) {
  return map_allocate(dim, div, elemsize, first, count, "sms_mapalloc", place);
}

SMS_EXPORT void* sms_mapalloc_large_at(const int64_t dim[], const int64_t div[], size_t elemsize, int first, int count,
                                       const char* place) {
  return map_allocate(dim, div, elemsize, first, count, "sms_mapalloc_large", place);
}

SMS_EXPORT void* sms_alloc(size_t elemsize, size_t n, int rank) { return sms_alloc_at(elemsize, n, rank, "unnamed"); }

SMS_EXPORT void* sms_mapalloc(const int dim[], const int div[], size_t elemsize, int first, int count) {
  return sms_mapalloc_at(dim, div, elemsize, first, count, "unnamed");
}

SMS_EXPORT void* sms_mapalloc_large(const int64_t dim[], const int64_t div[], size_t elemsize, int first, int count) {
  return sms_mapalloc_large_at(dim, div, elemsize, first, count, "unnamed");
}

SMS_EXPORT void sms_free(void* array) {
  if (array == nullptr) return;
  Memory& m = memory("sms_free");
  const Status status = m.free(array, format("sms_free(%p)", array).c_str());
  if (!status.ok()) end_job(1, "sms_free: %s", status.message().c_str());
}

SMS_EXPORT void sms_name(void* array, const char* name) {
  Array& a = array_of(array, "sms_name");
  std::strncpy(a.name, name, sizeof a.name - 1);
}

SMS_EXPORT void sms_set_twin(void* array, enum sms_twin when) {
  const auto twin = when == SMS_TWIN_AT_FETCH   ? Memory::Twin::at_fetch
                    : when == SMS_TWIN_AT_WRITE ? Memory::Twin::at_write
                                                : Memory::Twin::by_option;
  require(memory("sms_set_twin")
              .set_twin(array, twin, format("sms_set_twin(%p, %d)", array, static_cast<int>(when)).c_str()));
}

SMS_EXPORT void sms_promise_preload(const void* array) {
  require(memory("sms_promise_preload").promise_preload(array));
}

SMS_EXPORT void sms_barrier(void) {
  Memory& m = memory("sms_barrier");
  hiroba::begin_barrier();
  require(m.barrier("sms_barrier"));
}

SMS_EXPORT void sms_sync_drop(void) {
  Memory& m = memory("sms_sync_drop");
  hiroba::begin_barrier();
  require(m.sync_drop("sms_sync_drop"));
}

SMS_EXPORT void sms_sync_drop_start(void) {
  Memory& m = memory("sms_sync_drop_start");
  hiroba::begin_barrier();
  require(m.start_sync_drop("sms_sync_drop_start"));
}

SMS_EXPORT void sms_sync_drop_wait(void) { require(memory("sms_sync_drop_wait").end_sync_drop("sms_sync_drop_wait")); }

SMS_EXPORT void sms_sync(void) { memory("sms_sync").sync(); }
SMS_EXPORT void sms_lock(int id) { require(memory("sms_lock").lock(id)); }
SMS_EXPORT void sms_unlock(int id) { require(memory("sms_unlock").unlock(id)); }

SMS_EXPORT int sms_trylock(int id) {
  bool taken = false;
  require(memory("sms_trylock").try_lock(id, taken));
  return taken ? 1 : 0;
}

SMS_EXPORT sms_request sms_preload_start(const void* array, const sms_range section[]) {
  const Array& a = array_of(array, "sms_preload");
  Range ranges[Distribution::max_dims];
  for (int d = 0; d < a.distribution.dims(); ++d) ranges[d] = {section[d].base, section[d].length, section[d].step};
  hiroba::PageRun run = {0, 0};
  require(the_memory->start_preload(array, {ranges, static_cast<size_t>(a.distribution.dims())}, &run));
  return {run.first << 32 | run.pages};  // a space has fewer than 2^32 pages
}

SMS_EXPORT void sms_preload_wait(sms_request* request) {
  memory("sms_preload_wait").preload_wait({request->state >> 32, request->state & UINT32_MAX});
  request->state = 0;
}

SMS_EXPORT void sms_preload(const void* array, const sms_range section[]) {
  sms_request request = sms_preload_start(array, section);
  sms_preload_wait(&request);
}

SMS_EXPORT void sms_preload_bytes(const void* address, size_t bytes) {
  require(memory("sms_preload_bytes").start_preload_bytes(address, bytes));
  the_memory->preload_wait();
}

SMS_EXPORT int sms_home(const void* address) {
  const Array& a = array_of(address, "sms_home");
  return a.distribution.owner(static_cast<uint64_t>(static_cast<const char*>(address) - a.data) /
                              a.distribution.element_bytes());
}

SMS_EXPORT int sms_local_box(const void* array, int rank, size_t first[], size_t length[]) {
  const Array& a = array_of(array, "sms_local_box");
  if (rank < 0 || rank >= sms_nprocs)
    end_job(1, "sms_local_box: rank %d does not exist: the job has ranks 0..%d", rank, sms_nprocs - 1);
  const auto box = a.distribution.box(rank);
  for (int d = 0; d < a.distribution.dims(); ++d) {
    first[d] = static_cast<size_t>(box[static_cast<size_t>(d)].base);
    length[d] = static_cast<size_t>(box[static_cast<size_t>(d)].length);
  }
  return a.distribution.dims();
}

SMS_EXPORT int64_t sms_fetch_add(int64_t* address, int64_t value) {
  return static_cast<int64_t>(add(address, 8, static_cast<uint64_t>(value), "sms_fetch_add"));
}

SMS_EXPORT int64_t sms_compare_swap(int64_t* address, int64_t expected, int64_t desired) {
  return static_cast<int64_t>(
      swap(address, 8, static_cast<uint64_t>(expected), static_cast<uint64_t>(desired), "sms_compare_swap"));
}

SMS_EXPORT int64_t sms_atomic_load(const int64_t* address) {
  return static_cast<int64_t>(add(const_cast<int64_t*>(address), 8, 0, "sms_atomic_load"));
}

SMS_EXPORT void sms_atomic_store(int64_t* address, int64_t value) {
  uint64_t old = add(address, 8, 0, "sms_atomic_store");
  for (uint64_t seen = 0; (seen = swap(address, 8, old, static_cast<uint64_t>(value), "sms_atomic_store")) != old;)
    old = seen;
}

SMS_EXPORT int32_t sms_fetch_add32(int32_t* address, int32_t value) {
  return static_cast<int32_t>(add(address, 4, static_cast<uint32_t>(value), "sms_fetch_add32"));
}

SMS_EXPORT int32_t sms_compare_swap32(int32_t* address, int32_t expected, int32_t desired) {
  return static_cast<int32_t>(
      swap(address, 4, static_cast<uint32_t>(expected), static_cast<uint32_t>(desired), "sms_compare_swap32"));
}

SMS_EXPORT double sms_reduce_double(double value, enum sms_op op) { return reduce(value, op, "sms_reduce_double"); }
SMS_EXPORT int64_t sms_reduce_int64(int64_t value, enum sms_op op) { return reduce(value, op, "sms_reduce_int64"); }

SMS_EXPORT void sms_stats(const void* array, sms_statistics* out) {
  *out = {};
  if (array != nullptr) return hiroba::add_statistics(array_of(array, "sms_stats"), *out);
  memory("sms_stats").arrays().for_each_live([&](const Array& a) { hiroba::add_statistics(a, *out); });
  const hiroba::Transport::Traffic traffic = the_memory->transport().traffic();
  out->messages_sent = traffic.messages;
  out->message_bytes = traffic.bytes;
}

SMS_EXPORT void hiroba_copy_communicator(void* out, size_t bytes) {
  const size_t made = memory("hiroba_comm").transport().communicator(out, bytes);
  if (made == 0)
    end_job(1, "hiroba_comm: transport %s has no MPI communicator; use --transport mpi",
            the_memory->transport().name());
  if (made != bytes)
    end_job(1,
            "hiroba_comm: the program was compiled for another MPI than the one that runs it (MPI_Comm has %zu bytes "
            "there and %zu here)",
            bytes, made);
}

SMS_EXPORT int hiroba_may_need_pages(const void* address) {
  return the_memory != nullptr && the_memory->may_need_pages(address, 1) ? 1 : 0;
}

SMS_EXPORT void hiroba_bring_pages(const void* address, size_t bytes, int to_write, const char* call) {
  if (const hiroba::Status status = memory(call).bring_all_pages(address, bytes, to_write != 0); !status.ok())
    end_job(1, "%s: %s", call, status.message().c_str());
}
