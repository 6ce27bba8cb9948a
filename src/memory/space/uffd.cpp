#include "memory/space/uffd.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "base/limits.hpp"
#include "base/log.hpp"

namespace hiroba {

namespace {

// The headers that we build with do not define these.
constexpr int user_mode_only = 1;
constexpr uint64_t feature_minor_shmem = 1 << 10;
constexpr uint64_t feature_wp_shmem = 1 << 12;
constexpr uint64_t feature_wp_async = 1 << 15;
constexpr uint64_t continue_wp = 2;

struct ScanRegion {
  uint64_t start, end, categories;
};
struct ScanArguments {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
  uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
constexpr unsigned long pagemap_scan = _IOWR('f', 16, ScanArguments);
constexpr uint64_t scan_wp_matching = 1, page_is_written = 2;

constexpr uint64_t pagemap_present = uint64_t{1} << 63, pagemap_swapped = uint64_t{1} << 62,
                   pagemap_file = uint64_t{1} << 61;
constexpr size_t page_size = 4096;

}  // namespace

Userfaultfd::~Userfaultfd() {
  if (fd_ >= 0) close(fd_);
}

Status Userfaultfd::open(bool track_writes) {
  tracks_writes_ = track_writes;
  return open_with(track_writes ? feature_wp_shmem | feature_wp_async : 0,
                   track_writes ? "this kernel cannot track writes asynchronously (userfaultfd WP_ASYNC, Linux 6.7)"
                                : "this kernel's userfaultfd lacks minor faults on shared memory (Linux 5.14)");
}

Status Userfaultfd::open_for_writes() {
  faults_on_writes_ = true;
  return open_with(feature_wp_shmem | UFFD_FEATURE_PAGEFAULT_FLAG_WP,
                   "this kernel's userfaultfd lacks write protection of shared memory (Linux 5.19)");
}

Status Userfaultfd::open_with(uint64_t features, const char* otherwise) {
  const int fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | user_mode_only));
  if (fd < 0)
    return Status::error("userfaultfd is not available here (%s)%s", explain_error(errno).c_str(),
                         errno == EPERM ? "; containers often forbid it: allow the system call or use tracking mprotect"
                                        : "");
  uffdio_api api = {};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_SIGBUS | feature_minor_shmem | features;
  if (ioctl(fd, UFFDIO_API, &api) != 0) {
    close(fd);
    return Status::error("%s", otherwise);
  }
  fd_ = fd;
  return {};
}

Status Userfaultfd::watch(void* address, size_t bytes, uint64_t modes) {
  uffdio_register request = {};
  request.range = {reinterpret_cast<uint64_t>(address), bytes};
  request.mode = modes;
  if (ioctl(fd_, UFFDIO_REGISTER, &request) == 0) return {};
  return Status::error("userfaultfd cannot watch %zu bytes (%s)", bytes, explain_error(errno).c_str());
}

void Userfaultfd::install(void* address, size_t bytes, bool protect) {
  uint64_t at = reinterpret_cast<uint64_t>(address), step = bytes;
  const uint64_t end = at + bytes;
  while (at < end) {
    step = std::min(step, end - at);
    uffdio_continue request = {};
    request.range = {at, step};
    request.mode = protect ? continue_wp : 0;
    const int error = ioctl(fd_, UFFDIO_CONTINUE, &request) == 0 ? 0 : errno;
    if (error == 0) at += step;
    else if (request.mapped > 0) at += static_cast<uint64_t>(request.mapped);
    else if (error == EEXIST) at += page_size;                                              // another thread was faster
    else if (error == ENOENT && step > page_size) step = step / 2 / page_size * page_size;  // watched in several ways
    else if (error != EAGAIN) return;  // the range is being unmapped: the access faults again and is judged then
  }
}

void Userfaultfd::install_unwatched(void* address, size_t bytes) {
  constexpr int madv_populate_read = 22;
  uffdio_range range = {reinterpret_cast<uint64_t>(address), bytes};
  if (ioctl(fd_, UFFDIO_UNREGISTER, &range) == 0) madvise(address, bytes, madv_populate_read);
  else install(address, bytes, false);  // too many mappings
}

bool Userfaultfd::set_protection(void* address, size_t bytes, bool on) {
  uffdio_writeprotect request = {};
  request.range = {reinterpret_cast<uint64_t>(address), bytes};
  request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
  while (ioctl(fd_, UFFDIO_WRITEPROTECT, &request) != 0)
    if (errno != EAGAIN) return false;
  return true;
}

Pagemap::~Pagemap() {
  if (fd_ >= 0) close(fd_);
}

Status Pagemap::open() {
  fd_ = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (fd_ < 0)
    return Status::error("cannot open /proc/self/pagemap (%s); written pages are found there",
                         explain_error(errno).c_str());
  return {};
}

// Memory that is not watched, such as a page that has moved here between tracked ones, is passed over. A check of that
// (PM_SCAN_CHECK_WPASYNC) would end the scan there, before pages that are tracked.
size_t Pagemap::scan(void* address, size_t pages, bool protect, size_t& next, Run* out) const {
  ScanRegion regions[most_runs];
  const uint64_t base = reinterpret_cast<uint64_t>(address);
  ScanArguments scan = {};
  scan.size = sizeof scan;
  scan.flags = protect ? scan_wp_matching : 0;
  scan.start = base + next * page_size;
  scan.end = base + pages * page_size;
  scan.vec = reinterpret_cast<uint64_t>(regions);
  scan.vec_len = most_runs;
  scan.category_mask = scan.return_mask = page_is_written;
  int found;
  while ((found = ioctl(fd_, pagemap_scan, &scan)) < 0 && (errno == EINTR || errno == EAGAIN)) {
  }
  if (found < 0) end_job(1, "cannot find written pages by the pagemap (%s)", explain_error(errno).c_str());
  next = (scan.walk_end - base) / page_size;
  for (int r = 0; r < found; ++r)
    out[r] = {(regions[r].start - base) / page_size, (regions[r].end - regions[r].start) / page_size};
  return static_cast<size_t>(found);
}

void Pagemap::written(void* address, size_t pages, PageBits& out) const {
  assert(pages <= PageBits::pages);
  written_runs(address, pages, true, [&](size_t first, size_t count) {
    for (size_t page = first; page < first + count; ++page) out.set(page);
  });
}

void Pagemap::copied(void* address, size_t pages, PageBits& out) const {
  assert(pages <= PageBits::pages);
  uint64_t entries[PageBits::pages];
  const off_t at = static_cast<off_t>(reinterpret_cast<uint64_t>(address) / page_size * sizeof(uint64_t));
  const ssize_t got = pread(fd_, entries, pages * sizeof(uint64_t), at);
  assert(got == static_cast<ssize_t>(pages * sizeof(uint64_t)));
  for (size_t page = 0; page < pages && got > 0; ++page)
    if ((entries[page] & (pagemap_present | pagemap_swapped)) != 0 && (entries[page] & pagemap_file) == 0)
      out.set(page);
}

}  // namespace hiroba
