// What this kernel lets an ordinary process use to see its own page accesses. Each probe tries the thing itself; none
// changes anything that lasts.
#pragma once

#include <string>

namespace hiroba {

// "" if it can be used here, else why not.
struct TrackingSupport {
  std::string minor_faults;  // userfaultfd with SIGBUS and MINOR faults on memory files (Linux 5.14): tracking=uffd
  std::string async_writes;  // userfaultfd WP_ASYNC (6.7): first writes without user code
  std::string pagemap_scan;  // the PAGEMAP_SCAN ioctl (6.7): finding written pages
};

TrackingSupport probe_tracking();

}  // namespace hiroba
