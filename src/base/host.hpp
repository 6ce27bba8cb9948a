// This host, for messages.
#pragma once

#include <sys/utsname.h>

#include <string>

namespace hiroba {

inline std::string host_name() {
  utsname system;
  uname(&system);
  return system.nodename;
}

}  // namespace hiroba
