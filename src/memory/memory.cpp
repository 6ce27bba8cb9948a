#include "memory/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>

#include "base/debug/peek.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/machine/numa.hpp"
#include "base/tables/phrases.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "memory/parts.hpp"
#include "memory/space/faults.hpp"

namespace hiroba {

uint64_t machine_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Status map_of_node(const MemoryParts& parts, uint64_t offset, uint64_t bytes) {
  char* const at = parts.space.base() + offset;
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, parts.node_fd(), static_cast<off_t>(offset)) ==
      MAP_FAILED)
    return Status::error("cannot map %s of the node's memory (%s)", show_bytes(bytes).c_str(),
                         explain_error(errno).c_str());
  madvise(at, bytes, MADV_DONTDUMP);  // leave it out of core files, as all of the range
  return {};
}

namespace {

// Starts the race checker with option check, if races on arrays can be seen here.
Status start_races(MemoryParts& p, double recording_share) {
  if (!p.check) return {};
  const bool one_machine = std::all_of(p.job.node_fds.begin(), p.job.node_fds.end(), [](int fd) { return fd >= 0; });
  const char* const why_not =
      !one_machine ? "the ranks are on several machines; run it on one, with --nodes"
      : p.cache != nullptr && !p.uffd.tracks_writes()
          ? "between nodes that needs asynchronous write tracking (Linux 6.7, tracking uffd-async)"
          : nullptr;
  // With twins at the fetch this floor never reads the program's view of a page, which may be closed.
  if (why_not == nullptr) p.twin_at_fetch = p.twin_at_fetch || p.cache != nullptr;
  if (why_not == nullptr)
    return p.races.start({p.job, p.layout, p.space.base(), &p.table, &p.collective, p.job.node_fds[0],
                          p.rank_memory.end(), recording_share});
  if (p.job.rank == 0)
    log_line("check: races on shared arrays are not looked for, nor what tasks do not name, because %s", why_not);
  return {};
}

// Returns the rank of this node that is the home of all these bytes of shared memory; -1 if there is none.
int home_of(const MemoryParts& p, const void* address, size_t bytes) {
  if (p.check || !p.space.contains(address)) return -1;  // with check, accesses for others would look like races
  const uint64_t first = p.page_of(address), last = p.page_of(static_cast<const char*>(address) + bytes - 1);
  const Array* const array = p.table.live(first);
  if (array == nullptr) return -1;
  const HomeRun& run = array->home(first);
  return p.is_here(run.rank) && last < run.first + run.pages ? run.rank : -1;
}

Status start_collective(MemoryParts& p, const Options& options) {
  static_assert(Collective::scratch_bytes <= Layout::scratch_bytes);
  World world;
  world.job = p.job, world.board = p.board, world.transport = p.transport.get(), world.base = p.space.base();
  world.extent = p.layout.extent(), world.timeout = options.number("timeout");
  world.rank_memory = p.rank_memory.begin(), world.rank_memory_bytes = p.rank_memory.bytes();
  world.home_of = [&p](const void* address, size_t bytes) { return home_of(p, address, bytes); };
  Settings settings;
  HIROBA_TRY(Placement::parse(options.text("progress"), settings.progress));
  HIROBA_TRY(Tuning::read(options.text("tuning"), settings.tuning));
  settings.measure = p.times.on, settings.reproducible = options.flag("reproducible");
  p.collective.start(world, p.layout.scratch(0), Layout::control_bytes, settings);
  return {};
}

// Attaches control segments and directories, and maps those with their home on this node.
Status attach_control_segments(MemoryParts& p) {
  const auto attach = [&p](uint64_t offset, uint64_t bytes, int rank) -> Status {
    HIROBA_TRY(p.transport->attach(offset, bytes, rank));
    return p.is_here(rank) ? map_of_node(p, offset, bytes) : Status();
  };
  for (int r = 0; r < p.job.nranks; ++r) HIROBA_TRY(attach(p.layout.control(r), Layout::control_bytes, r));
  for (int r = 0; r < p.job.nranks; ++r) HIROBA_TRY(attach(p.layout.directory(r), p.layout.pages(), r));
  return map_of_node(p, p.layout.touches(), p.layout.pages());  // for this node alone
}

// Chooses how accesses are detected: by the best way that the kernel has, or by the option's.
Status start_tracking(MemoryParts& p, const Options& options) {
  const std::string& way = options.text("tracking");
  HIROBA_TRY(p.pagemap.open());
  if (p.twin_at_fetch && way != "auto" && way != "uffd-async")
    return Status::error("option twin=fetch needs tracking=uffd-async, not %s", way.c_str());
  if (way == "mprotect") return {};
  const Status tracks = way == "uffd" ? Status::error("not asked for") : p.uffd.open(true);
  if (tracks.ok()) {
    (void)p.view_uffd.open_for_writes();  // without it every flush looks at every copy
    return {};
  }
  if (way == "uffd-async") return Status::error("option tracking=uffd-async: " + tracks.message());
  if (p.twin_at_fetch) return Status::error("option twin=fetch: " + tracks.message());
  const Status faults = p.uffd.open(false);
  if (!faults.ok() && way == "uffd") return Status::error("option tracking=uffd: " + faults.message());
  return {};
}

Status start_cache(MemoryParts& p, const Options& options) {
  HIROBA_TRY(start_tracking(p, options));
  HIROBA_TRY(p.states.create(p.layout.pages()));
  p.notices.start(p.space.base(), p.layout, p.job);
  uint64_t limit = options.bytes("cache");
  if (limit == 0) limit = machine_memory() / 4 / static_cast<uint64_t>(p.job.ranks_on_machine);
  constexpr uint64_t least = 64;
  if (limit < least * page_bytes)
    return Status::error("option cache=%s: the page cache needs at least %s", options.text("cache").c_str(),
                         show_bytes(least * page_bytes).c_str());
  CacheConfig config;
  config.layout = p.layout, config.job = p.job, config.base = p.space.base(), config.transport = p.transport.get();
  config.arrays = &p.table, config.uffd = &p.uffd, config.pagemap = &p.pagemap, config.notices = &p.notices,
  config.unchanged = &p.unchanged, config.states = &p.states, config.view_uffd = &p.view_uffd;
  config.limit_pages = limit / page_bytes;
  config.readahead_pages = std::max<uint64_t>(1, options.bytes("readahead") / page_bytes);
  config.huge = options.flag("huge");
  config.sharers = &p.sharers;
  config.in_place = !p.check;
  HIROBA_TRY(p.cache->copies.start(config));
  HIROBA_TRY(p.cache->fetches.start());
  p.sharers.start({p.layout, p.job, p.space.base(), p.transport.get(), &p.table, &p.uffd});
  HIROBA_TRY(p.home_writes.start({p.layout, p.job, p.space.base(), &p.table, &p.uffd, &p.pagemap, &p.sharers}));
  p.intervals.start({p.job, p.layout, p.space.base(), p.transport.get(), Intervals::pages_of(p)});
  return {};
}

// Returns about how many addresses a process of this job needs: those of the job, which the transport maps once more,
// tables and copies of pages if there are other nodes, and those of the program and its libraries.
uint64_t addresses_needed(const Layout& layout) {
  constexpr uint64_t program = uint64_t{1} << 30;
  return 2 * RankMemory::end_of(layout) + (layout.nnodes > 1 ? 3 : 0) * layout.space + program;
}

// Adds to an error that the limit of addresses (ulimit -v) may have caused what to do: the largest option space for
// which it is enough, or, if there is none, that only another limit helps.
Status with_limit(const MemoryParts& p, const Options& options, Status status) {
  const uint64_t limit = address_limit();
  if (status.ok() || p.layout.space == 0 || addresses_needed(p.layout) <= limit) return status;
  const char* const text = status.message().c_str();
  Layout layout = p.layout;
  const auto fits = [&] {
    return Heap::part_size(options, layout.nranks, layout.space, layout.heap_bytes).ok() &&
           addresses_needed(layout) <= limit;
  };
  for (layout.space = std::bit_floor(p.layout.space); layout.space >= Space::least; layout.space /= 2)
    if (fits()) return Status::error("%s; it is enough for --space %luM", text, layout.space >> 20);
  layout.space = Space::least, layout.heap_bytes = 0;
  const uint64_t least = addresses_needed(layout);
  if (least <= limit)
    return Status::error("%s; it is enough without option heap=%s, and a smaller option space", text,
                         options.text("heap").c_str());
  return Status::error(
      "%s; each process of a job of %d rank%s needs some %s, with the smallest option space, too: raise "
      "the limit (ulimit -v unlimited, or in the settings of the batch system), or start fewer ranks",
      text, layout.nranks, layout.nranks == 1 ? "" : "s", show_bytes(least).c_str());
}

// A rank is one process. One that it has forked before its start has its environment, too, and so has a second program
// of a script: that would see the memory and the counts of the first one.
Status claim(RankBoard& self, int rank) {
  const int32_t mine = getpid();
  int32_t other = 0;
  if (self.pid.compare_exchange_strong(other, mine) || other == mine) return {};
  if (self.phase == Phase::finished)
    return Status::error(
        "process %d cannot start as rank %d, which process %d was, and has ended: a job is one program; start each one "
        "by a hirobarun of its own",
        mine, rank, other);
  return Status::error(
      "process %d cannot start as rank %d, which process %d is: of a process and those that it forks one can be the "
      "rank; start first, and fork then, and do not call Hiroba in the other",
      mine, rank, other);
}

Status join(MemoryParts& p, const Options& options, const std::function<Status(Transport&, const Job&)>& listen) {
  const KeptSignals kept;
  HIROBA_TRY(make_transport(options, p.job, p.transport));
  const Job& job = p.job;
  job.share_files(false);  // what this rank starts is no rank
  HIROBA_TRY(map_board(job, p.board));
  set_reporter(job.rank, &p.board->aborting);
  p.layout.space = used_space(options.bytes("space"));
  if (p.layout.space < Space::least)
    return Status::error(
        "option space=%s is less than %s, the room that the smallest array takes; give at least that, or leave the "
        "option out",
        options.text("space").c_str(), show_bytes(Space::least).c_str());
  p.layout.nranks = job.nranks, p.layout.nnodes = job.nnodes;
  HIROBA_TRY(Heap::part_size(options, job.nranks, p.layout.space, p.layout.heap_bytes));
  p.rank_memory.place(p.layout);
  p.sparse = options.flag("sparse"), p.check = options.flag("check");
  p.checks_promises = p.check && options.bytes("cache") == 0;
  p.twin_at_fetch = options.text("twin") == "fetch";
  p.times.shown = options.flag("stats"), p.times.began = seconds_now();
  p.times.on = p.times.shown || !options.text("report").empty();
  HIROBA_TRY(p.space.reserve(p.layout.space, p.rank_memory.end(), p.layout.space - p.layout.heap(0)));
  for (const int fd : job.node_fds)
    if (fd >= 0) HIROBA_TRY(size_file(fd, p.rank_memory.end(), "the node's memory file"));
  RankBoard& self = p.board->rank(job.rank);
  HIROBA_TRY(claim(self, job.rank));
  self.domain = 1 + numa_domain_of(cpus_of_rank());
  self.start(phrases().end);
  Transport::Config config;
  config.job = job, config.board = p.board, config.base = p.space.base(), config.extent = p.rank_memory.end();
  config.timeout = options.number("timeout"), config.threads_per_rank = threads_per_rank();
  config.meantime = Collective::meantime, config.context = &p.collective;
  if (job.nnodes > 1) {
    p.cache = std::make_unique<Cache>();
    p.cache->fetches.listen(*p.transport);
  }
  p.heap.listen(*p.transport);
  p.collective.listen(*p.transport);
  HIROBA_TRY(listen(*p.transport, job));
  HIROBA_TRY(p.transport->start(config));
  HIROBA_TRY(start_collective(p, options));
  if (!job.launched) HIROBA_TRY(p.still_watch.start(*p.board, job, options.number("still")));
  HIROBA_TRY(attach_control_segments(p));
  if (p.times.on) p.run_report.begin(options.text("report"));
  if (p.cache != nullptr) HIROBA_TRY(start_cache(p, options));
  if (options.flag("huge"))
    p.huge_pages.start({p.space.base(), &p.table, p.node_fd(), job.rank, p.cache != nullptr, p.sparse});
  HIROBA_TRY(p.affinity.start(options));
  p.home_policies.start(options);
  HIROBA_TRY(start_races(p, options.number("check-time") / 100));
  return p.heap.start(options);  // after the decision on twins
}

}  // namespace

