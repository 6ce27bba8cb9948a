// What the images of a set do together: barrier, reduction, broadcast. Every image of the set makes the call, by one
// thread, and all make these calls in one order. Those that start return at once; the others block until what they
// need from the others has come.
//
// Small data goes in parcels along a tree, so that it takes as many steps as the number of images has bits. Large data
// goes through each image's room in the control words: every image combines a slice of it, or reads it from there. Over
// all images of the job the transport's exchange is the barrier, which also finds unequal calls.
// What is started goes in parcels whatever its size, several chunks at once, and goes on in the handlers that parcels
// come to; so any call that lets the transport progress lets it progress, in this image and in those between. Unequal
// calls are found by their names, which say what must be equal: "xmp_reduction(+ of 10 double)".
#pragma once

#include <map>
#include <memory>

#include "coarray/images.hpp"
#include "coarray/mail.hpp"
#include "coarray/operation.hpp"
#include "coarray/update.hpp"

namespace hiroba {

// Combines elements of a later image into those of an earlier one: numbers, or records that begin with a number, of
// which one is chosen.
struct Combine {
  Arithmetic arithmetic;
  size_t record = 0;  // bytes; 0: numbers
  size_t element() const { return record > 0 ? record : bytes_of(arithmetic.to()); }
  void operator()(char* mine, const char* theirs, int64_t count) const;
};

// An operation of one set, or several in sequence that have been agreed on at once.
struct Team {
  ImageSet set;
  int me;  // index of this image
  uint64_t name, number;
  const char* what;  // for the others to compare; outlives the operations
};

// What was started, and the data that it works on, which is a copy.
class Started {
 public:
  bool done() const;
  // "rank 3 has not come"
  std::string missing() const;
  // That no image was found in another operation. If one was, this is never done.
  Status agrees() const;
  // Once it is done.
  const char* data() const { return work_->data.data(); }
  const Checker::Stamp& stamp() const { return work_->stamp; }

 private:
  friend class Collective;
  struct Work {
    std::vector<char> data;
    Checker::Stamp stamp;
    Combine combine;
    std::string what;
    int rank = 0;                 // this one
    std::shared_ptr<void> token;  // of Collective: something that was started lives
  };
  std::shared_ptr<Work> work_;  // the operations', too
  std::vector<Operation> lanes_;
};

class Collective {
 public:
  void start(const World& world, const Control& control, Mail& mail, Checker& checker);
  // Orders accesses for the checker only if it `synchronises`.
  Status barrier(const ImageSet& set, const Call& call, bool synchronises = false);
  // In the order of the images, so that all get the same bits.
  Status reduce(const ImageSet& set, char* data, int64_t count, const Combine& combine, const Call& call);
  // From the image `root` of the set.
  Status broadcast(const ImageSet& set, int root, char* data, size_t bytes, const Call& call);

  // All images of the set agree on the number of operations that follow.
  Team gather_team(const ImageSet& set, uint64_t operations, const char* what);
  // The `which`-th of a team. Stamps are joined.
  Started start_barrier(const Team& team, int which, const Checker::Stamp& stamp);
  static constexpr size_t most_started = Mail::most_parcel;  // bytes of an element
  Started start_reduce(const ImageSet& set, const char* data, int64_t count, const Combine& combine, const char* what);
  Started start_broadcast(const ImageSet& set, int root, const char* data, size_t bytes, const char* what);

 private:
  using Work = std::shared_ptr<Started::Work>;
  // How data is cut: lane l of `lanes` does the chunks l, l + lanes, ...
  struct Chunks {
    size_t bytes, each, count, lanes;
    Chunks(size_t all_bytes, size_t element);
    size_t at(size_t chunk) const { return chunk * each; }
    size_t of(size_t chunk) const { return std::min(each, bytes - at(chunk)); }
  };
  Operation meet(Team team, Work work);
  Operation reduce_lane(Team team, Work work, Chunks chunks, size_t lane);
  Operation broadcast_lane(Team team, int root, Work work, Chunks chunks, size_t lane);
  Started make(const char* what) const;
  Status none_left(const ImageSet& set, const Call& call);
  Status finish(const Started& started, const Call& call);
  Status reduce_word(const ImageSet& set, char* data, const Combine& combine, const Call& call);
  Status reduce_room(const ImageSet& set, char* data, int64_t count, const Combine& combine, const Call& call);
  Status reduce_slice(const ImageSet& set, int64_t first, int64_t count, const Combine& combine);
  void read_room(int rank, int half, uint64_t at, char* to, size_t bytes) const;

  const World* world_ = nullptr;
  const Control* control_ = nullptr;
  Mail* mail_ = nullptr;
  Checker* checker_ = nullptr;
  std::map<uint64_t, uint64_t> numbers_;  // of operations, by set
  std::shared_ptr<void> token_ = std::make_shared<char>();
  std::vector<uint64_t> words_;
  std::vector<char> buffer_;
};

}  // namespace hiroba
