// The shares of cores: every core given out once while there are enough, contiguous, even; else one each.
#include <cstdio>

#include "launcher/machine.hpp"

using hiroba::Cores;
using hiroba::share_of_cores;

static int check(int ranks, int cores) {
  int next = 0;
  for (int r = 0; r < ranks; ++r) {
    const Cores mine = share_of_cores(r, ranks, cores);
    const int least = ranks <= cores ? cores / ranks : 1, most = ranks <= cores ? (cores + ranks - 1) / ranks : 1;
    const bool placed = ranks <= cores ? mine.first == next : mine.first >= 0 && mine.first + mine.count <= cores;
    if (placed && mine.count >= least && mine.count <= most) {
      next = mine.first + mine.count;
      continue;
    }
    std::printf("%d ranks on %d cores: rank %d got %d cores from %d\n", ranks, cores, r, mine.count, mine.first);
    return 1;
  }
  if (ranks <= cores && next != cores)
    return std::printf("%d ranks on %d cores: %d given out\n", ranks, cores, next), 1;
  return 0;
}

int main() {
  int bad = 0;
  for (int ranks = 1; ranks <= 70; ++ranks)
    for (int cores = 1; cores <= 70; ++cores) bad += check(ranks, cores);
  return bad != 0;
}
