#include "collective/operations/requests.hpp"

#include <mutex>

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
  if (!complete && !any) sched_yield();
  return {};
}

// ---- by handle -----------------------------------------------------------------------------------------------------

uint64_t Requests::give(std::shared_ptr<Request> request) {
  const std::lock_guard<SignalSafeLock> guard(given_lock_);
  given_[++last_] = std::move(request);
  return last_;
}

Status Requests::find(uint64_t handle, const Call& call, std::shared_ptr<Request>& out) {
  const std::lock_guard<SignalSafeLock> guard(given_lock_);
  const auto found = given_.find(handle);
  if (found != given_.end()) return out = found->second, Status();
  if (handle > 0 && handle <= last_)
    return Status::error(format("%s: request %llu was waited for already; wait once, or use HIROBA_NO_REQUEST after it",
                                call.text().c_str(), static_cast<unsigned long long>(handle)));
  return Status::error(format("%s: %llu is no request; give one that a hiroba_i function has set", call.text().c_str(),
                              static_cast<unsigned long long>(handle)));
}

void Requests::forget(uint64_t handle) {
  const std::lock_guard<SignalSafeLock> guard(given_lock_);
  given_.erase(handle);
}

std::string Requests::user_of(const void* begin, const void* end) const {
  const std::lock_guard<SignalSafeLock> guard(given_lock_);
  for (const auto& [handle, request] : given_)
    if (request->uses(begin, end)) return request->name();
  return {};
}

// ---- by number -----------------------------------------------------------------------------------------------------

void Requests::keep(int64_t id, std::unique_ptr<Request> request, const char* what, const char* place) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  std::vector<Kept>& kept = kept_[id];
  if (request == nullptr) return;
  kept.push_back({std::move(request), format("%s at %s", what, place), {}});
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
  for (const auto& [other, kept] : kept_)
    numbers += format("%s%lld", numbers.empty() ? "" : ", ", static_cast<long long>(other));
  return Status::error(format("this image has started nothing with async(%lld)%s%s", static_cast<long long>(id),
                              numbers.empty() ? ", nor with any other number" : ", but with ", numbers.c_str()));
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
    return format("%s for async(%lld), %s", call.text().c_str(), static_cast<long long>(id), what.c_str());
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
  if (!complete && !any) sched_yield();
  return {};
}

Status Requests::none_left() {
  {
    const std::lock_guard<SignalSafeLock> guard(given_lock_);
    for (const auto& [handle, request] : given_)
      if (!request->is_persistent() || request->is_under_way())
        return Status::error(format("the program ends, and nobody has waited for %s; %s", request->name().c_str(),
                                    request->remedy().c_str()));
  }
  const std::lock_guard<SignalSafeLock> guard(lock_);
  for (const auto& [id, kept] : kept_)
    if (!kept.empty())
      return Status::error(
          format("the program ends, and nobody has waited for the %s; write #pragma xmp wait_async "
                 "(%lld) before the end",
                 kept[0].what.c_str(), static_cast<long long>(id)));
  return {};
}

}  // namespace hiroba
