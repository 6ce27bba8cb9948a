#include "memory/parts.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "memory/space.hpp"

namespace hiroba {

namespace {

uint64_t machine_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

int threads_per_rank() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  const int threads = text == nullptr ? 1 : std::atoi(text);
  return std::max(1, threads);
}

}  // namespace

Memory::Memory() : space_(std::make_unique<Space>()), parts_(std::make_unique<Parts>()) {}
Memory::~Memory() = default;

Status Memory::start(const Options& options, const std::function<void(Transport&)>& listen,
                     std::unique_ptr<Memory>& out) {
  if (sysconf(_SC_PAGESIZE) != static_cast<long>(page_bytes))
    return Status::error(format("this machine has pages of %ld bytes; only 4096 is supported", sysconf(_SC_PAGESIZE)));
  std::unique_ptr<Memory> memory(new Memory);
  Memory& m = *memory;
  HIROBA_TRY(make_transport(options, m.job_, m.transport_));
  const Job& job = m.job_;
  HIROBA_TRY(map_board(job, m.board_));
  set_reporter(job.rank, &m.board_->aborting);
  m.layout_.space = options.bytes("space") / Space::unit * Space::unit;
  if (m.layout_.space < Space::least)
    return Status::error(
        format("option space=%s is less than %s, the room that the smallest array takes; give at least "
               "that, or leave the option out",
               options.text("space").c_str(), show_bytes(Space::least).c_str()));
  m.layout_.nranks = job.nranks, m.layout_.nnodes = job.nnodes;
  m.timeout_ = options.number("timeout");
  m.sparse_ = options.flag("sparse"), m.check_ = options.flag("check");
  m.twin_at_fetch_ = options.text("twin") == "fetch";
  m.huge_ = options.flag("huge");
  m.times_.on = options.flag("stats"), m.times_.began = seconds_now();
  m.words_.resize(static_cast<size_t>(job.nranks));
  m.held_ = std::vector<std::atomic<int>>(Layout::locks);
  m.tickets_.resize(Layout::locks);
  HIROBA_TRY(m.space_->reserve(m.layout_.space, m.layout_.extent()));
  for (const int fd : job.node_fds)
    if (fd >= 0) HIROBA_TRY(size_file(fd, m.layout_.extent(), "the node's memory file"));
  RankBoard& self = m.board_->rank(job.rank);
  self.pid = getpid();
  self.phase = Phase::started;  // from here on the launcher counts on this rank
  Transport::Config config;
  config.job = job, config.board = m.board_, config.base = m.space_->base(), config.extent = m.layout_.extent();
  m.threads_ = threads_per_rank();
  config.timeout = m.timeout_, config.threads_per_rank = m.threads_;
  if (job.nnodes > 1) {
    m.parts_->cache = std::make_unique<Cache>();
    m.parts_->cache->listen(*m.transport_);
  }
  m.collective_.listen(*m.transport_);
  listen(*m.transport_);
  HIROBA_TRY(m.transport_->start(config));
  m.start_collective();
  if (!job.launched) HIROBA_TRY(m.still_watch_.start(*m.board_, job, options.number("still")));
  HIROBA_TRY(m.attach_zones());
  if (m.parts_->cache != nullptr) HIROBA_TRY(m.start_cache(options));
  HIROBA_TRY(m.start_races());
  install_fault_handler(memory.get());
  HIROBA_TRY(m.collective_.barrier("sms_startup", startup));
  out = std::move(memory);
  return {};
}

void Memory::start_collective() {
  static_assert(Collective::scratch_bytes <= Layout::scratch_bytes);
  World world;
  world.job = job_, world.board = board_, world.transport = transport_.get(), world.base = space_->base();
  world.timeout = timeout_;
  collective_.start(world, layout_.scratch(0), Layout::zone_bytes, times_.on);
}

// Zones and directories: mapped here if their home is this node, attached always.
Status Memory::attach_zones() {
  const auto place = [this](uint64_t offset, uint64_t bytes, int rank) -> Status {
    HIROBA_TRY(transport_->attach(offset, bytes, rank));
    if (job_.node_of(rank) != job_.node) return {};
    const int fd = job_.node_fds[static_cast<size_t>(job_.node)];
    if (mmap(space_->base() + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             static_cast<off_t>(offset)) == MAP_FAILED)
      return Status::error(format("cannot map the node's memory (%s)", explain_error(errno).c_str()));
    madvise(space_->base() + offset, bytes, MADV_DONTDUMP);
    return {};
  };
  for (int r = 0; r < job_.nranks; ++r) HIROBA_TRY(place(layout_.zone(r), Layout::zone_bytes, r));
  for (int n = 0; n < job_.nnodes; ++n) HIROBA_TRY(place(layout_.directory(n), layout_.pages(), job_.first_rank_of(n)));
  return {};
}

