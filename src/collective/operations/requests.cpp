#include "collective/operations/requests.hpp"

#include <mutex>

#include "base/wait.hpp"
#include "collective/plans/operation.hpp"

namespace hiroba {

bool World::drive() const {
  bool any = transport->progress();
  any = operations->advance() || any;
  return requests->go_on() || any;
}

Status Requests::await(Request& request, const Call& call) {
  bool complete = false;
  Status failed;
  const auto done = [&] {
    if (!complete && failed.ok()) failed = request.hasten(complete);
    return complete || !failed.ok();
  };
  const auto what = [&] {
    const std::string name = request.name();
    return call.text() + (name.empty() ? "" : " for " + name) + ": " + request.missing();
  };
  HIROBA_TRY(world_->await(done, what));
  return failed;
}

// Yields the core if nothing advanced: a program that polls must not delay the ranks that it waits for.
Status Requests::test(Request& request, bool& complete) {
  const bool any = world_->drive();
  HIROBA_TRY(request.advance(complete));
  if (!complete && !any) Backoff::yield();
  return {};
}

// ---- by handle -----------------------------------------------------------------------------------------------------

uint64_t Requests::give(std::shared_ptr<Request> request, bool must_be_awaited) {
  const std::lock_guard<SignalSafeLock> guard(given_lock_);
  given_[++last_] = {std::move(request), must_be_awaited};
  return last_;
}

std::shared_ptr<Request> Requests::find(uint64_t handle) const {
  if ((handle & self_contained) != 0) return source_ == nullptr ? nullptr : source_(handle);
  const std::lock_guard<SignalSafeLock> guard(given_lock_);
  const auto found = given_.find(handle);
  return found == given_.end() ? nullptr : found->second.request;
}

bool Requests::was_given(uint64_t handle) const {
  const std::lock_guard<SignalSafeLock> guard(given_lock_);
  return handle > 0 && handle <= last_;
}

void Requests::forget(uint64_t handle) {
  const std::lock_guard<SignalSafeLock> guard(given_lock_);
  given_.erase(handle);
}

std::string Requests::user_of(const void* begin, const void* end) const {
  const std::lock_guard<SignalSafeLock> guard(given_lock_);
  for (const auto& [handle, given] : given_)
    if (given.request->uses(begin, end)) return given.request->name();
  return {};
}

// ---- by number -----------------------------------------------------------------------------------------------------

void Requests::keep(int64_t id, std::shared_ptr<Request> request, std::string what, std::string remedy) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  std::vector<Kept>& kept = kept_[id];
  if (request == nullptr) return;
  kept.push_back({std::move(request), std::move(what), std::move(remedy), {}});
  count_.fetch_add(1, std::memory_order_release);
}

// Requires lock_. Advances the requests with these numbers; returns true if any is complete.
bool Requests::advance(int64_t first, int64_t last, bool hasten) {
  bool any = false;
  for (auto at = kept_.lower_bound(first); at != kept_.end() && at->first <= last; ++at)
    std::erase_if(at->second, [&](Kept& kept) {
      bool complete = false;
      if (kept.failed.ok()) kept.failed = hasten ? kept.request->hasten(complete) : kept.request->advance(complete);
      if (complete) count_.fetch_sub(1, std::memory_order_relaxed);
      any = any || complete;
      return complete;
    });
  return any;
}

// Returns false if another call, in this thread or another, advances requests already.
bool Requests::go_on() {
  if (count_.load(std::memory_order_acquire) == 0 || !lock_.try_lock()) return false;
  const bool any = advance(INT64_MIN, INT64_MAX, false);
  lock_.unlock();
  return any;
}

Status Requests::known(int64_t id) const {
  if (kept_.count(id) != 0) return {};
  std::string numbers;
  for (const auto& [other, kept] : kept_) numbers += format("%s%ld", numbers.empty() ? "" : ", ", other);
  return Status::error("this image has started nothing with async(%ld)%s%s", id,
                       numbers.empty() ? ", nor with any other number" : ", but with ", numbers.c_str());
}

// Advances requests with other numbers, too, as every wait does: images may wait for them in another order.
Status Requests::await(int64_t id, const Call& call) {
  {
    const std::lock_guard<SignalSafeLock> guard(lock_);
    HIROBA_TRY(known(id));
  }
  Status failed;
  const auto done = [&] {
    const std::lock_guard<SignalSafeLock> guard(lock_);
    advance(id, id, true);
    const std::vector<Kept>& kept = kept_[id];
    if (!kept.empty()) failed = kept.front().failed;
    return kept.empty() || !failed.ok();
  };
  HIROBA_TRY(world_->await(done, [&] {
    const std::lock_guard<SignalSafeLock> guard(lock_);
    const std::vector<Kept>& kept = kept_[id];
    const std::string what = kept.empty() ? "" : kept[0].what + ": " + kept[0].request->missing();
    return format("%s for async(%ld), %s", call.text().c_str(), id, what.c_str());
  }));
  return failed;
}

Status Requests::test(int64_t id, bool& complete) {
  const bool any = world_->drive();
  {
    const std::lock_guard<SignalSafeLock> guard(lock_);
    HIROBA_TRY(known(id));
    advance(id, id, false);
    const std::vector<Kept>& kept = kept_[id];
    complete = kept.empty();
    if (!complete && !kept[0].failed.ok()) return kept[0].failed;
  }
  if (!complete && !any) Backoff::yield();
  return {};
}

Status Requests::none_left() {
  {
    const std::lock_guard<SignalSafeLock> guard(given_lock_);
    for (const auto& [handle, given] : given_) {
      const Request& request = *given.request;
      if (given.must_be_awaited && (!request.is_persistent() || request.is_under_way()))
        return Status::error("the program ends, and nobody has waited for %s; %s", request.name().c_str(),
                             request.remedy().c_str());
    }
  }
  const std::lock_guard<SignalSafeLock> guard(lock_);
  for (const auto& [id, kept] : kept_)
    if (!kept.empty())
      return Status::error("the program ends, and nobody has waited for the %s; %s", kept[0].what.c_str(),
                           kept[0].remedy.c_str());
  return {};
}

}  // namespace hiroba
