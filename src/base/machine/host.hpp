// This host's name, for messages, and its TCP settings.
#pragma once

#include <sys/utsname.h>

#include <fstream>
#include <string>
#include <string_view>

namespace hiroba {

inline std::string host_name() {
  utsname system;
  uname(&system);
  return system.nodename;
}

// Returns the congestion control of new connections; "" if unknown.
inline std::string tcp_congestion_control() {
  std::ifstream file("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string name;
  file >> name;
  return name;
}

// Returns whether it paces packets by its estimate of the bandwidth.
inline bool is_paced(std::string_view congestion_control) { return congestion_control.starts_with("bbr"); }

}  // namespace hiroba
