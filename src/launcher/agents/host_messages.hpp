// Messages from reach to guard on another host: one byte each, the number of a signal for the ranks there, or this.
#pragma once

namespace hiroba {

inline constexpr char connection_exists = '\n';  // SIGUSR1, which is not among the requests to end a job

}  // namespace hiroba