// Chooses how accesses are seen: the best that the kernel has, or what the option asks for.
Status Memory::start_tracking(const Options& options) {
  const std::string& way = options.text("tracking");
  HIROBA_TRY(parts_->pagemap.open());
  if (twin_at_fetch_ && way != "auto" && way != "uffd-async")
    return Status::error(format("option twin=fetch needs tracking=uffd-async, not %s", way.c_str()));
  if (way == "mprotect") return {};
  const Status tracks = way == "uffd" ? Status::error("not asked for") : parts_->uffd.open(true);
  if (tracks.ok()) return {};
  if (way == "uffd-async") return Status::error("option tracking=uffd-async: " + tracks.message());
  if (twin_at_fetch_) return Status::error("option twin=fetch: " + tracks.message());
  const Status faults = parts_->uffd.open(false);
  if (!faults.ok() && way == "uffd") return Status::error("option tracking=uffd: " + faults.message());
  return {};
}

Status Memory::start_cache(const Options& options) {
  HIROBA_TRY(start_tracking(options));
  HIROBA_TRY(parts_->states.create(layout_.pages()));
  parts_->notices.start(space_->base(), layout_, job_.rank);
  uint64_t limit = options.bytes("cache");
  if (limit == 0) limit = machine_memory() / 4 / static_cast<uint64_t>(job_.ranks_here());
  constexpr uint64_t least = 64;
  if (limit < least * page_bytes)
    return Status::error(format("option cache=%s: the page cache needs at least %s", options.text("cache").c_str(),
                                show_bytes(least * page_bytes).c_str()));
  Cache::Config config;
  config.layout = layout_, config.job = job_, config.base = space_->base(), config.transport = transport_.get();
  config.arrays = &arrays_, config.uffd = &parts_->uffd, config.pagemap = &parts_->pagemap,
  config.notices = &parts_->notices, config.states = &parts_->states;
  config.limit_pages = limit / page_bytes;
  config.readahead_pages = std::max<uint64_t>(1, options.bytes("readahead") / page_bytes);
  config.huge = huge_;
  config.in_place = !check_;
  HIROBA_TRY(parts_->cache->start(config));
  parts_->home_writes.start(space_->base(), layout_, job_, &arrays_, &parts_->uffd, &parts_->pagemap, &parts_->states);
  return {};
}

std::vector<TrackingWay> tracking_ways() {
  Userfaultfd tracks, faults;
  Pagemap pagemap;
  return {{"userfaultfd, asynchronous write tracking", tracks.open(true).message()},
          {"userfaultfd, copy-on-write twins", faults.open(false).message()},
          {"mprotect, copy-on-write twins", pagemap.open().message()}};
}

std::string Memory::tracking() const {
  if (parts_->cache == nullptr) return "none: one node, memory is shared by hardware";
  if (!parts_->uffd.is_open()) return "mprotect; twins by copy-on-write";
  return parts_->uffd.tracks_writes() ? "userfaultfd with asynchronous write tracking"
                                      : "userfaultfd; twins by copy-on-write";
}

Status Memory::stop() {
  preload_wait();
  HIROBA_TRY(collective_.barrier("sms_shutdown", shutdown));
  HIROBA_TRY(find_races("sms_shutdown"));
  if (parts_->races.on()) arrays_.for_each_live([this](Array& array) { parts_->races.recorder().remove(array); });
  Status status;
  arrays_.for_each_live([&](Array& array) {
    if (status.ok()) status = check_canary(array);
  });
  HIROBA_TRY(status);
  remove_fault_handler();
  still_watch_.stop();
  board_->rank(job_.rank).phase = Phase::finished;
  transport_->stop();
  return {};
}

// ---- arrays --------------------------------------------------------------------------------------------------------

