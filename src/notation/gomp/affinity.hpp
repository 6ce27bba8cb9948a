// Names ranks in what OMP_DISPLAY_AFFINITY=TRUE displays of their threads.
#pragma once

namespace hiroba::openmp {

// Begins the format with the rank, if threads are displayed at the start of regions.
void name_rank_in_displays(int rank);

}  // namespace hiroba::openmp
