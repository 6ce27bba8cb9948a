#define SMS_NO_PLACES
#include "notation/sms/report.hpp"

#include <string>

#include "base/log.hpp"
#include "base/record/record_stats.hpp"
#include "base/text.hpp"

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

void report_statistics(const Memory& memory) {
  for (const std::string& line : describe_record(*run_record)) log_line("%s", line.c_str());
  const Memory::Acquires a = memory.acquires();
  if (a.looked > 0)
    log_line(
        "locks and sms_sync: %lu looks at what others have written, %lu runs of pages; %lu dropped every copy, "
        "because more was written than the log of a node holds or it was not known what",
        a.looked, a.entries, a.drops);
  Heap::Statistics heap;
  if (memory.heap().statistics(heap, false).ok() && heap.used + heap.returned > 0)
    log_line("heap: objects of %s, which take %s; %lu objects of other ranks freed, in %lu batches",
             show_bytes(heap.live).c_str(), show_bytes(heap.used).c_str(), heap.returned, heap.batches);
  const Transport::Traffic traffic = memory.transport().traffic();
  if (traffic.messages > 0) log_line("network: %lu messages, %s", traffic.messages, show_bytes(traffic.bytes).c_str());
}

Status report_placement(const Memory& memory) {
  std::string text;
  HIROBA_TRY(memory.run_report().explain_placement("sms_shutdown", text));
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    log_line("placement of %s", text.substr(at, end - at).c_str());
    at = end + 1;
  }
  return {};
}

}  // namespace hiroba
