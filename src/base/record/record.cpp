#include "base/record/record.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/debug/interpreter.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"

namespace hiroba {

RunRecord* run_record = nullptr;
constinit thread_local const void* record_caller __attribute__((tls_model("initial-exec"))) = nullptr;
constinit thread_local const char* record_place __attribute__((tls_model("initial-exec"))) = nullptr;

const char* const array_count_names[ArrayRecord::count_names] = {
    "faults",     "fetched",     "preloaded",   "bytes_fetched",     "diffed",
    "bytes_sent", "evicted",     "invalidated", "refreshed",         "notices",
    "cached",     "home_faults", "homes_moved", "homes_moved_again", "homes_kept"};

namespace {

uint64_t mixed(uint64_t value) {
  value ^= value >> 33, value *= 0xff51afd7ed558ccd, value ^= value >> 33;
  return value;
}

// Texts may be of one call only, so their letters count, not their addresses.
uint64_t mixed(const char* text) {
  uint64_t out = 0;
  for (size_t left = std::strlen(text); left > 0;) {
    uint64_t word = 0;
    const size_t length = std::min(left, sizeof word);
    std::memcpy(&word, text, length);
    out = mixed(out ^ word) + 1, text += length, left -= length;
  }
  return out;
}

void add(std::atomic<uint64_t>& sum, uint64_t n) { sum.fetch_add(n, std::memory_order_relaxed); }

template <size_t N>
void copy_text(char (&to)[N], const char* from) {
  std::snprintf(to, N, "%s", from == nullptr ? "" : from);
}

// Lets low and high include the address; 0: they have none yet.
void widen(SiteRecord& site, uint64_t address) {
  uint64_t low = site.low.load(std::memory_order_relaxed), high = site.high.load(std::memory_order_relaxed);
  while ((low == 0 || address < low) && !site.low.compare_exchange_weak(low, address, std::memory_order_relaxed)) {
  }
  while (address > high && !site.high.compare_exchange_weak(high, address, std::memory_order_relaxed)) {
  }
}

// Returns the time that this thread has been ready to run, but without a processor; 0 if the kernel does not say.
double seconds_queued() {
  std::FILE* const file = std::fopen("/proc/thread-self/schedstat", "re");
  unsigned long long ran = 0, queued = 0;
  const bool read = file != nullptr && std::fscanf(file, "%llu %llu", &ran, &queued) == 2;
  if (file != nullptr) std::fclose(file);
  return read ? 1e-9 * static_cast<double>(queued) : 0;
}

// "AMD EPYC 7763, 2 processors, 23.5 GiB, Linux 6.1.0"
std::string describe_machine() {
  std::ifstream file("/proc/cpuinfo");
  std::string model;
  for (std::string line; model.empty() && std::getline(file, line);)
    if (line.starts_with("model name")) model = line.substr(std::min(line.size(), line.find(':') + 2)) + ", ";
  utsname system;
  uname(&system);
  const auto bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return format("%s%ld processors, %s, %s %s", model.c_str(), sysconf(_SC_NPROCESSORS_CONF), show_bytes(bytes).c_str(),
                system.sysname, system.release);
}

// Some calls have their place in them: "sms_alloc(8, 100, 0) at solver.c:12".
void describe_site(SiteRecord& site, const char* call, const char* text) {
  const char* const in_call = std::strstr(call, " at ");
  const bool placed = site.code != 0 || (text != nullptr && *text != '\0');
  if (!placed && in_call != nullptr && std::strchr(in_call, ':') != nullptr) text = in_call + 4;
  const char* const slash = text == nullptr ? nullptr : std::strrchr(text, '/');
  copy_text(site.call, call), copy_text(site.text, slash == nullptr ? text : slash + 1);
  const size_t length = in_call == nullptr ? sizeof site.call : static_cast<size_t>(in_call - call);
  if (length < sizeof site.call) site.call[length] = '\0';
}

}  // namespace

// The thread that wins the key fills in the rest, which is read when the program has ended.
SiteRecord* site_of(SiteKind kind, const void* code, uint32_t detail, const char* call, const char* text) {
  const bool placed = text != nullptr && *text != '\0';
  const auto at = reinterpret_cast<uintptr_t>(code);
  const uint64_t place = placed ? mixed(text) : code != nullptr ? at : mixed(call);
  const uint64_t barrier = kind == SiteKind::barrier ? mixed(call) : 0;  // a region begins and ends at one place
  const uint64_t key = mixed((place + barrier) ^ mixed(static_cast<uint64_t>(kind) << 32 | detail)) | 1;
  constexpr uint32_t most_steps = 32;
  for (uint32_t step = 0; step < most_steps; ++step) {
    SiteRecord& site = run_record->sites[(key + step) % RunRecord::most_sites];
    uint64_t now = site.key.load(std::memory_order_relaxed);
    if (now == key) return &site;
    if (now != 0 || !site.key.compare_exchange_strong(now, key, std::memory_order_relaxed)) {
      if (now == key) return &site;
      continue;
    }
    site.kind = static_cast<uint32_t>(kind), site.detail = detail;
    site.code = text == nullptr ? at : 0;
    describe_site(site, call, text);
    return &site;
  }
  add(run_record->lost, 1);
  return nullptr;
}

void note_time(SiteRecord* site, uint64_t amount, double seconds) {
  if (site == nullptr) return;
  add(site->count, 1), add(site->amount, amount), add(site->nanoseconds, nanoseconds(seconds));
}

namespace {

// Calls of a Python program all come from one place of the interpreter, so its line tells them apart.
SiteRecord* calling_site(SiteKind kind, uint32_t detail, const char* call) {
  const char* const line = record_place != nullptr ? record_place : python_line();
  return site_of(kind, record_caller, detail, call, line);
}

TimeKind time_kind(SiteKind kind) {
  switch (kind) {
    case SiteKind::fault: return TimeKind::faults;
    case SiteKind::lock: return TimeKind::locks;
    case SiteKind::preload: return TimeKind::preloads;
    case SiteKind::coherence: return TimeKind::coherence;
    case SiteKind::task:
    case SiteKind::copy: return TimeKind::tasks;
    default: return TimeKind::collective;
  }
}

void note_spent(TimeKind kind, double seconds) {
  add(run_record->spent[static_cast<size_t>(kind)], nanoseconds(seconds));
}

// Counts a wait; it is an event as well. Its time counts even if its place found no room.
void note_wait(SiteKind kind, SiteRecord* site, uint64_t amount, double begin, double end, int other = -1) {
  if (site == nullptr) return note_spent(time_kind(kind), end - begin);
  note_time(site, amount, end - begin);
  note_event(site, begin, end, other);
}

// This rank came last, so what it did since the last rank came to the barrier before is on the critical path.
void note_critical(SiteRecord& site, double came) {
  RunRecord& run = *run_record;
  uint64_t other = nanoseconds(came - (run.barrier_came == 0 ? run.began : run.barrier_came));
  for (const TimeKind kind :
       {TimeKind::collective, TimeKind::locks, TimeKind::faults, TimeKind::preloads, TimeKind::coherence}) {
    const auto k = static_cast<size_t>(kind);
    uint64_t spent = run.spent[k].load(std::memory_order_relaxed) - run.barrier_spent[k];
    if (kind == TimeKind::collective) spent += nanoseconds(run.barrier_wait);
    spent = std::min(spent, other);
    add(site.critical[k], spent);
    other -= spent;
  }
  add(site.critical[static_cast<size_t>(TimeKind::tasks)], other);
}

}  // namespace

void note_event(SiteRecord* site, double begin, double end, int other) {
  if (site == nullptr) return;
  const TimeKind kind = time_kind(static_cast<SiteKind>(site->kind));
  note_spent(kind, end - begin);
  run_record->timeline.note(kind, static_cast<uint32_t>(site_number(site)), run_record->began, begin, end, other);
}

void note_task(SiteRecord* site, double seconds) {
  note_time(site, 0, seconds);
  add(run_record->tasks, 1), add(run_record->task_nanoseconds, nanoseconds(seconds));
}

// Sizes are told apart by their powers of two.
void note_operation(const char* call, const char* place, size_t bytes, const char* way, double begin, double end) {
  static thread_local double last_end __attribute__((tls_model("initial-exec"))) = 0;
  const double before = begin - (last_end == 0 ? run_record->began : last_end);
  last_end = end;
  const auto size = static_cast<uint32_t>(std::bit_width(bytes)),
             name = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(way));
  const bool placed = place != nullptr && place[0] != '\0';
  SiteRecord* const site =
      site_of(SiteKind::collective, record_caller, name << 7 | size, call, placed ? place : record_place);
  if (site == nullptr) return;
  if (site->way[0] == '\0') copy_text(site->way, way);
  add(site->before, nanoseconds(before));
  if (end > begin) note_wait(SiteKind::collective, site, bytes, begin, end);
  else note_time(site, bytes, 0);
}