namespace {

// Of an array of so many pages, numbered from its first; the first element lies `gap` bytes behind the beginning.
std::vector<HomeRun> home_runs(const Distribution& d, uint64_t pages, uint64_t gap) {
  std::vector<HomeRun> runs;
  for (uint64_t page = 0; page < pages;) {
    // A page lives with the owner of its first byte; the space before an array that does not begin on a page, with the
    // first.
    const uint64_t at = std::max(page << page_shift, gap) - gap;
    const uint64_t element = std::min(at / d.element_bytes(), d.elements() - 1);
    const uint64_t end_byte = gap + d.owner_run_end(element) * d.element_bytes();
    const uint64_t end = std::min(pages, std::max(page + 1, (end_byte + page_bytes - 1) >> page_shift));
    const int rank = d.owner(element);
    if (!runs.empty() && runs.back().rank == rank) runs.back().pages += end - page;
    else runs.push_back({page, end - page, rank});
    page = end;
  }
  return runs;
}

// How many whole huge pages the parts have if the array begins so many pages into one.
uint64_t whole_huge_pages(const std::vector<HomeRun>& parts, uint64_t start) {
  constexpr uint64_t pages = huge_page_bytes / page_bytes;
  uint64_t whole = 0;
  for (const HomeRun& part : parts) {
    const uint64_t first = (start + part.first + pages - 1) / pages, end = (start + part.first + part.pages) / pages;
    whole += std::max(first, end) - first;
  }
  return whole;
}

// Where in a huge page an array should begin, in pages: where it would by turn, unless parts of few huge pages had a
// tenth more of them elsewhere. Measured on parts of 8.6 MiB: three huge pages or four, 3 % of a stencil's time.
uint64_t choose_start(const std::vector<HomeRun>& parts, uint64_t by_turn) {
  constexpr uint64_t pages = huge_page_bytes / page_bytes, worth = 10;
  constexpr size_t most_parts = 64;  // the cost grows with their square
  if (parts.size() > most_parts) return by_turn;
  const uint64_t whole_by_turn = whole_huge_pages(parts, by_turn);
  uint64_t best = by_turn, most = whole_by_turn;
  for (const HomeRun& part : parts) {
    const uint64_t start = (pages - part.first % pages) % pages, whole = whole_huge_pages(parts, start);
    if (whole > most) best = start, most = whole;
  }
  return (most - whole_by_turn) * worth >= most ? best : by_turn;
}

}  // namespace

Status Memory::allocate(const Request& request, void*& out) {
  HIROBA_TRY(
      collective_.barrier(format("%s at %s", request.call, request.place).c_str(), Collective::tag_of(request.call)));
  auto array = std::make_unique<Array>();
  HIROBA_TRY(Distribution::make(request.dim, request.div, request.element_bytes, request.first, request.count,
                                job_.nranks, array->distribution));
  const uint64_t bytes = array->distribution.bytes();
  const uint64_t pages = (bytes + page_bytes - 1) >> page_shift;
  HIROBA_TRY(space_->check(pages << page_shift));
  const uint64_t gap = check_ ? (pages << page_shift) - bytes : 0;
  array->homes = home_runs(array->distribution, pages, gap);
  const uint64_t start = choose_start(array->homes, space_->stagger() >> page_shift);
  uint64_t offset = 0;
  HIROBA_TRY(space_->take(pages << page_shift, start << page_shift, offset));
  array->first_page = offset >> page_shift;
  array->end_page = array->first_page + pages;
  for (HomeRun& run : array->homes) run.first += array->first_page;
  array->data = space_->base() + offset + gap;
  std::strncpy(array->name, request.place, sizeof array->name - 1);
  array->watched = parts_->races.on() && request.watched;
  array->parts = request.parts;
  HIROBA_TRY(check_room(*array));
  HIROBA_TRY(map_homes(*array));
  HIROBA_TRY(close_guards(*array));
  if (parts_->cache != nullptr) HIROBA_TRY(parts_->cache->add(*array, twin_at_fetch_));
  out = array->data;
  Array& inserted = *array;
  arrays_.insert(std::move(array));
  if (parts_->races.on()) parts_->races.recorder().add(inserted);
  // Nobody may use the array before everybody has it.
  return collective_.barrier(request.call, Collective::tag_of(request.call) + 1);
}

