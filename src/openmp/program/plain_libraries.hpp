// Shared libraries of the project that the program is linked with, but not by hirobacc -fopenmp-nodes: their variables
// are each rank's own, so what main changes there its regions do not see in other ranks. That is told, once for each
// library.
//
// Owner: the process (instance<PlainLibraries>). For the first thread of rank 0.
#pragma once

#include <link.h>

#include <string>
#include <string_view>
#include <vector>

namespace hiroba::openmp {

class PlainLibraries {
 public:
  // Before main.
  void begin();
  // Before a region: looks before the first, the second, the fourth, and so on.
  void look();

 private:
  struct Part {  // variables, as they were before main
    const char* begin;
    std::string before;
    bool has_changed() const;
  };
  struct Library {
    std::string file;
    std::vector<Part> parts;
  };
  struct Search {
    std::vector<Library>& found;
    std::vector<std::string_view> names;  // that the program is linked with, itself or by libraries of the project
    bool finds(const dl_phdr_info& object);
  };
  static int add(dl_phdr_info* object, size_t, void* search);

  std::vector<Library> libraries_;  // of which nothing has been told
  uint64_t regions_ = 0;
};

}  // namespace hiroba::openmp
