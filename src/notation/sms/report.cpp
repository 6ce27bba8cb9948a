#define SMS_NO_PLACES
#include "notation/sms/report.hpp"

#include "base/log.hpp"
#include "base/text.hpp"

namespace hiroba {

void add_statistics(const Array& array, sms_statistics& sum) {
  const Counters& c = array.counters;
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
}

void report_statistics(const Memory& memory) {
  memory.arrays().for_each_live([](const Array& array) {
    sms_statistics s = {};
    add_statistics(array, s);
    const auto n = [](uint64_t value) { return static_cast<unsigned long long>(value); };
    log_line(
        "%s: %llu faults, %llu pages fetched (%s), %llu preloaded, %llu diffed (%s sent), %llu evicted, %llu "
        "invalidated",
        array.name, n(s.read_faults), n(s.pages_fetched), show_bytes(s.bytes_fetched).c_str(), n(s.pages_preloaded),
        n(s.pages_diffed), show_bytes(s.bytes_sent).c_str(), n(s.pages_evicted), n(s.pages_invalidated));
  });
  const Transport::Traffic traffic = memory.transport().traffic();
  if (traffic.messages > 0)
    log_line("network: %llu messages, %s", static_cast<unsigned long long>(traffic.messages),
             show_bytes(traffic.bytes).c_str());
}

}  // namespace hiroba