Memory::Memory() : parts_(std::make_unique<MemoryParts>()) {}
Memory::~Memory() = default;

const Job& Memory::job() const { return parts_->job; }
Transport& Memory::transport() const { return *parts_->transport; }
Collective& Memory::collective() const { return parts_->collective; }
uint64_t Memory::transactions(int rank) const {
  static_assert(transactions_bytes == Layout::transactions_bytes);
  return parts_->layout.transactions(rank);
}
bool Memory::checking() const { return parts_->check; }
PastCache& Memory::past_cache() const { return parts_->past_cache; }
Affinity& Memory::affinity() const { return parts_->affinity; }
Arrays& Memory::arrays() const { return parts_->arrays; }
Consistency& Memory::consistency() const { return parts_->consistency; }
GroupSync& Memory::group_sync() const { return parts_->group_sync; }
Heap& Memory::heap() const { return parts_->heap; }
Homes& Memory::homes() const { return parts_->homes; }
Locks& Memory::locks() const { return parts_->locks; }
Conditions& Memory::conditions() const { return parts_->conditions; }
Preloads& Memory::preloads() const { return parts_->preloads; }
Atomics& Memory::atomics() const { return parts_->atomics; }
SystemAccess& Memory::system_access() const { return parts_->system_access; }
Replicas& Memory::replicas() const { return parts_->replicas; }
RankMemory& Memory::rank_memory() const { return parts_->rank_memory; }
NamedWrites& Memory::named_writes() const { return parts_->named_writes; }
const Memory::Times& Memory::times() const { return parts_->times; }
RunReport& Memory::run_report() const { return parts_->run_report; }
Memory::Acquires Memory::acquires() const { return parts_->intervals.counts(); }

