#include "launcher/tracking_probe.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/status.hpp"

namespace hiroba {

namespace {

// Newer than the headers that we may be built with.
constexpr uint64_t feature_wp_async = 1 << 15;
struct PagemapScan {
  uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
  uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
constexpr unsigned long pagemap_scan_request = _IOWR('f', 16, PagemapScan);
constexpr uint64_t page_is_present = 1 << 3;

// Asks with every feature off, which makes the kernel tell all that it has.
std::string userfaultfd_features(uint64_t& features) {
  const int fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
  if (fd < 0) return format("userfaultfd: %s", std::strerror(errno));
  uffdio_api api{};
  api.api = UFFD_API;
  const int failed = ioctl(fd, UFFDIO_API, &api);
  const std::string why = failed != 0 ? format("UFFDIO_API: %s", std::strerror(errno)) : "";
  close(fd);
  features = api.features;
  return why;
}

std::string pagemap_scan_works() {
  const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return format("/proc/self/pagemap: %s", std::strerror(errno));
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  PagemapScan scan{};
  scan.size = sizeof scan;
  scan.start = reinterpret_cast<uintptr_t>(&scan) / page * page;
  scan.end = scan.start + page;
  uint64_t region[3];  // start, end, categories
  scan.regions = reinterpret_cast<uintptr_t>(region);
  scan.region_count = 1;
  scan.category_mask = scan.return_mask = page_is_present;
  const int found = ioctl(fd, pagemap_scan_request, &scan);
  const std::string why = found < 0 ? std::strerror(errno) : found == 0 ? "does not find a page of ours" : "";
  close(fd);
  return why;
}

}  // namespace

TrackingSupport probe_tracking() {
  TrackingSupport support;
  uint64_t features = 0;
  const std::string why = userfaultfd_features(features);
  const auto judge = [&](uint64_t needed) {
    return !why.empty() ? why : (features & needed) == needed ? "" : std::string("this kernel does not have it");
  };
  support.minor_faults = judge(UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MINOR_SHMEM);
  support.async_writes = judge(feature_wp_async);
  support.pagemap_scan = pagemap_scan_works();
  return support;
}

}  // namespace hiroba