void note_barrier(const char* call, double begin, double end, int last, double came) {
  RunRecord& run = *run_record;
  SiteRecord* const site = calling_site(SiteKind::barrier, 0, call);
  add(run.barriers, 1);
  if (site != nullptr && came > 0 && last == run.rank) note_critical(*site, came);
  note_wait(SiteKind::barrier, site, 0, begin, end, last);
  if (came > 0) {
    run.barrier_came = came, run.barrier_wait = end - std::max(begin, came);
    for (size_t k = 0; k < std::size(run.spent); ++k) run.barrier_spent[k] = run.spent[k].load();
  }
  if (site == nullptr || last < 0 || last == run.rank) return;
  const uint64_t waited_for = nanoseconds(end - begin);
  SiteRecord::Waited* least = &site->waited[0];
  for (SiteRecord::Waited& waited : site->waited) {
    if (waited.nanoseconds > 0 && waited.rank == last) return void(waited.nanoseconds += waited_for);
    if (waited.nanoseconds < least->nanoseconds) least = &waited;
  }
  if (waited_for > least->nanoseconds) *least = {waited_for, last};
}

SiteRecord* note_lock(int lock, const char* call, double begin, double end) {
  SiteRecord* const site = calling_site(SiteKind::lock, static_cast<uint32_t>(lock), call);
  note_wait(SiteKind::lock, site, 0, begin, end);
  return site;
}

