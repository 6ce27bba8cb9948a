// The C entry points of sms.h: they translate arguments for the memory floor, and end the job on its errors.
#define SMS_NO_PLACES
#include "sms.h"

#include <cstring>

#include "base/log.hpp"
#include "base/record/record.hpp"
#include "base/record/record_json.hpp"
#include "base/tables/phrases.hpp"
#include "base/text.hpp"
#include "notation/collective/collective_process.hpp"
#include "notation/sms/reduce.hpp"
#include "notation/sms/report.hpp"
#include "process/process.hpp"

#define SMS_EXPORT extern "C" __attribute__((visibility("default")))

SMS_EXPORT int sms_rank, sms_nprocs, sms_node, sms_nnodes;
int sms_rank = 0, sms_nprocs = 1, sms_node = 0, sms_nnodes = 1;

namespace hiroba {

namespace {

// A preload that is waited for as all requests are. Its handle contains its ticket.
class Preloading final : public Request {
 public:
  explicit Preloading(Preloads::Ticket ticket) : ticket_(ticket) {}
  Status advance(bool& complete) override { return complete = preloads().test(ticket_), Status(); }
  Status hasten(bool& complete) override { return preloads().wait(ticket_), complete = true, Status(); }
  std::string missing() const override { return "its data has not arrived"; }

 private:
  static Preloads& preloads() { return process_memory("a preload").preloads(); }
  Preloads::Ticket ticket_;
};

constexpr uint64_t ticket_mark = Requests::self_contained;

std::shared_ptr<Request> find_preload(uint64_t handle) { return std::make_shared<Preloading>(handle & ~ticket_mark); }

__attribute__((constructor)) void prepare() {
  phrases() = {.end = "sms_shutdown",
               .bring_pages = "sms_preload",
               .free_object = "sms_mfree",
               .resize_object = "sms_realloc",
               .allocate_array = "sms_mapalloc",
               .set_homes = "sms_set_homes",
               .move_homes = "sms_redistribute",
               .set_scalar = "sms_set_scalar"};
}

// Returns the numbers up to -1.
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
  for (const int64_t n : numbers) text += format("%s%ld", text.size() == 1 ? "" : ",", n);
  return text + "}";
}

void* allocate(Arrays::Request request, const std::string& call, const char* place) {
  request.call = call.c_str();
  request.place = place;
  request.freed_by = "sms_free";
  void* out = nullptr;
  require_outside_work(call.c_str());
  const Status status = process_memory(call.c_str()).arrays().allocate(request, out);
  if (!status.ok()) end_job(1, "%s: %s: %s", place, call.c_str(), status.message().c_str());
  return out;
}

template <typename Int>
void* map_allocate(const Int dim[], const Int div[], size_t elemsize, int first, int count, const char* name,
                   const char* place) {
  process_memory(name);
  Arrays::Request request;
  request.dim = list(dim, name, "dim"), request.div = list(div, name, "div");
  request.element_bytes = elemsize, request.first = first, request.count = count;
  const std::string call = format("%s(%s, %s, %zu, %d, %d)", name, show(request.dim).c_str(), show(request.div).c_str(),
                                  elemsize, first, count);
  return allocate(request, call, place);
}

Array& array_of(const void* address, const char* call) {
  Array* array = nullptr;
  require_at(process_memory(call).arrays().find(address, array), call);
  return *array;
}

sms_request start_preload(const void* array, const sms_range section[]) {
  const Array& a = array_of(array, "sms_preload");
  Range ranges[Distribution::max_dims];
  for (int d = 0; d < a.distribution.dims(); ++d) ranges[d] = {section[d].base, section[d].length, section[d].step};
  Preloads::Ticket ticket = 0;
  require(process_memory("sms_preload")
              .preloads()
              .start(array, {ranges, static_cast<size_t>(a.distribution.dims())}, &ticket));
  return {ticket == 0 ? 0 : ticket | ticket_mark};
}

Locks& locks_of(const char* call) {
  require_lockable(call);
  return process_memory(call).locks();
}
Conditions& conditions_of(const char* call) {
  require_lockable(call);
  return process_memory(call).conditions();
}

uint64_t add(void* address, unsigned bytes, uint64_t value, const char* call) {
  uint64_t old = 0;
  require_at(process_memory(call).atomics().add(address, bytes, value, old), call);
  return old;
}

uint64_t swap(void* address, unsigned bytes, uint64_t expected, uint64_t desired, const char* call) {
  uint64_t old = 0;
  require_at(process_memory(call).atomics().swap(address, bytes, expected, desired, old), call);
  return old;
}

template <typename T>
T reduce(T value, sms_op op, const char* call) {
  switch (op) {
    case SMS_SUM: return reduce_value(value, Op::add, call);
    case SMS_MIN: return reduce_value(value, Op::min, call);
    case SMS_MAX: return reduce_value(value, Op::max, call);
    case SMS_PROD: return reduce_value(value, Op::mul, call);
  }
  end_job(1, "reduction with operation %d; use SMS_SUM, SMS_MIN, SMS_MAX or SMS_PROD", static_cast<int>(op));
}

class MemoryModel final : public Model {
 public:
  Status start(Memory& memory, const Options& options) override {
    const std::string& report = options.text("report");
    return report.empty() || memory.job().rank != 0 ? Status() : check_report_name(report);
  }

