// A handle of a started operation; copies refer to the same operation. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/shown.hpp"
#include "base/status.hpp"
#include "collective/team.hpp"

namespace hiroba {

struct CollectiveParts;
struct Running;
using RunningPtr = std::shared_ptr<Running>;

class Started {
 public:
  Started() = default;
  explicit Started(RunningPtr running) : running_(std::move(running)) {}
  [[HIROBA_SHOWN]] bool done() const;
  // "rank 3 has not arrived"
  [[HIROBA_SHOWN]] std::string missing() const;
  // Fails if a rank was found in another operation. Then this one is never done.
  [[HIROBA_SHOWN]] Status agrees() const;
  // Returns the joined words of a barrier that is done.
  const Words& words() const;
  // Returns true if the operation needs any of that memory for its blocks.
  bool uses(const void* begin, const void* end) const;
  const RunningPtr& running() const { return running_; }

 private:
  RunningPtr running_;
};

}  // namespace hiroba