void note_held(SiteRecord* site, double seconds) {
  if (site != nullptr) add(site->held, nanoseconds(seconds));
}

void note_coherence(const char* call, double begin, double end) {
  note_wait(SiteKind::coherence, calling_site(SiteKind::coherence, 0, call), 0, begin, end);
}

void note_preload(uint32_t array, uint64_t pages, double begin, double end) {
  note_wait(SiteKind::preload, calling_site(SiteKind::preload, array, "preload"), pages, begin, end);
}

namespace {

// To find a line of Python takes five times as long as a fault. Where the instructions of one loop have faulted many
// times in a row, at one line, every 16th fault looks whether that is still their line.
const char* python_line_of_fault(const void* code, uint64_t address) {
  struct Last {
    uint64_t code;
    const char* line;
    uint32_t times;
  };
  static thread_local Last last __attribute__((tls_model("initial-exec"))) = {};
  constexpr uint64_t every = 16, length = 1024;  // length: of a loop, in bytes of code
  const auto at = reinterpret_cast<uintptr_t>(code);
  const bool is_near = std::max(at, last.code) - std::min(at, last.code) < length;
  const bool known = is_near && last.times >= every && last.times % every != 0;
  const char* const line = known ? last.line : python_line_of(code, address);
  last = {at, line, is_near && line == last.line ? last.times + 1 : 0};
  return line;
}

}  // namespace

void note_fault(const void* code, uint32_t array, const void* address, uint64_t pages, double begin, double end) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const char* const line = python_line_of_fault(code, at);
  const SiteKind kind = pages == 0 ? SiteKind::preload : SiteKind::fault;
  SiteRecord* const site = site_of(kind, code, array, "", line);
  note_wait(kind, site, pages, begin, end);
  if (site == nullptr) return;
  widen(*site, at);
  if (pages == 0) return;
  constexpr uint64_t page_bytes = 4096, near = 16;
  const uint64_t page = at / page_bytes;
  const uint64_t next = site->next.exchange(page + pages, std::memory_order_relaxed);
  if (page + near >= next && page <= next + near) add(site->ordered, 1);
}