 private:
  void begin() override {
    Memory& m = process_memory("sms_startup");
    m.collective().requests().set_source(find_preload);
    const Job& job = m.job();
    sms_rank = job.rank, sms_nprocs = job.nranks, sms_node = job.node, sms_nnodes = job.nnodes;
  }
  void report() const override {
    const Memory& m = process_memory("exit");
    m.run_report().seal();
    if (m.times().shown && recording()) report_statistics(m);
  }
};

}  // namespace

Model& memory_model() { return instance<MemoryModel>(); }

SMS_EXPORT int sms_startup(int*, char***) {
#define MODEL(name) &name##_model(),
  static Model* const models[] = {HIROBA_MODELS(MODEL)};
#undef MODEL
  start_process("sms_startup", models);
  return 0;
}

SMS_EXPORT int sms_shutdown(void) {
  const Memory& m = process_memory("sms_shutdown");
  require_outside_work("sms_shutdown");
  report_models();
  if (m.times().shown) require(report_placement(m));
  require(m.run_report().write("sms_shutdown"));
  end_process("sms_shutdown");
  return 0;
}

SMS_EXPORT const char* hiroba_version(void) { return HIROBA_VERSION; }

SMS_EXPORT void sms_abort(int status, const char* message) {
  end_job(status < 1 || status > 255 ? 1 : status, "sms_abort: %s", message == nullptr ? "" : message);
}

SMS_EXPORT void* sms_alloc_at(size_t elemsize, size_t n, int rank, const char* place) {
  process_memory("sms_alloc");
  const std::string call = format("sms_alloc(%zu, %zu, %d)", elemsize, n, rank);
  if (n > INT64_MAX) end_job(1, "%s: %s: %zu elements; was the number negative?", place, call.c_str(), n);
  Arrays::Request request;
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
  Memory& m = process_memory("sms_free");
  end_work("sms_free");
  require(m.arrays().free(array, format("sms_free(%p)", array).c_str()));
}

SMS_EXPORT void sms_name(void* array, const char* name) {
  Array& a = array_of(array, "sms_name");
  std::strncpy(a.name, name, sizeof a.name - 1);
}

SMS_EXPORT void sms_set_scalar(void* array, size_t bytes) {
  const std::string call = format("sms_set_scalar(%p, %zu)", array, bytes);
  require(process_memory("sms_set_scalar").arrays().set_scalar(array, bytes, call.c_str()));
}

SMS_EXPORT void sms_set_twin(void* array, enum sms_twin when) {
  const auto twin = when == SMS_TWIN_AT_FETCH   ? Arrays::Twin::at_fetch
                    : when == SMS_TWIN_AT_WRITE ? Arrays::Twin::at_write
                                                : Arrays::Twin::by_option;
  require(process_memory("sms_set_twin")
              .arrays()
              .set_twin(array, twin, format("sms_set_twin(%p, %d)", array, static_cast<int>(when)).c_str()));
}

SMS_EXPORT void sms_redistribute_on(void* array, const int div[], int first, int count) {
  Memory& m = process_memory("sms_redistribute");
  const std::vector<int64_t> pieces = list(div, "sms_redistribute", "div");
  end_work("sms_redistribute");
  const std::string call = format("sms_redistribute(%p, %s, %d, %d)", array, show(pieces).c_str(), first, count);
  require(m.arrays().redistribute(array, pieces, first, count, call.c_str()));
}