// Closes the pages after the parts that are mapped here.
Status Memory::close_guards(const Array& array) const {
  const GuardedParts& parts = array.parts;
  for (int r = 0; parts.stride != 0 && r < job_.nranks; ++r) {
    char* const guard = array.data + static_cast<uint64_t>(r + 1) * parts.stride - parts.guard;
    if (job_.node_of(r) == job_.node && mprotect(guard, parts.guard, PROT_NONE) != 0)
      return Status::error(format("check: cannot close the pages after part %d of coarray %s (%s)", r,
                                  parts.name.c_str(), explain_error(errno).c_str()));
  }
  return {};
}

// Attaches every home run, and maps those whose home is this node.
Status Memory::map_homes(Array& array) {
  constexpr size_t most_runs = 16384;
  if (array.homes.size() > most_runs)
    return Status::error(
        format("this distribution cuts the array into %zu page runs, more than %zu mappings; divide an outer dimension "
               "instead",
               array.homes.size(), most_runs));
  for (const HomeRun& run : array.homes) {
    const uint64_t offset = run.first << page_shift, bytes = run.pages << page_shift;
    HIROBA_TRY(transport_->attach(offset, bytes, run.rank));
    if (job_.node_of(run.rank) != job_.node) continue;
    const int fd = job_.node_fds[static_cast<size_t>(job_.node)];
    if (mmap(space_->base() + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             static_cast<off_t>(offset)) == MAP_FAILED)
      return Status::error(
          format("cannot map %s of shared array (%s)", show_bytes(bytes).c_str(), explain_error(errno).c_str()));
    madvise(space_->base() + offset, bytes, MADV_DONTDUMP);  // of core files, as all of the range
  }
  return {};
}

// New arrays: before the first barrier nothing is known to be in use, and by the second a program has filled its
// arrays.
void Memory::use_huge_pages() {
  constexpr int last_barrier = 2;
  arrays_.for_each_live([this](Array& array) {
    if (array.barriers == last_barrier) return;
    ++array.barriers;
    use_huge_pages(array);
  });
}

// Gathers what this rank has touched of its own part into huge pages. Between nodes only large parts, unless its copies
// stay: each time cached pages are dropped, a machine may forget every translation if any huge page is in use
// (README.md). What is gathered already is not asked for again: that takes milliseconds of a program's loop. A huge
// page at the beginning or the end of a run counts if at least half of it is the run's, and the run is not so short
// that the rest, which is memory for nothing, would be more than a quarter of it.
void Memory::use_huge_pages(Array& array) {
  if (!huge_) return;
  const bool pages_go = parts_->cache != nullptr && !array.preloaded.load(std::memory_order_relaxed);
  const uint64_t least = pages_go ? uint64_t{32} << 20 : huge_page_bytes;
  const int fd = job_.node_fds[static_cast<size_t>(job_.node)];
  const auto round_down = [](uint64_t bytes) { return bytes / huge_page_bytes * huge_page_bytes; };
  const auto for_each_in_use = [&](const auto& visit) {
    for (const HomeRun& run : array.homes) {
      if (run.rank != job_.rank || run.pages << page_shift < least) continue;
      const uint64_t first = run.first << page_shift, end = (run.first + run.pages) << page_shift;
      const uint64_t lacking = end - first >= 4 * huge_page_bytes ? huge_page_bytes / 2 : 0;  // at most, at an end
      for (uint64_t hole = first; hole < end;) {
        const off_t data = lseek(fd, static_cast<off_t>(hole), SEEK_DATA);
        if (data < 0 || static_cast<uint64_t>(data) >= end) break;
        const auto begin = static_cast<uint64_t>(data);
        hole = std::min(end, static_cast<uint64_t>(lseek(fd, data, SEEK_HOLE)));
        const uint64_t from = round_down(begin + huge_page_bytes - 1 - (begin == first ? lacking : 0));
        const uint64_t to = round_down(hole + (hole == end ? lacking : 0));
        if (from < to) visit(from, to - from, first, end);
      }
    }
  };
  uint64_t in_use = 0;
  for_each_in_use([&](uint64_t, uint64_t bytes, uint64_t, uint64_t) { in_use += bytes; });
  if (in_use == array.gathered) return;
  array.gathered = in_use;
  for_each_in_use([&](uint64_t from, uint64_t bytes, uint64_t first, uint64_t end) {
    collapse_file(fd, from, bytes);
    first = std::max(first, from), end = std::min(end, from + bytes);
    madvise(space_->base() + first, end - first, MADV_POPULATE_READ);
  });
}

