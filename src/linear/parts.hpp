// Common to the operations of this floor.
#pragma once

#include "linear/call_order.hpp"
#include "linear/linear.hpp"
#include "linear/local.hpp"

namespace hiroba {

// The division of a product, kept for the next call with the same operands.
struct ProductPlan {
  SharedMatrix a;
  SharedVector y;
  bool transposed;
  bool by_result;                 // each rank computes all of the results that it owns
  std::vector<MatrixTile> tiles;  // of this rank
};

struct LinearParts {
  Memory* memory = nullptr;
  bool reproducible = false;
  int rank = 0, ranks = 1;
  bool far = false;  // there are other nodes
  CallOrder order;
  Scratch x, y, sums;
  std::vector<ProductPlan> plans;

  Status enter(const Call& call, std::initializer_list<CallOrder::Use> uses) {
    if (ranks == 1 || !order.enter(uses)) return {};
    return memory->consistency().barrier(call.text().c_str());
  }
  // Fetches elements [begin, end) that other nodes have; wait() completes that.
  Status fetch(const SharedVector& v, int64_t begin, int64_t end) const {
    if (!far || begin >= end) return {};
    Preloads& preloads = memory->preloads();
    if (std::abs(v.step) <= Preloads::least_gap) {
      const int64_t low = std::min(v.at(begin), v.at(end - 1)), high = std::max(v.at(begin), v.at(end - 1)) + v.bytes;
      return preloads.start_bytes(v.array->data + low, static_cast<size_t>(high - low));
    }
    for (int64_t i = begin; i < end; ++i)
      HIROBA_TRY(preloads.start_bytes(v.array->data + v.at(i), static_cast<size_t>(v.bytes)));
    return {};
  }
  void wait() const {
    if (far) memory->preloads().wait();
  }
};

}  // namespace hiroba
