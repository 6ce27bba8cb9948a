// This host: its name, for messages, and how its TCP behaves.
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

// What new connections use; "" if the kernel does not say.
inline std::string tcp_congestion_control() {
  std::ifstream file("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string name;
  file >> name;
  return name;
}

// Whether it spreads what it sends over time, by the bandwidth it believes in.
inline bool is_paced(std::string_view congestion_control) { return congestion_control.starts_with("bbr"); }

}  // namespace hiroba
