#include "collective/plans/one_report.hpp"

namespace hiroba {

void OneReport::listen(Transport& transport) {
  on_claim_ = transport.add_handler([](void* self, int source, const void*,
                                       size_t) { static_cast<OneReport*>(self)->decide(source); },
                                    this);
  on_verdict_ = transport.add_handler(
      [](void* self, int, const void* payload, size_t) {
        static_cast<OneReport*>(self)->verdict_.store(*static_cast<const int*>(payload), std::memory_order_release);
      },
      this);
}

// If rank 0 computes and does not answer, two messages are better than none.
void OneReport::claim() {
  constexpr double to_answer = 0.5, to_send = 0.02, to_end = 5;
  if (world_->job.ranks_here() == world_->nranks) return;
  if (world_->rank == 0) {
    decide(0);
    drive_while(granted, to_send);
  } else if (verdict_.load(std::memory_order_acquire) == unknown) {
    world_->transport->send(0, on_claim_, nullptr, 0);
  }
  drive_while(unknown, to_answer);
  drive_while(refused, to_end);
}

void OneReport::decide(int rank) {
  if (given_.exchange(true)) return;
  for (int other = 1; other < world_->nranks; ++other) {
    const int verdict = other == rank ? granted : refused;
    world_->transport->send(other, on_verdict_, &verdict, sizeof verdict);
  }
  verdict_.store(rank == 0 ? granted : refused, std::memory_order_release);
}

void OneReport::drive_while(int verdict, double seconds) const {
  constexpr double nap = 1e-3;
  const double begin = seconds_now();
  while (verdict_.load(std::memory_order_acquire) == verdict && seconds_now() - begin < seconds)
    if (!world_->transport->progress()) world_->transport->sleep(nap);
}

}  // namespace hiroba
