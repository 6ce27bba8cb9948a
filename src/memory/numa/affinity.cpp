#include "memory/numa/affinity.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/machine/numa.hpp"
#include "base/text.hpp"
#include "memory/parts.hpp"
#include "memory/section_pages.hpp"

namespace hiroba {

static_assert(Affinity::absent == PageDomains::absent);

Status Affinity::start(const Options& options) {
  parts_.page_domains.start(
      {&NumaCalls::system(), numa_domains(), parts_.node_fd(), parts_.space.base(), options.flag("huge")});
  Touches::Config config;
  config.arrays = &parts_.table, config.pages = &parts_.page_domains, config.base = parts_.space.base();
  config.claims = reinterpret_cast<std::atomic<uint8_t>*>(parts_.space.base() + parts_.layout.touches());
  config.first_rank = parts_.job.first_rank_of(parts_.job.node);
  config.end_rank = config.first_rank + parts_.job.ranks_on(parts_.job.node);
  config.huge = options.flag("huge");
  parts_.touches.start(config);
  const Status parsed = MemoryPlace::parse(options.text("memory"), parts_.memory_place);
  return parsed.ok() ? check(parts_.memory_place, "option memory")
                     : Status::error("option memory: " + parsed.message());
}

Status Affinity::check(const MemoryPlace& place, const char* what) const {
  if (place.kind != MemoryPlace::Kind::domain || parts_.page_domains.exists(place.domain)) return {};
  return Status::error("%s: there is no NUMA domain %d; this machine has %s", what, place.domain,
                       show_numbers(domains()).c_str());
}

const std::vector<int>& Affinity::domains() const { return parts_.page_domains.domains(); }

int Affinity::domain_of(int rank) const { return parts_.board->rank(rank).domain.load() - 1; }

template <typename Visit>
void Affinity::for_each_run_here(const Array& array, const Visit& visit) const {
  for (const HomeRun& run : array.homes)
    if (parts_.is_here(run.rank)) visit(run);
}

// Each rank sets the places of the pages that it owns: the kernel keeps them with the memory file, for all ranks.
Status Affinity::set_places(const Array& array, const MemoryPlace& place) const {
  const int domain = domain_of(parts_.job.rank);
  for (const HomeRun& run : array.homes)
    if (run.rank == parts_.job.rank)
      HIROBA_TRY(parts_.page_domains.set_place(run.first << page_shift, run.pages << page_shift, place, domain));
  return {};
}

Status Affinity::place_new(const Array& array) {
  return domains().size() == 1 ? Status() : set_places(array, parts_.memory_place);
}

// ---- moves ---------------------------------------------------------------------------------------------------------
// The kernel lets a process move only pages that no other process has mapped. So all ranks of the node wait in a
// barrier, give up their mappings, and one moves the pages; the mappings return as the pages are touched. One rank
// moves them all, because the kernel maps the neighbours of a page that a process reads, too.

Status Affinity::begin_move(const Array& array, const char* call) const {
  HIROBA_TRY(parts_.collective.barriers().all(call, Barriers::tag_of(call)));
  for_each_run_here(array, [this](const HomeRun& run) {
    parts_.page_domains.unmap(run.first, run.pages);
    parts_.transport->one_sided().release_mapping(run.first << page_shift, run.pages << page_shift);
  });
  return parts_.collective.barriers().all(call, Barriers::tag_of(call) + 1);
}

// All ranks wait for those that move. A page that stays because its new domain is full, or because the kernel uses it,
// is no error.
Status Affinity::end_move(const MovedPages& mine, const char* call, uint64_t& moved) const {
  std::vector<std::vector<char>> all;
  HIROBA_TRY(parts_.collective.teams().gather(call, {reinterpret_cast<const char*>(&mine), sizeof mine}, all));
  moved = 0;
  for (size_t r = 0; r < all.size(); ++r) {
    MovedPages of_rank;
    std::memcpy(&of_rank, all[r].data(), sizeof of_rank);
    moved += of_rank.pages;
    if (of_rank.error == EPERM || of_rank.error == ENOSYS)
      return Status::error("%s: the kernel does not let rank %zu move pages (move_pages: %s); containers may forbid it",
                           call, r, explain_error(of_rank.error).c_str());
  }
  return {};
}

MovedPages Affinity::move_all(const Array& array, const MemoryPlace& place) const {
  constexpr uint64_t piece = 16;  // pages that are in use are interleaved by these, or by huge pages
  MovedPages moved;
  if (!parts_.job.leads()) return moved;
  const size_t n = domains().size();
  for_each_run_here(array, [&](const HomeRun& run) {
    const int owner = domain_of(run.rank);
    if (place.kind == MemoryPlace::Kind::domain) moved += parts_.page_domains.move(run.first, run.pages, place.domain);
    if (place.kind == MemoryPlace::Kind::owner && owner >= 0)
      moved += parts_.page_domains.move(run.first, run.pages, owner);
    if (place.kind != MemoryPlace::Kind::interleave) return;
    const uint64_t step = array.huge.advised || array.huge.gathered > 0 ? huge_page_bytes / page_bytes : piece;
    for (uint64_t at = run.first; at < run.first + run.pages;) {
      const uint64_t end = std::min(run.first + run.pages, (at / step + 1) * step);
      moved += parts_.page_domains.move(at, end - at, domains()[at / step % n]);
      at = end;
    }
  });
  return moved;
}

Status Affinity::place(void* data, const MemoryPlace& place, const char* call, uint64_t& moved) {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(data, array));
  HIROBA_TRY(check(place, call));
  HIROBA_TRY(begin_move(*array, call));
  HIROBA_TRY(set_places(*array, place));
  return end_move(move_all(*array, place), call, moved);
}

