// A record may say anything: its file may have been damaged, or written by another program, and memory of a job by a
// stray access.
#pragma once

#include "base/record/record.hpp"

namespace hiroba {

// Changes the record so that those who read it use no index, length or number that it cannot have. Returns false if it
// is none of a rank. Nobody else may write to it.
bool make_sound(RunRecord& record);

}  // namespace hiroba
