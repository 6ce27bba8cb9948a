// The one-machine transport: ranks map each other's memory, and messages use rings on the board.
//
// A "window" as large as the job's address range maps every attached range from the memory file of its home's node,
// so that put, get and atomics are plain loads and stores; virtual nodes differ only in that the floors above do
// not use the window as program memory. Nothing needs the target's help, so there is no progress thread.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace hiroba {

inline constexpr char shm_name[] = "shm";  // in option transport

std::unique_ptr<Transport> make_shm();

}  // namespace hiroba
