// The one Memory of this process, for the other notations.
#pragma once

#include "memory/memory.hpp"

namespace hiroba {

// Ends the job with a message that names the call if sms_startup has not been called, or sms_shutdown has.
Memory& process_memory(const char* call);
bool process_started();

// Called at the end of sms_startup, by every rank.
void at_start(void (*hook)());

}  // namespace hiroba
