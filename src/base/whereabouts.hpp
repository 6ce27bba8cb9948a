// Where the ranks of a job are, as text for people, from the job's board. Reads what ranks may be changing, so a text
// may be half of one moment and half of the next; nothing blocks.
#pragma once

#include <string>
#include <vector>

#include "base/job.hpp"

namespace hiroba {

// "ranks 0-2 wait in sms_barrier; rank 3 computes after sms_alloc(...)", of these ranks, those at the same place
// together; of at most `most` places. "" if none has started.
std::string whereabouts(Board& board, const std::vector<int>& ranks, size_t most = 8);

// "rank 2", "ranks 0-2, 5".
std::string list_ranks(const std::vector<int>& ranks);

}  // namespace hiroba
