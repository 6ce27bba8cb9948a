#include "task/crew/victims.hpp"

#include <algorithm>
#include <utility>

namespace hiroba {

std::vector<int> victims_of(int thread, std::span<const int> domains, const NumaDistances& distances) {
  const auto n = static_cast<int>(domains.size());
  const auto distance = [&](int t) { return distances.between(domains[thread], domains[t]); };
  std::vector<std::pair<int, int>> order;  // by distance, then in a ring, so that threads begin with different ones
  for (int i = 1; i < n; ++i) order.emplace_back(distance((thread + i) % n), i);
  std::sort(order.begin(), order.end());
  std::vector<int> out;
  for (const auto& [far, i] : order) out.push_back((thread + i) % n);
  return out;
}

Domains::Domains(int threads, NumaDistances distances, Here here)
    : distances_(std::move(distances)), here_(here), of_thread_(static_cast<size_t>(threads)) {
  for (std::atomic<int>& domain : of_thread_) domain.store(unknown);
}

std::unique_ptr<Domains> Domains::of_machine(int threads) {
  NumaDistances distances = NumaDistances::load();
  if (threads < 3 || distances.domains == 1) return nullptr;  // one or two threads have no choice
  return std::make_unique<Domains>(threads, std::move(distances));
}

void Domains::note(int thread) {
  std::atomic<int>& domain = of_thread_[thread];
  const int now = here_();
  if (now == domain.load(std::memory_order_relaxed)) return;
  domain.store(now, std::memory_order_relaxed);
  moves_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<int> Domains::victims(int thread) const {
  std::vector<int> domains;
  for (const std::atomic<int>& domain : of_thread_) domains.push_back(domain.load(std::memory_order_relaxed));
  return victims_of(thread, domains, distances_);
}

}  // namespace hiroba
