#include "openmp/learnt_pages.hpp"

#include <algorithm>

namespace hiroba::openmp {

namespace {

PageSet both(const PageSet& some, const PageSet& others) {
  std::vector<PageRun> out = some.runs();
  out.insert(out.end(), others.runs().begin(), others.runs().end());
  merge_runs(out);
  return PageSet(std::move(out));
}

}  // namespace

void LearntPages::start(Memory& memory) {
  if (memory.job().nnodes > 1) preloads_ = &memory.preloads();
}

// Some executions are trials: they show which of the pages are not used any more.
void LearntPages::fetch(Learnt& learnt) {
  if (learnt.pages.runs().empty()) return;
  learnt.on_trial = learnt.until == 0;
  if (!learnt.on_trial) --learnt.until;
  preloads_->start(learnt.pages, learnt.on_trial);
}

void LearntPages::expect() {
  if (now_ == nullptr || now_->next == 0) return;
  expected_ = now_->next;
  fetch(places_[expected_]);
}

void LearntPages::begin(Place place) {
  if (preloads_ == nullptr) return;
  if (now_ != nullptr) now_->next = place;
  const bool is_known = places_.size() < most_places || places_.contains(place);
  now_ = is_known ? &places_[place] : nullptr;
  if (now_ != nullptr && place != expected_) fetch(*now_);
  expected_ = 0;
  preloads_->note();
}

// Pages that were fetched and not used are not fetched again, though accesses may bring them: other ranks write them
// while the threads are here.
void LearntPages::judge(Learnt& learnt) const {
  learnt.on_trial = false;
  const PageSet unused = preloads_->unused(learnt.pages);
  learnt.gap = unused.runs().empty() ? std::min(2 * learnt.gap + 1, most_gap) : 0;
  learnt.until = learnt.gap;
  if (unused.runs().empty()) return;
  learnt.pages = PageSet(without(learnt.pages.runs(), unused.runs()));
  learnt.left_out = both(learnt.left_out, unused);
}

void LearntPages::end() {
  if (now_ == nullptr) return;
  const PageSet noted = preloads_->noted();
  if (now_->on_trial) judge(*now_);
  const std::vector<PageRun> more = without(noted.runs(), now_->left_out.runs());
  if (!more.empty()) now_->pages = both(now_->pages, PageSet(more));
}

}  // namespace hiroba::openmp
