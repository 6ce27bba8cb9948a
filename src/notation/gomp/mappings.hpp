// Takes the program's calls of mmap() and its kin.
#pragma once

namespace hiroba::openmp {

// From here on they are calls of this library. It does not define these functions by their names, because libraries
// must map memory of the rank's own, and because UCX overwrites the beginnings of the functions when it starts.
void take_mapping_calls();

}  // namespace hiroba::openmp
