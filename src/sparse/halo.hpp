// The elements of a vector that a rank's rows use and other ranks own: the first call finds the ranks that need them,
// then each product moves every one of them once, in one block per pair of ranks, while the rank computes.
//
// Owner: an operator. Collective; start() does not wait, wait() blocks. One exchange at a time.
#pragma once

#include <vector>

#include "sparse/ranks.hpp"

namespace hiroba {

template <typename T>
class Halo {
 public:
  // `needed`: rows of others, ascending, each once.
  Status plan(const Ranks& ranks, const Rows& rows, const std::vector<int64_t>& needed);
  bool planned() const { return planned_; }
  // Sends elements of x, this rank's part of the vector.
  Status start(const Ranks& ranks, const T* x);
  // Returns the elements, in the order of `needed`, until the next start.
  Status wait(const Ranks& ranks, const T*& elements);
  Status release(const Ranks& ranks);

  int64_t received() const { return std::ssize(elements_); }  // per product
  int64_t sent() const { return std::ssize(index_); }

 private:
  bool planned_ = false, any_ = false;  // any: on any rank
  std::vector<int32_t> index_;          // in this rank's part, of each element that is sent
  T* packed_ = nullptr;                 // in this rank's part of `array_`, which others read in place
  void* array_ = nullptr;
  std::vector<T> elements_;
  Plan plan_;
  StartedOperation operation_;
};

}  // namespace hiroba
