#include "base/record/record_stats.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/status.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

constexpr size_t most_ranks = 3, most_lines = 20;

// Returns the ranks that this one has waited for longest: "(0.25 for rank 3, 0.01 for rank 1)".
std::string waited_for(const RunRecord& record) {
  std::vector<size_t> ranks(std::min(static_cast<size_t>(record.nranks), size_t{RunRecord::most_ranks}));
  std::iota(ranks.begin(), ranks.end(), size_t{0});
  std::sort(ranks.begin(), ranks.end(),
            [&](size_t a, size_t b) { return record.waited_for[a] > record.waited_for[b]; });
  constexpr double least = 1e-3;
  std::string out;
  for (size_t i = 0; i < std::min(most_ranks, ranks.size()); ++i)
    if (record.waited_for[ranks[i]] >= least && static_cast<int>(ranks[i]) != record.rank)
      out += format("%s%.3f for rank %zu", out.empty() ? " (" : ", ", record.waited_for[ranks[i]], ranks[i]);
  return out.empty() ? out : out + ")";
}

std::string times(const RunRecord& r) {
  const auto spent = [&r](TimeKind kind) { return seconds_spent(r, kind); };
  return format(
      "times: %.3f s: %.3f computing, %.3f waiting in collective calls%s, %.3f waiting for locks, %.3f in page faults, "
      "%.3f in preloads, %.3f in coherence",
      r.seconds, seconds_computing(r, r.seconds, r.collective), r.collective, waited_for(r).c_str(),
      spent(TimeKind::locks), spent(TimeKind::faults), spent(TimeKind::preloads), spent(TimeKind::coherence));
}

// Those of a kind that take most time, the first ones first.
std::vector<const SiteRecord*> sites_of(const RunRecord& record, SiteKind kind) {
  std::vector<const SiteRecord*> out;
  for (const SiteRecord& site : record.sites)
    if (site.kind == static_cast<uint32_t>(kind) && site.count > 0) out.push_back(&site);
  std::stable_sort(out.begin(), out.end(), [](const SiteRecord* a, const SiteRecord* b) {
    return a->nanoseconds.load() > b->nanoseconds.load();
  });
  return out;
}

std::string region(const SiteRecord& site, const CodeFile& code) {
  return format("region at %s: %.3f s, %lu times", place_of(site, code).c_str(),
                1e-9 * static_cast<double>(site.nanoseconds.load()), site.count.load());
}

// "hiroba_allreduce at main (x.c:7): 300 times of 8 B by a lane, 0.012 s"
std::string operation(const SiteRecord& site, const CodeFile& code) {
  const std::string place = place_of(site, code), call(site.call, std::strcspn(site.call, "("));
  return format("%s%s%s: %lu times of %s %s, %.3f s", call.c_str(), place.empty() ? "" : " at ", place.c_str(),
                site.count.load(), show_bytes(site.amount / site.count).c_str(), site.way,
                1e-9 * static_cast<double>(site.nanoseconds.load()));
}

std::string array_line(const ArrayRecord& a) {
  const auto n = [&a](ArrayCount count) { return count_of(a, count); };
  using enum ArrayCount;
  if (n(faults) + n(fetched) + n(diffed) + n(evicted) + n(invalidated) + n(home_faults) == 0) return {};
  return format(
      "%s: %lu faults, %lu pages fetched (%s), %lu preloaded, %lu diffed (%s sent), %lu evicted, %lu "
      "invalidated, %lu refreshed in place; %lu faults of writes to pages of this node that others have copied",
      a.name, n(faults), n(fetched), show_bytes(n(bytes_fetched)).c_str(), n(preloaded), n(diffed),
      show_bytes(n(bytes_sent)).c_str(), n(evicted), n(invalidated), n(refreshed), n(home_faults));
}

}  // namespace

// A call's address is that of the next instruction.
std::string place_of(const SiteRecord& site, const CodeFile& code) {
  const uint64_t at = site.code - (site.kind == static_cast<uint32_t>(SiteKind::fault) ? 0 : 1);
  return site.text[0] != '\0' ? site.text : site.code == 0 ? "" : code.location(at);
}

std::vector<std::string> describe_record(const RunRecord& record) {
  std::vector<std::string> out = {times(record)};
  const std::vector<const SiteRecord*> regions = sites_of(record, SiteKind::region);
  std::vector<const SiteRecord*> operations = sites_of(record, SiteKind::collective);
  std::erase_if(operations, [](const SiteRecord* site) {  // other waits, and operations of the library itself
    return site->way[0] == '\0' || (site->code == 0 && site->text[0] == '\0');
  });
  if (!regions.empty() || !operations.empty()) {
    const CodeFile code(record.executable, record.code_bias);
    for (const SiteRecord* site : regions) out.push_back(region(*site, code));
    for (size_t i = 0; i < std::min(most_lines, operations.size()); ++i) out.push_back(operation(*operations[i], code));
    if (operations.size() > most_lines)
      out.push_back(format("collective operations of %zu more places or sizes take less time: option report has them",
                           operations.size() - most_lines));
  }
  for (uint32_t i = 0; i < std::min(record.arrays_used.load(), RunRecord::most_arrays); ++i)
    if (const std::string line = array_line(record.arrays[i]); !line.empty()) out.push_back(line);
  if (record.lost > 0) out.push_back(format("%lu events of other places or arrays found no room", record.lost.load()));
  return out;
}

}  // namespace hiroba
