#include "memory/notices/notices.hpp"

#include <algorithm>
#include <cassert>

namespace hiroba {

// The word of a run grows with its first page, so words are compared.
size_t merge_notices(std::span<Notice> notices) {
  std::sort(notices.begin(), notices.end(), [](Notice a, Notice b) { return a.word < b.word; });
  size_t count = 0;
  for (const Notice next : notices) {
    const uint64_t end = next.page() + next.pages();
    if (count > 0) {
      Notice& last = notices[count - 1];
      const uint64_t last_end = last.page() + last.pages();
      if (end <= last_end) continue;
      if (next.page() <= last_end && end - last.page() <= Notice::most) {
        last = Notice::make(last.page(), end - last.page());
        continue;
      }
    }
    notices[count++] = next;
  }
  return count;
}

// Sorting allocates nothing: this may run in the fault handler. At each merge half of the log is new, so an addition
// costs a few comparisons. There are fewer runs of pages than words in the log.
void NoticeLog::merge() {
  const size_t kept = merge_notices({entries(), logged_});
  const size_t waiting = merge_notices(pending());
  std::copy_n(entries() + logged_, waiting, entries() + kept);
  logged_ = kept, count_ = kept + waiting;
  limit_ = std::clamp(2 * count_, few, most);
  assert(count_ < limit_);
}

}  // namespace hiroba
