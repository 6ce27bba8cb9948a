// Samples the ranks of a job for `hiroba top`, and makes the text of one picture of it.
#pragma once

#include <string>
#include <vector>

#include "launcher/top/running_job.hpp"

namespace hiroba {

class JobView {
 public:
  explicit JobView(RunningJob& job);

  // Looks whether ranks wait; often, between two pictures.
  void sample();
  // Returns lines for a terminal of this many rows; rates are those since the picture before.
  std::vector<std::string> picture(int rows);

 private:
  // Sums at one time.
  struct Sums {
    double time = 0, processor = 0;
    uint64_t calls = 0, faults = 0, bytes = 0;
  };
  struct Line {
    Sums before;
    int waits = 0;  // of the samples
  };
  pid_t first_here() const;
  Sums sums_of(int rank) const;
  std::string line_of(int rank);
  std::string state_of(int rank) const;
  std::vector<int> waited_for(int rank) const;

  RunningJob& job_;
  std::vector<Line> lines_;
  int samples_ = 0;
};

}  // namespace hiroba