SMS_EXPORT void sms_redistribute(void* array, const int div[]) { sms_redistribute_on(array, div, 0, sms_nprocs); }

SMS_EXPORT void sms_set_homes(void* array, enum sms_homes policy) {
  Memory& m = process_memory("sms_set_homes");
  if (policy != SMS_HOMES_FIXED && policy != SMS_HOMES_FIRST_TOUCH && policy != SMS_HOMES_MIGRATING)
    end_job(1, "sms_set_homes with policy %d; use SMS_HOMES_FIXED, SMS_HOMES_FIRST_TOUCH or SMS_HOMES_MIGRATING",
            static_cast<int>(policy));
  const auto wanted = policy == SMS_HOMES_FIXED         ? HomePolicy::fixed
                      : policy == SMS_HOMES_FIRST_TOUCH ? HomePolicy::first_touch
                                                        : HomePolicy::migrating;
  const std::string call = format("sms_set_homes(%p, %d)", array, static_cast<int>(policy));
  require_outside_work(call.c_str());
  require(m.homes().set_policy(array, wanted, call.c_str()));
}

SMS_EXPORT void sms_promise_preload(const void* array) {
  require(process_memory("sms_promise_preload").arrays().preload_only(array, "sms_promise_preload"));
}

SMS_EXPORT void sms_barrier(void) {
  const RecordedCall recorded;
  Memory& m = process_memory("sms_barrier");
  begin_barrier("sms_barrier");
  require(m.consistency().barrier("sms_barrier"));
}

SMS_EXPORT void sms_sync_drop(void) {
  const RecordedCall recorded;
  Memory& m = process_memory("sms_sync_drop");
  begin_barrier("sms_sync_drop");
  require(m.consistency().sync_drop("sms_sync_drop"));
}

SMS_EXPORT void sms_sync_drop_start(void) {
  const RecordedCall recorded;
  Memory& m = process_memory("sms_sync_drop_start");
  begin_barrier("sms_sync_drop_start");
  require(m.consistency().start_sync_drop("sms_sync_drop_start"));
}

SMS_EXPORT void sms_sync_drop_wait(void) {
  const RecordedCall recorded;
  Memory& m = process_memory("sms_sync_drop_wait");
  require_outside_work("sms_sync_drop_wait");
  if (!m.collective().barriers().between())
    end_job(1, "sms_sync_drop_wait without a start; call sms_sync_drop_start before");
  require(m.consistency().end_sync_drop());
}

SMS_EXPORT void sms_sync(void) {
  const RecordedCall recorded;
  process_memory("sms_sync").consistency().sync();
}

SMS_EXPORT void sms_lock(int id) {
  const RecordedCall recorded;
  require(locks_of("sms_lock").lock(id, "sms_lock"));
}

SMS_EXPORT void sms_unlock(int id) {
  const RecordedCall recorded;
  require(locks_of("sms_unlock").unlock(id, "sms_unlock"));
}

SMS_EXPORT int sms_trylock(int id) {
  const RecordedCall recorded;
  bool taken = false;
  require(locks_of("sms_trylock").try_lock(id, taken, "sms_trylock"));
  return taken ? 1 : 0;
}

SMS_EXPORT void sms_lock_shared(int id) {
  const RecordedCall recorded;
  require(locks_of("sms_lock_shared").lock_shared(id, "sms_lock_shared"));
}

SMS_EXPORT int sms_trylock_shared(int id) {
  const RecordedCall recorded;
  bool taken = false;
  require(locks_of("sms_trylock_shared").try_lock_shared(id, taken, "sms_trylock_shared"));
  return taken ? 1 : 0;
}

SMS_EXPORT void sms_unlock_shared(int id) {
  const RecordedCall recorded;
  require(locks_of("sms_unlock_shared").unlock_shared(id, "sms_unlock_shared"));
}

SMS_EXPORT void sms_wait(int condition, int lock) {
  const RecordedCall recorded;
  require(conditions_of("sms_wait").wait(condition, lock, "sms_wait"));
}

