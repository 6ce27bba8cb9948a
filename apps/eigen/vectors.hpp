// Eigenvectors in a file of numpy, of all ranks together. Collective.
#pragma once

#include "command.hpp"

struct part {
  const void* data;  // of this rank, of one vector; private memory
  size_t bytes;
};

// Makes an array of parts.size() x rows numbers of a kind ("<f8", "<c16"), of which this rank has the columns from
// `first` on. Ends the program with a message if the file cannot be written.
void save_vectors(const team& team, const char* path, const char* kind, int64_t rows, int64_t first,
                  const std::vector<part>& parts);