Status Memory::start(const Options& options, const char* call,
                     const std::function<Status(Transport&, const Job&)>& listen, std::unique_ptr<Memory>& out) {
  if (sysconf(_SC_PAGESIZE) != static_cast<long>(page_bytes))
    return Status::error("this machine has pages of %ld bytes; only 4096 is supported", sysconf(_SC_PAGESIZE));
  std::unique_ptr<Memory> memory(new Memory);
  HIROBA_TRY(with_limit(*memory->parts_, options, join(*memory->parts_, options, listen)));
  install_fault_handler(*memory->parts_);
  HIROBA_TRY(memory->parts_->collective.barriers().all(call, at_startup));
  if (memory->job().launched) let_only_below_peek(memory->parts_->board->maker);
  out = std::move(memory);
  return {};
}

// All remote operations are complete before the last barrier: after it other ranks may be gone, and this one only frees
// its own resources. An operation that the program has left under way, and only it can end, is an error.
Status Memory::stop(const char* call) {
  MemoryParts& p = *parts_;
  HIROBA_TRY(p.collective.barriers().none_between(call));
  p.preloads.wait();
  HIROBA_TRY(p.heap.at_barrier());
  HIROBA_TRY(p.collective.teams().last_barrier(call, at_shutdown));
  HIROBA_TRY(p.races.find(call));
  if (p.races.on()) p.table.for_each_live([&p](Array& array) { p.races.recorder().remove(array); });
  HIROBA_TRY(p.heap.finish());
  HIROBA_TRY(p.arrays.check_ends());
  HIROBA_TRY(p.collective.barriers().all(call, at_last));
  remove_fault_handler(call);
  p.space.keep_closed();
  p.still_watch.stop();
  HIROBA_TRY(p.collective.stop());
  p.board->rank(p.job.rank).phase = Phase::finished;
  p.transport->stop();
  let_only_below_peek(0);
  return {};
}

std::vector<TrackingWay> tracking_ways() {
  Userfaultfd tracks, faults;
  Pagemap pagemap;
  return {{"userfaultfd, asynchronous write tracking", tracks.open(true).message()},
          {"userfaultfd, copy-on-write twins", faults.open(false).message()},
          {"mprotect, copy-on-write twins", pagemap.open().message()}};
}

std::string describe_tracking(const MemoryParts& p) {
  if (p.cache == nullptr) return "none: one node, memory is shared by hardware";
  if (!p.uffd.is_open()) return "mprotect; twins by copy-on-write";
  return p.uffd.tracks_writes() ? "userfaultfd with asynchronous write tracking"
                                : "userfaultfd; twins by copy-on-write";
}

}  // namespace hiroba
