// This host's name, for messages, and its TCP settings.
#pragma once

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace hiroba {

inline std::string host_name() {
  utsname system;
  uname(&system);
  return system.nodename;
}

// Returns the congestion control of new connections; "" if unknown. Safe while a page is fetched: a stream of C++ uses
// variables of its library that an OpenMP program may share.
inline std::string tcp_congestion_control() {
  const int file = open("/proc/sys/net/ipv4/tcp_congestion_control", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[64];
  const ssize_t bytes = read(file, text, sizeof text);
  close(file);
  return {text, std::find(text, text + std::max<ssize_t>(bytes, 0), '\n')};
}

// Returns whether it paces packets by its estimate of the bandwidth.
inline bool is_paced(std::string_view congestion_control) { return congestion_control.starts_with("bbr"); }

}  // namespace hiroba
