// What the images of a set do together: barrier, reduction, broadcast. Every image of the set makes the call, by one
// thread; blocks until what it needs from the others has come.
//
// Small data goes in parcels along a tree, so that it takes as many steps as the number of images has bits. Large data
// goes through each image's room in the control words: every image combines a slice of it, or reads it from there. Over
// all images of the job the transport's exchange is the barrier, which also finds unequal calls.
#pragma once

#include <map>

#include "coarray/images.hpp"
#include "coarray/mail.hpp"
#include "coarray/update.hpp"

namespace hiroba {

// Combines elements of a later image into those of an earlier one.
class Combine {
 public:
  virtual ~Combine() = default;
  virtual size_t element() const = 0;  // bytes
  virtual void operator()(char* mine, const char* theirs, int64_t count) const = 0;
};

// By an operation of C. `arithmetic` must stay.
class Elementwise final : public Combine {
 public:
  explicit Elementwise(const Arithmetic& arithmetic) : arithmetic_(arithmetic), bytes_(bytes_of(arithmetic.to())) {}
  size_t element() const override { return bytes_; }
  void operator()(char* mine, const char* theirs, int64_t count) const override {
    const auto stride = static_cast<int64_t>(bytes_);
    arithmetic_.apply(mine, stride, theirs, stride, count);
  }

 private:
  const Arithmetic& arithmetic_;
  size_t bytes_;
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

 private:
  // One operation of one set.
  struct Team {
    const ImageSet& set;
    const Call& call;
    int me;  // index of this image
    uint64_t name, number;
  };
  Team gather_team(const ImageSet& set, const Call& call);
  Mail::Key key(const Team& team, int step) const;
  Status reduce_tree(Team& team, char* data, int64_t count, const Combine& combine);
  Status broadcast_tree(Team& team, int root, char* data, size_t bytes, int step);
  Status reduce_word(const ImageSet& set, char* data, const Combine& combine, const Call& call);
  Status reduce_room(const ImageSet& set, char* data, int64_t count, const Combine& combine, const Call& call);
  Status reduce_slice(const ImageSet& set, int me, int64_t first, int64_t count, const Combine& combine);
  void read_room(int rank, int half, uint64_t at, char* to, size_t bytes) const;

  const World* world_ = nullptr;
  const Control* control_ = nullptr;
  Mail* mail_ = nullptr;
  Checker* checker_ = nullptr;
  std::map<uint64_t, uint64_t> numbers_;  // of operations, by set
  std::vector<uint64_t> words_;
  std::vector<char> buffer_;
};

}  // namespace hiroba