// All virtual nodes share this machine's memory; other hosts have their own.
Status Memory::check_room(const Array& array) const {
  if (sparse_) return {};
  uint64_t wanted = 0;
  const auto add = [&](const Array& a) {
    for (const HomeRun& run : a.homes) {
      const bool here = job_.node_fds[static_cast<size_t>(job_.node_of(run.rank))] >= 0;
      wanted += here ? (run.pages << page_shift) - a.parts.guard : 0;
    }
  };
  add(array);
  arrays_.for_each_live(add);
  if (wanted <= machine_memory()) return {};
  return Status::error(
      format("%s for this array makes %s of shared arrays, and this machine has %s of memory; if the array is to be "
             "touched only in parts, use --sparse yes",
             show_bytes(array.distribution.bytes()).c_str(), show_bytes(wanted).c_str(),
             show_bytes(machine_memory()).c_str()));
}

// What lies in the last page past the end, or in the first page before the start, is nobody's and stays zero.
Status Memory::check_canary(const Array& array) const {
  const char* const begin = space_->base() + (array.first_page << page_shift);
  const char* const end = space_->base() + (array.end_page << page_shift);
  const char* const data_end = array.data + array.distribution.bytes();
  const auto here = [&](uint64_t page) { return job_.node_of(array.home(page).rank) == job_.node; };
  if (here(array.end_page - 1))
    for (const char* p = data_end; p < end; ++p)
      if (*p != 0) return Status::error("something wrote past the end of an array: " + explain(p));
  if (here(array.first_page))
    for (const char* p = begin; p < array.data; ++p)
      if (*p != 0) return Status::error("something wrote before the start of an array: " + explain(p));
  return {};
}

Status Memory::free(void* data, const char* call) {
  HIROBA_TRY(collective_.barrier(call));
  Array* array = nullptr;
  HIROBA_TRY(find(data, array));
  if (array->data != data)
    return Status::error(
        format("%s: the address is %llu bytes inside array %s; give the address that the allocation returned", call,
               static_cast<unsigned long long>(static_cast<char*>(data) - array->data), array->name));
  HIROBA_TRY(find_races(call));
  if (parts_->races.on()) parts_->races.begin_epoch(), parts_->races.recorder().remove(*array);
  HIROBA_TRY(check_canary(*array));
  const uint64_t offset = array->first_page << page_shift, bytes = (array->end_page - array->first_page) << page_shift;
  array->freed = true;
  if (parts_->cache != nullptr) {
    parts_->home_writes.remove(*array);
    parts_->cache->remove(*array);
    parts_->states.reset(array->first_page, array->end_page - array->first_page);
  }
  HIROBA_TRY(space_->clear(offset, bytes));
  transport_->detach(offset, bytes);
  HIROBA_TRY(collective_.barrier(call, Collective::tag_of(call) + 1));
  if (job_.rank == job_.first_rank_of(job_.node)) {
    const int fd = job_.node_fds[static_cast<size_t>(job_.node)];
    const auto in_units = [](uint64_t at) { return static_cast<off_t>(at / Space::unit * Space::unit); };
    const off_t begin = in_units(offset), end = in_units(offset + bytes + Space::unit - 1);  // huge pages: no remains
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, end - begin);
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(layout_.directory(job_.node) + array->first_page),
              static_cast<off_t>(array->end_page - array->first_page));
  }
  space_->give(offset);
  return {};
}

Status Memory::set_twin(void* data, Twin twin, const char* call) {
  Array* array = nullptr;
  HIROBA_TRY(find(data, array));
  const bool at_fetch = parts_->races.on() || twin == Twin::by_option ? twin_at_fetch_ : twin == Twin::at_fetch;
  if (parts_->cache == nullptr) return collective_.barrier(call);
  if (at_fetch && !parts_->uffd.tracks_writes())
    return Status::error(
        format("%s: twins at the fetch need asynchronous write tracking (Linux 6.7, tracking uffd-async); here: %s",
               call, tracking().c_str()));
  HIROBA_TRY(sync_drop(call));  // what is cached and written goes home first
  parts_->cache->remove(*array);
  // The states of home pages stay: their writes go on being tracked.
  HIROBA_TRY(parts_->cache->add(*array, at_fetch));
  if (parts_->races.on()) parts_->races.recorder().add(*array);
  return {};
}

}  // namespace hiroba
