// `hiroba top`: a job while it runs, like top. Reads the job's memory; blocks until the job ends, or the user stops it.
#pragma once

#include <string>

namespace hiroba {

struct TopWish {
  std::string job;   // see RunningJob::find()
  double every = 1;  // seconds between two pictures
  int pictures = 0;  // 0: until the end
};

// Returns the exit status.
int top(const TopWish& wish);

}  // namespace hiroba