Status Affinity::migrate(const void* data, std::span<const Range> ranges, int rank, const char* call, uint64_t& moved) {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(data, array));
  Section section;
  HIROBA_TRY(section_of(*array, ranges, section));
  const Job& job = parts_.job;
  if (rank < 0 || rank >= job.nranks)
    return Status::error("%s: rank %d does not exist: the job has ranks 0..%d", call, rank, job.nranks - 1);
  std::vector<PageRun> runs;
  Status status;
  if (!section.empty())
    for_each_page_run(*array, section, 0, [&](uint64_t first, uint64_t end) {
      runs.push_back({first, end - first});
      for (uint64_t page = first; page < end; page = array->home(page).first + array->home(page).pages)
        if (const int home = array->home(page).rank; status.ok() && job.node_of(home) != job.node_of(rank))
          status = Status::error(
              "%s: %s is at home on node %d, and rank %d is on node %d; memory moves between the domains of one node "
              "only",
              call, element_name(*array, std::max<int64_t>(0, array->byte_of(page))).c_str(), job.node_of(home), rank,
              job.node_of(rank));
    });
  HIROBA_TRY(std::move(status));
  const int domain = parts_.is_here(rank) ? domain_of(rank) : 0;
  if (domain < 0)
    return Status::error(
        "%s: the CPUs of rank %d are on several NUMA domains, so it is not said where pages should go; start the "
        "program with --bind numa or --bind core",
        call, rank);
  HIROBA_TRY(begin_move(*array, call));
  MovedPages mine;
  for (const PageRun& run : runs) {
    if (job.rank != rank) break;
    HIROBA_TRY(parts_.page_domains.set_place(run.first << page_shift, run.pages << page_shift,
                                             {MemoryPlace::Kind::domain, domain}, -1));
    mine += parts_.page_domains.move(run.first, run.pages, domain);
  }
  return end_move(mine, call, moved);
}

// ---- by touches ----------------------------------------------------------------------------------------------------

// With option check pages are closed already, to find races.
bool Affinity::watches_races(const char* call) const {
  if (parts_.races.on() && parts_.job.rank == 0)
    log_line("check: %s does nothing, because all accesses are watched to find races", call);
  return parts_.races.on();
}

Status Affinity::next_touch(void* data, const char* call) {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(data, array));
  if (watches_races(call)) return parts_.collective.barriers().all(call, Barriers::tag_of(call));
  HIROBA_TRY(begin_move(*array, call));
  // Pages that are not in use yet are also allocated on the domain that touches them.
  HIROBA_TRY(set_places(*array, {MemoryPlace::Kind::touch, 0}));
  if (parts_.job.leads()) parts_.touches.claim_all(*array);
  parts_.touches.close_for_next_touch(*array);
  return parts_.collective.barriers().all(call, Barriers::tag_of(call) + 2);
}

Status Affinity::sample(void* data, bool on, const char* call) {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(data, array));
  HIROBA_TRY(parts_.collective.barriers().all(call, Barriers::tag_of(call)));
  if (!watches_races(call)) parts_.touches.sample(*array, on);
  return {};
}

