// The contract of this floor: coarrays, arrays of which every rank has a part, and the operations of images on them.
//
// A Coarrays object is one rank's part of that. It consists of parts, each with one task and a header of its own:
// assignments, the synchronisation of images, locks and atomics. Their common state is hidden. A coarray is an
// allocation of the memory floor, divided into one part per rank whose home is that rank; so parts of this node are
// mapped here, at addresses `stride` apart, and the transport accesses the others. Accesses never go through the page
// cache.
//
// start, stop, allocate, free are collective over all ranks, calls with a team over that team; one thread makes them.
// All other calls are thread-safe. Puts and accumulates are complete after sync_memory or any other synchronisation;
// their source may be changed on return. Started operations are in progress until a wait
// (collective/operations/requests.hpp). All other calls block until they are complete. Errors come back as a status;
// the caller (src/notation/xmp) ends the job with it.
#pragma once

#include <memory>
#include <string>

#include "coarray/assignments.hpp"
#include "coarray/atomics.hpp"
#include "coarray/image_sync.hpp"
#include "coarray/locks.hpp"
#include "coarray/mover.hpp"
#include "memory/memory.hpp"
#include "section/walk.hpp"

namespace hiroba {

struct CoarrayParts;

struct Coarray {
  std::string name;                             // "a[1024][1024]"
  uint64_t offset = 0, stride = 0, bytes = 0;   // of rank 0's part; between parts; of the used memory of a part
  char* data = nullptr;                         // this rank's
  size_t element = 1;                           // for messages
  mutable uint64_t accesses = 0, accessed = 0;  // option stats: calls to other images' parts, and their bytes
  uint64_t gap = 0;                             // option check: before each part, so that it ends at the end of a page
};

struct CoarraySection {
  const Coarray* coarray = nullptr;  // null: memory of this process
  int rank = 0;
  Section section;         // its address is the first element's in this rank's part; its blocks are elements
  const char* place = "";  // in the program, "main.c:12"
};

class Coarrays {
 public:
  Coarrays();
  ~Coarrays();
  // Call it before the transport starts.
  void listen(Transport& transport);
  Status start(Memory& memory);
  Status stop();
  bool started() const { return started_; }

  Status allocate(Coarray& coarray, const std::string& call, const char* place);
  Status free(Coarray& coarray, const std::string& call);
  void report_statistics() const;  // option stats: a line for each coarray; for a freed one when it is freed

  // Requires that it has started.
  Assignments& assignments() const;
  ImageSync& image_sync() const;
  CoarrayLocks& locks() const;
  CoarrayAtomics& atomics() const;
  Collective& collective() const;

 private:
  bool started_ = false;  // and not been stopped
  std::unique_ptr<CoarrayParts> parts_;
};

}  // namespace hiroba
