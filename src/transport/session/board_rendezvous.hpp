// A rendezvous for processes of one machine, on the board that the launcher gave them.
#pragma once

#include <memory>

#include "base/job.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

std::unique_ptr<Rendezvous> make_board_rendezvous(const Job& job, Board& board);

}  // namespace hiroba