SMS_EXPORT void sms_signal(int condition) { require(conditions_of("sms_signal").signal(condition, "sms_signal")); }

SMS_EXPORT void sms_broadcast(int condition) {
  require(conditions_of("sms_broadcast").broadcast(condition, "sms_broadcast"));
}

SMS_EXPORT void sms_once(int id, void (*function)(void)) {
  Locks& locks = locks_of("sms_once");
  if (function == nullptr) end_job(1, "sms_once(%d, NULL): there is nothing to call", id);
  bool first = false;
  {
    const RecordedCall recorded;
    require(locks.begin_once(id, first, "sms_once"));
  }
  if (!first) return;
  function();
  require(locks.end_once(id));
}

SMS_EXPORT sms_request sms_preload_start(const void* array, const sms_range section[]) {
  const RecordedCall recorded;
  return start_preload(array, section);
}

SMS_EXPORT void sms_preload_wait(sms_request* request) {
  const RecordedCall recorded;
  process_memory("sms_preload_wait");
  wait(request, {"sms_preload_wait", ""}, "sms_preload_wait");
}

SMS_EXPORT void sms_preload(const void* array, const sms_range section[]) {
  const RecordedCall recorded;
  sms_request request = start_preload(array, section);
  wait(&request, {"sms_preload", ""}, "sms_preload");
}

SMS_EXPORT void sms_preload_bytes(const void* address, size_t bytes) {
  const RecordedCall recorded;
  require(process_memory("sms_preload_bytes").preloads().start_bytes(address, bytes));
  process_memory("sms_preload_bytes").preloads().wait();
}

SMS_EXPORT int sms_home(const void* address) {
  const Array& a = array_of(address, "sms_home");
  const HomeRun& home = a.home_of(address);
  return home.moves > 0 ? home.rank : a.owner(address);
}

SMS_EXPORT int sms_local_box(const void* array, int rank, size_t first[], size_t length[]) {
  const Array& a = array_of(array, "sms_local_box");
  if (rank < 0 || rank >= sms_nprocs)
    end_job(1, "sms_local_box: rank %d does not exist: the job has ranks 0..%d", rank, sms_nprocs - 1);
  const auto box = a.distribution.box(rank);
  for (int d = 0; d < a.distribution.dims(); ++d) {
    first[d] = static_cast<size_t>(box[d].base);
    length[d] = static_cast<size_t>(box[d].length);
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

SMS_EXPORT double sms_reduce_double(double value, enum sms_op op) {
  const RecordedCall recorded;
  return reduce(value, op, "sms_reduce_double");
}

SMS_EXPORT int64_t sms_reduce_int64(int64_t value, enum sms_op op) {
  const RecordedCall recorded;
  return reduce(value, op, "sms_reduce_int64");
}

SMS_EXPORT void sms_stats(const void* array, sms_statistics* out) {
  *out = {};
  if (array != nullptr) return add_statistics(array_of(array, "sms_stats").counters, *out);
  const Arrays& arrays = process_memory("sms_stats").arrays();
  arrays.for_each([&](const Array& a) { add_statistics(a.counters, *out); });
  add_statistics(arrays.freed, *out);
  const Transport::Traffic traffic = process_memory("sms_stats").transport().traffic();
  out->messages_sent = traffic.messages;
  out->message_bytes = traffic.bytes;
}

SMS_EXPORT void hiroba_copy_communicator(void* out, size_t bytes) {
  const size_t made = process_memory("hiroba_comm").transport().communicator(out, bytes);
  if (made == 0)
    end_job(1, "hiroba_comm: transport %s has no MPI communicator; use --transport mpi",
            process_memory("hiroba_comm").transport().name());
  if (made != bytes)
    end_job(1,
            "hiroba_comm: the program was compiled for another MPI than the one that runs it (MPI_Comm has %zu bytes "
            "there and %zu here)",
            bytes, made);
}

SMS_EXPORT int hiroba_may_need_pages(const void* address) {
  return process_started() && process_memory("hiroba_bring_pages").system_access().may_need(address, 1) ? 1 : 0;
}

SMS_EXPORT void hiroba_bring_pages(const void* address, size_t bytes, int to_write, const char* call) {
  require_at(process_memory(call).system_access().bring_all(address, bytes, to_write != 0), call);
}

}  // namespace hiroba
