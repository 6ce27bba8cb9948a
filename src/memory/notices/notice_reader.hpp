// Reads the notice logs of other ranks after a barrier. All requests are under way before the first is awaited, so the
// reader waits for one round trip, but where there are very many notices.
//
// Owner: BarrierNotices. Not thread-safe. Blocks for the answers.
#pragma once

#include <span>
#include <vector>

#include "memory/notices/notices.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class NoticeReader {
 public:
  struct Log {
    int rank;
    uint64_t notices;
  };
  // Calls visit(span of Notice) for each log. `parity`: of the logs, as NoticeLog::parity() was before the barrier.
  template <typename Visit>
  void read(Transport& transport, const Layout& layout, std::span<const Log> logs, uint64_t parity, const Visit& visit);

 private:
  static constexpr uint64_t most_at_once = uint64_t{1} << 20;
  std::vector<Notice> incoming_;
};

template <typename Visit>
void NoticeReader::read(Transport& transport, const Layout& layout, std::span<const Log> logs, uint64_t parity,
                        const Visit& visit) {
  while (!logs.empty()) {
    size_t count = 1;
    uint64_t total = logs[0].notices;
    while (count < logs.size() && total + logs[count].notices <= most_at_once) total += logs[count++].notices;
    incoming_.resize(total);
    Completion arrived;
    uint64_t at = 0;
    for (const Log& log : logs.first(count)) {
      transport.one_sided().start_get(&incoming_[at], log.rank, layout.notice_log(log.rank, parity),
                                      log.notices * sizeof(Notice), arrived, nullptr);
      at += log.notices;
    }
    transport.one_sided().await(arrived);
    at = 0;
    for (const Log& log : logs.first(count)) {
      visit(std::span<const Notice>(incoming_).subspan(at, log.notices));
      at += log.notices;
    }
    logs = logs.subspan(count);
  }
}

}  // namespace hiroba
