// What collective.h starts, keeps and waits for.
#include <utility>

#include "base/log.hpp"
#include "notation/collective/collective_process.hpp"

HIROBA_EXPORT __thread const char* hiroba_place;
__thread const char* hiroba_place = "";

using hiroba::Call;
using hiroba::collective_of;
using hiroba::end_job;
using hiroba::planned_of;
using hiroba::Request;
using hiroba::Requests;
using hiroba::require_at;
using hiroba::Status;

namespace hiroba {

const char* place() { return hiroba_place; }

namespace {

// An operation that was started, or that can be.
class CollectiveRequest final : public Request {
 public:
  CollectiveRequest(Prepared prepared, const char* place, bool persistent)
      : prepared_(std::move(prepared)), place_(place), persistent_(persistent) {}

  Status start(PlannedOperations& operations) {
    if (active_)
      return Status::error(format("%s is under way; wait for it before you start it again", prepared_.name.text()));
    active_ = true;
    Plan plan = persistent_ ? prepared_.plan : std::move(prepared_.plan);
    return operations.start(*prepared_.members, std::move(plan), prepared_.name, now_);
  }
  Status advance(bool& complete) override {
    complete = !active_ || now_.done();
    if (complete) return active_ = false, Status();
    const Status agrees = now_.agrees();
    return agrees.ok() || place_.empty() ? agrees : Status::error(place_ + ": " + agrees.message());
  }
  std::string missing() const override {
    return format("%s%s%s: %s", prepared_.name.text(), place_.empty() ? "" : " at ", place_.c_str(),
                  now_.missing().c_str());
  }
  bool is_persistent() const override { return persistent_; }
  std::string what() const {
    return place_.empty() ? prepared_.name.text() : format("%s at %s", prepared_.name.text(), place_.c_str());
  }
  Started now() const { return now_; }

 private:
  Prepared prepared_;
  std::string place_;
  const bool persistent_;
  bool active_ = false;
  Started now_;
};

hiroba_request give(const char* call, std::shared_ptr<CollectiveRequest> request) {
  std::string what = request->what();
  return {collective_of(call).requests().give(std::move(request), std::move(what))};
}

}  // namespace

void perform(const char* call, Prepared prepared) {
  const Call text = {prepared.name, place()};
  require_at(planned_of(call).perform(*prepared.members, std::move(prepared.plan), text), place());
}

hiroba_request start(const char* call, Prepared prepared) {
  const auto request = std::make_shared<CollectiveRequest>(std::move(prepared), place(), false);
  require_at(request->start(planned_of(call)), place());
  return give(call, request);
}

hiroba_request keep(const char* call, Prepared prepared) {
  return give(call, std::make_shared<CollectiveRequest>(std::move(prepared), place(), true));
}

}  // namespace hiroba

namespace {

Requests& requests(const char* call) { return collective_of(call).requests(); }

std::shared_ptr<hiroba::CollectiveRequest> persistent(hiroba_request request, const char* call) {
  std::shared_ptr<Request> found;
  require_at(requests(call).find(request.number, {call, hiroba::place()}, found), hiroba::place());
  if (!found->is_persistent())
    end_job(1, "%s: %s: this request is not persistent; those of hiroba_..._init are", hiroba::place(), call);
  return std::static_pointer_cast<hiroba::CollectiveRequest>(found);
}

bool test(hiroba_request* request, const char* call) {
  if (request->number == 0) return true;
  bool complete = false;
  std::shared_ptr<Request> found;
  require_at(requests(call).find(request->number, {call, hiroba::place()}, found), hiroba::place());
  require_at(requests(call).test(request->number, {call, hiroba::place()}, complete), hiroba::place());
  if (complete && !found->is_persistent()) *request = HIROBA_NO_REQUEST;
  return complete;
}

}  // namespace

HIROBA_EXPORT void hiroba_wait(hiroba_request* request) {
  const char* const call = "hiroba_wait";
  if (request->number == 0) return;
  std::shared_ptr<Request> found;
  require_at(requests(call).find(request->number, {call, hiroba::place()}, found), hiroba::place());
  require_at(requests(call).await(request->number, {call, hiroba::place()}), hiroba::place());
  if (!found->is_persistent()) *request = HIROBA_NO_REQUEST;
}

HIROBA_EXPORT void hiroba_wait_all(int count, hiroba_request all[]) {
  for (int i = 0; i < count; ++i) hiroba_wait(&all[i]);
}

HIROBA_EXPORT void hiroba_wait_any(int count, hiroba_request all[], int* index) {
  for (bool some = true; some;) {
    some = false;
    for (int i = 0; i < count; ++i) {
      if (all[i].number == 0) continue;
      some = true;
      if (test(&all[i], "hiroba_wait_any")) return void(*index = i);
    }
  }
  *index = -1;
}

HIROBA_EXPORT void hiroba_test(hiroba_request* request, int* done) { *done = test(request, "hiroba_test") ? 1 : 0; }

HIROBA_EXPORT void hiroba_then(hiroba_request* request, void (*function)(void* context), void* context) {
  const char* const call = "hiroba_then";
  if (request->number == 0) return function(context);
  std::shared_ptr<Request> found;
  require_at(requests(call).find(request->number, {call, hiroba::place()}, found), hiroba::place());
  if (found->is_persistent()) end_job(1, "%s: hiroba_then of a persistent request; wait for it", hiroba::place());
  require_at(planned_of(call).then(std::static_pointer_cast<hiroba::CollectiveRequest>(found)->now(), function,
                                   context),
             hiroba::place());
  require_at(requests(call).forget(request->number, {call, hiroba::place()}), hiroba::place());
  *request = HIROBA_NO_REQUEST;
}

HIROBA_EXPORT void hiroba_start(hiroba_request* request) {
  require_at(persistent(*request, "hiroba_start")->start(planned_of("hiroba_start")), hiroba::place());
}

HIROBA_EXPORT void hiroba_request_free(hiroba_request* request) {
  const char* const call = "hiroba_request_free";
  if (request->number == 0) return;
  persistent(*request, call);
  hiroba_wait(request);
  require_at(requests(call).forget(request->number, {call, hiroba::place()}), hiroba::place());
  *request = HIROBA_NO_REQUEST;
}

HIROBA_EXPORT void hiroba_progress_start(void) { planned_of("hiroba_progress_start").begin_progress(); }
HIROBA_EXPORT void hiroba_progress_stop(void) { planned_of("hiroba_progress_stop").end_progress(); }
