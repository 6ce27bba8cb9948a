#define SMS_NO_PLACES
#include "notation/sms/report.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/log.hpp"
#include "base/record/record_json.hpp"
#include "base/text.hpp"
#include "base/wait.hpp"

namespace hiroba {

void add_statistics(const Counters& c, sms_statistics& sum) {
  sum.read_faults += c.faults;
  sum.pages_fetched += c.fetched;
  sum.pages_preloaded += c.preloaded;
  sum.bytes_fetched += c.bytes_fetched;
  sum.pages_diffed += c.diffed;
  sum.bytes_sent += c.bytes_sent;
  sum.pages_evicted += c.evicted;
  sum.pages_invalidated += c.invalidated;
  sum.notices_sent += c.notices;
  sum.pages_cached += c.cached;
  sum.home_faults += c.home_faults;
}

namespace {

// Returns the ranks that this one has waited for longest: "(0.25 for rank 3, 0.01 for rank 1)".
std::string waited_for(const Memory& memory) {
  const std::vector<double>& seconds = memory.collective().barriers().waits().for_rank;
  std::vector<size_t> ranks(seconds.size());
  std::iota(ranks.begin(), ranks.end(), size_t{0});
  std::sort(ranks.begin(), ranks.end(), [&](size_t a, size_t b) { return seconds[a] > seconds[b]; });
  constexpr size_t most = 3;
  constexpr double least = 1e-3;
  std::string out;
  for (size_t i = 0; i < std::min(most, ranks.size()); ++i)
    if (seconds[ranks[i]] >= least && static_cast<int>(ranks[i]) != memory.job().rank)
      out += format("%s%.3f for rank %zu", out.empty() ? " (" : ", ", seconds[ranks[i]], ranks[i]);
  return out.empty() ? out : out + ")";
}

void report_array(const std::string& name, const Counters& counters) {
  sms_statistics s = {};
  add_statistics(counters, s);
  if (s.read_faults + s.pages_fetched + s.pages_diffed + s.pages_evicted + s.pages_invalidated + s.home_faults == 0)
    return;
  log_line(
      "%s: %lu faults, %lu pages fetched (%s), %lu preloaded, %lu diffed (%s sent), %lu evicted, %lu "
      "invalidated, %lu refreshed in place; %lu faults of writes to pages of this node that others have copied",
      name.c_str(), s.read_faults, s.pages_fetched, show_bytes(s.bytes_fetched).c_str(), s.pages_preloaded,
      s.pages_diffed, show_bytes(s.bytes_sent).c_str(), s.pages_evicted, s.pages_invalidated, counters.refreshed.load(),
      s.home_faults);
}

}  // namespace

void report_statistics(const Memory& memory) {
  const Memory::Times& t = memory.times();
  const double total = seconds_now() - t.began, locks = t.locks, faults = t.faults;
  const double collective = memory.collective().barriers().waits().seconds;
  log_line(
      "times: %.3f s: %.3f computing, %.3f waiting in collective calls%s, %.3f waiting for locks, %.3f in page faults",
      total, std::max(0.0, total - collective - locks - faults), collective, waited_for(memory).c_str(), locks, faults);
  if (recording())
    for (const std::string& region : describe_regions(*run_record)) log_line("%s", region.c_str());
  const Memory::Acquires a = memory.acquires();
  if (a.looked > 0)
    log_line(
        "locks and sms_sync: %lu looks at what others have written, %lu runs of pages; %lu dropped every copy, "
        "because more was written than the log of a node holds or it was not known what",
        a.looked, a.entries, a.drops);
  memory.arrays().for_each([](const Array& array) { report_array(array.name, array.counters); });
  for (const auto& [name, freed] : memory.arrays().freed.by_name)
    report_array(format("%s (%lu freed)", name.c_str(), freed.arrays), freed.counters);
  Heap::Statistics heap;
  if (memory.heap().statistics(heap, false).ok() && heap.used + heap.returned > 0)
    log_line("heap: objects of %s, which take %s; %lu objects of other ranks freed, in %lu batches",
             show_bytes(heap.live).c_str(), show_bytes(heap.used).c_str(), heap.returned, heap.batches);
  const Transport::Traffic traffic = memory.transport().traffic();
  if (traffic.messages > 0) log_line("network: %lu messages, %s", traffic.messages, show_bytes(traffic.bytes).c_str());
}

Status report_placement(const Memory& memory) {
  std::string text;
  HIROBA_TRY(memory.homes().explain("sms_shutdown", text));
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    log_line("placement of %s", text.substr(at, end - at).c_str());
    at = end + 1;
  }
  return {};
}

}  // namespace hiroba
