#include "base/record/record.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"
#include "base/thread.hpp"

namespace hiroba {

RunRecord* run_record = nullptr;
thread_local const void* record_caller = nullptr;

const char* const array_count_names[12] = {"faults",    "fetched",    "preloaded", "bytes_fetched",
                                           "diffed",    "bytes_sent", "evicted",   "invalidated",
                                           "refreshed", "notices",    "cached",    "home_faults"};

namespace {

uint64_t mixed(uint64_t value) {
  value ^= value >> 33, value *= 0xff51afd7ed558ccd, value ^= value >> 33;
  return value;
}

void add(std::atomic<uint64_t>& sum, uint64_t n) { sum.fetch_add(n, std::memory_order_relaxed); }

template <size_t N>
void copy_text(char (&to)[N], const char* from) {
  std::snprintf(to, N, "%s", from == nullptr ? "" : from);
}

uint64_t nanoseconds(double seconds) { return static_cast<uint64_t>(std::max(0.0, seconds) * 1e9); }

// Returns the time that this thread has been ready to run, but without a processor; 0 if the kernel does not say.
double seconds_queued() {
  std::FILE* const file = std::fopen("/proc/thread-self/schedstat", "re");
  unsigned long long ran = 0, queued = 0;
  const bool read = file != nullptr && std::fscanf(file, "%llu %llu", &ran, &queued) == 2;
  if (file != nullptr) std::fclose(file);
  return read ? 1e-9 * static_cast<double>(queued) : 0;
}

}  // namespace

// The thread that wins the key fills in the rest, which is read when the program has ended.
SiteRecord* site_of(SiteKind kind, const void* code, uint32_t detail, const char* call, const char* text) {
  const auto at = reinterpret_cast<uintptr_t>(code);
  const uint64_t key = mixed(at ^ mixed(static_cast<uint64_t>(kind) << 32 | detail)) | 1;
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
    copy_text(site.call, call), copy_text(site.text, text);
    return &site;
  }
  add(run_record->lost, 1);
  return nullptr;
}

void note_time(SiteRecord* site, uint64_t amount, double seconds) {
  if (site == nullptr) return;
  add(site->count, 1), add(site->amount, amount), add(site->nanoseconds, nanoseconds(seconds));
}

void note_barrier(const char* call, double seconds, int last) {
  SiteRecord* const site = site_of(SiteKind::barrier, record_caller, 0, call);
  add(run_record->barriers, 1);
  note_time(site, 0, seconds);
  if (site == nullptr || last < 0 || last == run_record->rank) return;
  SiteRecord::Waited* least = &site->waited[0];
  for (SiteRecord::Waited& waited : site->waited) {
    if (waited.nanoseconds > 0 && waited.rank == last) return void(waited.nanoseconds += nanoseconds(seconds));
    if (waited.nanoseconds < least->nanoseconds) least = &waited;
  }
  if (nanoseconds(seconds) > least->nanoseconds) *least = {nanoseconds(seconds), last};
}

void note_lock(int lock, const char* call, double seconds) {
  note_time(site_of(SiteKind::lock, record_caller, static_cast<uint32_t>(lock), call), 0, seconds);
}

void note_fault(const void* code, uint32_t array, uint64_t page, uint64_t pages, double seconds) {
  SiteRecord* const site = site_of(SiteKind::fault, code, array, "");
  note_time(site, pages, seconds);
  if (site == nullptr) return;
  constexpr uint64_t near = 16;
  const uint64_t next = site->next.exchange(page + pages, std::memory_order_relaxed);
  if (page + near >= next && page <= next + near) add(site->ordered, 1);
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

void start_record(RunRecord& record) {
  record.pid = getpid();
  gethostname(record.host, sizeof record.host - 1);
  if (readlink("/proc/self/exe", record.executable, sizeof record.executable - 1) < 0) record.executable[0] = '\0';
  copy_text(record.cpus, show_numbers(cpus_of_rank()).c_str());
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
