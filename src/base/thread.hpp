// A thread of the runtime: it blocks all signals, which the program's threads handle, and has a name that debuggers and
// `top -H` show (15 characters). The caller joins it.
#pragma once

#include <pthread.h>

#include "base/status.hpp"

namespace hiroba {

Status start_thread(pthread_t& thread, const char* name, void* (*run)(void*), void* argument);

}  // namespace hiroba