// `counts`: [unit][domain], of all ranks of this node. One rank moves the pages of all.
MovedPages Affinity::move_by_counts(const Array& array, const std::vector<uint64_t>& counts) const {
  MovedPages moved;
  const ArrayTouches& touches = *array.touches;
  const size_t n = domains().size();
  for_each_run_here(array, [&](const HomeRun& run) {
    std::vector<int> where(run.pages, Affinity::absent);
    if (!parts_.page_domains.locate(run.first, run.pages, where.data()).ok()) return;
    for (uint64_t at = run.first; at < run.first + run.pages;) {
      const uint64_t u = touches.unit_of(at);
      const uint64_t end = std::min(run.first + run.pages, touches.run_of(u).first + touches.unit_pages);
      const auto first = counts.begin() + static_cast<std::ptrdiff_t>(u * n);
      const auto most = std::max_element(first, first + static_cast<std::ptrdiff_t>(n));
      const auto now = std::find(domains().begin(), domains().end(), where[at - run.first]) - domains().begin();
      const bool here = now < static_cast<std::ptrdiff_t>(n);
      if (here && *most > first[now]) moved += parts_.page_domains.move(at, end - at, domains()[most - first]);
      at = end;
    }
  });
  return moved;
}

Status Affinity::migrate_by_use(void* data, const char* call, uint64_t& moved) {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(data, array));
  const std::vector<uint16_t> mine = parts_.touches.take_counts(*array);
  const std::span<const char> bytes = {reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof mine[0]};
  std::vector<std::vector<char>> all;
  HIROBA_TRY(parts_.collective.teams().gather(call, bytes, all));
  std::vector<uint64_t> counts(mine.size());
  for (size_t r = 0; r < all.size(); ++r)
    for (size_t i = 0; parts_.is_here(static_cast<int>(r)) && i < std::min(counts.size(), all[r].size() / 2); ++i) {
      uint16_t count = 0;
      std::memcpy(&count, all[r].data() + 2 * i, sizeof count);
      counts[i] += count;
    }
  HIROBA_TRY(begin_move(*array, call));
  const bool mover = parts_.job.leads() && !parts_.races.on();
  return end_move(mover ? move_by_counts(*array, counts) : MovedPages(), call, moved);
}

// ---- where pages are -----------------------------------------------------------------------------------------------

void Affinity::expect_use(const void* begin, uint64_t bytes) const {
  parts_.huge_pages.advise(parts_.space.offset(begin), bytes);
}

void Affinity::fill(Array& array, uint64_t begin, uint64_t bytes, Homes whose) const {
  if (array.filled || bytes == 0 || parts_.races.on()) return;
  const uint64_t offset = parts_.space.offset(array.data) + begin, first = offset >> page_shift;
  const uint64_t pages = ((offset + bytes - 1) >> page_shift) - first + 1;
  for (const HomeRun& run : array.homes) {
    const bool takes =
        whose == Homes::own ? run.rank == parts_.job.rank : parts_.job.node_of(run.rank) == parts_.job.node;
    if (takes) parts_.huge_pages.fill(array, run, first, pages);
  }
}

Status Affinity::locate(const Array& array, std::vector<int>& out) const {
  out.assign(array.end_page - array.first_page, elsewhere);
  Status status;
  for_each_run_here(array, [&](const HomeRun& run) {
    if (status.ok()) status = parts_.page_domains.locate(run.first, run.pages, &out[run.first - array.first_page]);
  });
  return status;
}

namespace {

char sign_of(int domain) {
  if (domain == Affinity::absent) return '.';
  if (domain == Affinity::elsewhere) return '~';
  constexpr int digits = 10, letters = 26;
  return static_cast<char>(domain < digits ? '0' + domain : domain < digits + letters ? 'a' + domain - digits : '?');
}

std::map<int, uint64_t> pages_by_domain(std::span<const int> where) {
  std::map<int, uint64_t> out;
  for (const int domain : where) ++out[domain];
  return out;
}

}  // namespace

std::string show_domains(std::span<const int> where) {
  std::string text;
  for (const auto& [domain, pages] : pages_by_domain(where)) {
    const std::string what = domain == Affinity::absent      ? "not in use"
                             : domain == Affinity::elsewhere ? "on other nodes"
                                                             : format("on NUMA domain %d", domain);
    text += format("  %c  %-18s %10lu page%s, %s\n", sign_of(domain), what.c_str(), pages, pages == 1 ? "" : "s",
                   show_bytes(pages << page_shift).c_str());
  }
  constexpr size_t width = 64, most_lines = 8;
  const size_t per_sign = (where.size() + width * most_lines - 1) / (width * most_lines);
  text += format("  A sign below is %zu page%s:", per_sign, per_sign == 1 ? "" : "s, where most of them are");
  for (size_t begin = 0, sign = 0; begin < where.size(); begin += per_sign, ++sign) {
    const std::map<int, uint64_t> some =
        pages_by_domain(where.subspan(begin, std::min(per_sign, where.size() - begin)));
    const auto fewer = [](const auto& one, const auto& other) { return one.second < other.second; };
    const int most = std::max_element(some.begin(), some.end(), fewer)->first;
    text += std::string(sign % width == 0 ? "\n  " : "") + sign_of(most);
  }
  return text + "\n";
}

}  // namespace hiroba
