// Checks that all ranks have created the same tasks, and that none of these has failed.
//
// Owner: Tasks. For the program's thread. compare() is a barrier; tell_failed() waits for all ranks, and runs tasks
// until then.
#pragma once

#include <functional>
#include <vector>

#include "task/flow/flow.hpp"
#include "task/task.hpp"

namespace hiroba {

class Agreement {
 public:
  void start(Barriers& barriers, int nranks) { barriers_ = &barriers, words_.resize(static_cast<size_t>(nranks)); }
  // `made`: the sequence of this rank. If the sequences differ, the status names the first task that does. `failed`:
  // in: on this rank; out: on any rank.
  Status compare(const char* call, const std::vector<Flow::Made>& made, Tasks::Failed& failed);

  // `failed`: in: on this rank; out: on any rank. `run_until` runs tasks until its argument returns true.
  Status tell_failed(Collective& collective, const char* call,
                     const std::function<void(const std::function<bool()>&)>& run_until, bool& failed) const;

 private:
  Status tell(const char* call, uint64_t word);
  Status find_difference(const char* call, const std::vector<Flow::Made>& made);

  Barriers* barriers_ = nullptr;
  std::vector<uint64_t> words_;  // of all ranks
};

}  // namespace hiroba
