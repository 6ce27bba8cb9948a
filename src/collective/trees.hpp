// Operations of a team along trees of parcels: what Collective starts, and what it does with small data. As many steps
// as the number of ranks has bits. Large data goes in chunks, several under way at once. One thread calls; the
// operations go on in any.
#pragma once

#include <map>

#include "collective/collective.hpp"
#include "collective/parcels.hpp"

namespace hiroba {

struct Started::Work {
  std::vector<char> data;
  Words words;
  Join join = nullptr;
  Combine combine;
  std::string what;
  int rank = 0;                 // this one
  std::shared_ptr<void> token;  // of Trees: something that was started lives
};

// Not in Work, which the operations own, too.
struct Started::Lanes {
  std::vector<Operation> lanes;
};

class Trees {
 public:
  void listen(Transport& transport) { parcels_.listen(transport); }
  void start(const World& world);
  Sequence begin_sequence(const Team& team, uint64_t operations, const char* what);
  Started start_barrier(const Sequence& sequence, int which, const Words& words, Join join);
  Started start_reduce(const Team& team, const char* data, int64_t count, const Combine& combine, const char* what);
  Started start_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what);
  // Before the next operation: parcels that no operation has taken were for one that this rank was not in; or they are
  // for something that was started and has not come so far.
  Status none_left(const Team& team, const Call& call);

 private:
  using Work = std::shared_ptr<Started::Work>;
  // How data is cut: lane l of `lanes` does the chunks l, l + lanes, ...
  struct Chunks {
    size_t bytes, each, count, lanes;
    Chunks(size_t all_bytes, size_t element);
    size_t at(size_t chunk) const { return chunk * each; }
    size_t of(size_t chunk) const { return std::min(each, bytes - at(chunk)); }
  };
  Operation barrier(Sequence sequence, Work work);
  Operation reduce_lane(Sequence sequence, Work work, Chunks chunks, size_t lane);
  Operation broadcast_lane(Sequence sequence, int root, Work work, Chunks chunks, size_t lane);
  Started make(const char* what) const;

  const World* world_ = nullptr;
  Parcels parcels_;
  std::map<uint64_t, uint64_t> numbers_;  // of operations, by team
  std::shared_ptr<void> token_ = std::make_shared<char>();
};

}  // namespace hiroba
