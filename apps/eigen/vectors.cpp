// --vectors: eigenvectors as an array for numpy.load, of which each rank writes its elements.
#include "vectors.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace {

void require(const team& team, bool good, const std::string& path) {
  const int problem = errno;
  team_agree(&team, good, TEAM_BAD_INPUT, "cannot write --vectors %s: %s", path.c_str(), std::strerror(problem));
}

}  // namespace

void save_vectors(const team& team, const char* path, const char* kind, int64_t rows, int64_t first,
                  const std::vector<part>& parts) {
  unsigned char header[NPY_HEADER];
  const int64_t shape[] = {static_cast<int64_t>(parts.size()), rows};
  npy_header(header, kind, shape, 2);
  const std::string whole = std::string(path) + ".part";
  bool good = true;
  int file = -1;
  if (team.rank == 0) {
    file = files_create_part(whole.c_str(), path);
    good = file >= 0 && files_write(file, header, sizeof header, 0);
  }
  require(team, good, whole);
  if (team.rank != 0) file = files_open_part(whole.c_str());
  good = file >= 0;
  const auto element = static_cast<int64_t>(kind[2] == '8' ? 8 : 16);
  for (size_t k = 0; good && k < parts.size(); ++k)
    good = files_write(file, parts[k].data, parts[k].bytes,
                       NPY_HEADER + (static_cast<int64_t>(k) * rows + first) * element);
  good = good && fsync(file) == 0;
  require(team, good, whole);
  close(file);
  if (team.rank == 0) good = std::rename(whole.c_str(), path) == 0;
  require(team, good, path);
}