void note_object(const void* object, size_t bytes) {
  void* frames[16];
  const int count = backtrace(frames, static_cast<int>(std::size(frames)));
  const auto code = [&](int i) { return reinterpret_cast<uintptr_t>(frames[i]); };
  int i = 0;
  while (i < count && (code(i) < run_record->code_begin || code(i) >= run_record->code_end)) ++i;
  const auto begin = reinterpret_cast<uintptr_t>(object);
  ObjectRecord& record = run_record->objects[mixed(begin) % RunRecord::most_objects];
  record.bytes = bytes, record.code = i < count ? code(i) : 0;
  record.begin.store(begin, std::memory_order_release);
}

// Replaces what is known of this name: the sums grow.
void note_energy(const char* name, double seconds, double joules) {
  RunRecord& run = *run_record;
  uint32_t at = 0;
  while (at < run.energies && std::strcmp(run.energy[at].name, name) != 0) ++at;
  if (at == RunRecord::most_energies) return add(run.lost, 1);
  copy_text(run.energy[at].name, name);
  run.energy[at].seconds = seconds, run.energy[at].joules = joules;
  run.energies = std::max(run.energies, at + 1);
}

namespace {
constexpr uint64_t barrier_bits = 20;
uint64_t write_mark(uint64_t page) {
  const uint64_t barrier = run_record->barriers.load(std::memory_order_relaxed) & ((uint64_t{1} << barrier_bits) - 1);
  return page << barrier_bits | barrier;
}
}  // namespace

void note_written(uint64_t page, uint64_t pages) {
  for (uint64_t p = page; p < page + pages; ++p)
    run_record->written[mixed(p) % RunRecord::most_pages].store(write_mark(p), std::memory_order_relaxed);
}

// Called after the barrier, which has been counted.
bool both_wrote(uint64_t page) {
  return run_record->written[mixed(page) % RunRecord::most_pages].load(std::memory_order_relaxed) ==
         write_mark(page) - 1;
}

void note_moved(std::atomic<uint64_t>* by_rank, int rank, uint64_t bytes) {
  if (rank >= 0 && static_cast<uint32_t>(rank) < RunRecord::most_ranks) add(by_rank[rank], bytes);
}

double seconds_computing(const RunRecord& run, double seconds, double collective) {
  double out = seconds - collective;
  for (const TimeKind kind : {TimeKind::locks, TimeKind::faults, TimeKind::preloads, TimeKind::coherence})
    out -= seconds_spent(run, kind);
  return std::max(0.0, out);
}

void start_record(RunRecord& record) {
  record.pid = getpid();
  gethostname(record.host, sizeof record.host - 1);
  if (readlink("/proc/self/exe", record.executable, sizeof record.executable - 1) < 0) record.executable[0] = '\0';
  copy_text(record.cpus, show_numbers(cpus_of_rank()).c_str());
  copy_text(record.machine, describe_machine().c_str());
  const auto first_object = [](dl_phdr_info* info, size_t, void* out) {
    RunRecord& its = *static_cast<RunRecord*>(out);
    its.code_bias = info->dlpi_addr, its.code_begin = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      const uint64_t begin = info->dlpi_addr + part.p_vaddr;
      its.code_begin = std::min<uint64_t>(its.code_begin, begin);
      its.code_end = std::max<uint64_t>(its.code_end, begin + part.p_memsz);
    }
    return 1;
  };
  dl_iterate_phdr(first_object, &record);
  record.queued = -seconds_queued();
  record.magic = RunRecord::magic_value;
  run_record = &record;
}

void seal_record(RunRecord& record) {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * t.tv_usec; };
  record.queued += seconds_queued();
  record.processor = seconds(used.ru_utime) + seconds(used.ru_stime);
  for (SiteRecord& site : record.sites) {
    if (site.code == 0 || site.text[0] != '\0') continue;
    if (site.code >= record.code_begin && site.code < record.code_end) continue;
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(site.code), &info) == 0 || info.dli_fname == nullptr) continue;
    const char* const slash = std::strrchr(info.dli_fname, '/');
    std::snprintf(site.text, sizeof site.text, "%s (in %s)", info.dli_sname == nullptr ? "?" : info.dli_sname,
                  slash == nullptr ? info.dli_fname : slash + 1);
  }
}

}  // namespace hiroba
