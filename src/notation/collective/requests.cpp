// Requests of collective.h: started and persistent operations, and waits for them.
#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "notation/collective/collective_process.hpp"

namespace hiroba {

HIROBA_EXPORT __thread const char* hiroba_place;
__thread const char* hiroba_place = "";

HIROBA_EXPORT void hiroba_fail(const char* message) { end_job(1, "%s: %s", prefix(), message); }

const char* place() { return hiroba_place; }
const char* prefix() { return *hiroba_place == '\0' ? "a collective call" : hiroba_place; }

namespace {

// An operation that was started, or can be.
class CollectiveRequest final : public Request {
 public:
  CollectiveRequest(Prepared prepared, const char* place, bool persistent)
      : prepared_(std::move(prepared)), place_(place), persistent_(persistent) {}

  Status start(TeamOperations& operations) {
    if (active_) return Status::error("%s is under way; wait for it before you start it again", prepared_.name.text());
    active_ = true;
    Plan plan = persistent_ ? prepared_.plan : std::move(prepared_.plan);
    return operations.start(*prepared_.members, std::move(plan), {prepared_.name, place_.c_str()}, now_);
  }
  Status advance(bool& complete) override {
    complete = !active_ || now_.done();
    if (complete) return finish(), Status();
    const Status agrees = now_.agrees();
    const bool tells_place = !place_.empty() && place_ != place();  // else the caller adds it
    return agrees.ok() || !tells_place ? agrees : Status::error(place_ + ": " + agrees.message());
  }
  std::string missing() const override { return now_.missing(); }
  std::string name() const override {
    return place_.empty() ? prepared_.name.text() : format("%s at %s", prepared_.name.text(), place_.c_str());
  }
  bool is_persistent() const override { return persistent_; }
  bool is_under_way() const override { return active_; }
  // Returns true if the bytes are in its buffers, or in its team.
  bool uses(const void* begin, const void* end) const override {
    return (active_ && now_.uses(begin, end)) || (prepared_.members < end && begin < prepared_.members + 1);
  }
  std::string remedy() const override {
    return then_.empty() ? "call hiroba_wait before the end"
                         : "hiroba_then gave it away" + then_ + ": wait until its function was called before the end";
  }
  // Called once, after it is complete.
  void finish() {
    active_ = false;
    if (prepared_.finish) std::exchange(prepared_.finish, nullptr)();
  }
  // Records that a continuation owns it.
  void give_away(const char* place) { then_ = format(" at %s", place); }
  bool given_away() const { return !then_.empty(); }
  const Started* operation() const override { return &now_; }

 private:
  Prepared prepared_;
  std::string place_;
  std::string then_;  // the place where it was given to a continuation
  const bool persistent_;
  bool active_ = false;
  Started now_;
};

hiroba_request give(const char* call, std::shared_ptr<CollectiveRequest> request) {
  return {collective_of(call).requests().give(std::move(request))};
}

}  // namespace

void perform(const char* call, Prepared prepared) {
  require_all_ranks(prepared.name.text());
  const Call text = {prepared.name, place()};
  require_at(teams_of(call).perform(*prepared.members, std::move(prepared.plan), text), prefix());
}

namespace {
thread_local std::function<void()> finish_of_next;
}

void finish_next(std::function<void()> finish) { finish_of_next = std::move(finish); }

hiroba_request start(const char* call, Prepared prepared) {
  if (finish_of_next) prepared.finish = std::exchange(finish_of_next, nullptr);
  require_all_ranks(prepared.name.text());
  const auto request = std::make_shared<CollectiveRequest>(std::move(prepared), place(), false);
  require_at(request->start(teams_of(call)), prefix());
  return give(call, request);
}

hiroba_request keep(const char* call, Prepared prepared) {
  return give(call, std::make_shared<CollectiveRequest>(std::move(prepared), place(), true));
}

namespace {

Requests& requests(const char* call) { return collective_of(call).requests(); }

std::shared_ptr<Request> known(hiroba_request request, const Call& call, const char* place) {
  std::shared_ptr<Request> out = requests(call.name).find(request.number);
  const auto number = request.number;
  if (out == nullptr && requests(call.name).was_given(request.number))
    end_job(1, "%s: %s: request %lu was waited for already; wait once, or use HIROBA_NO_REQUEST after it", place,
            call.name, number);
  if (out == nullptr)
    end_job(1, "%s: %s: %lu is no request; give one that a hiroba_i function has set", place, call.name, number);
  if (out->operation() != nullptr && static_cast<CollectiveRequest&>(*out).given_away())
    end_job(1, "%s: %s of %s, which hiroba_then has given away; nobody else waits for it", place, call.name,
            out->name().c_str());
  return out;
}

CollectiveRequest& persistent(hiroba_request request, const char* call) {
  const auto found = known(request, {call, ""}, prefix());
  if (!found->is_persistent())
    end_job(1, "%s: %s: this request is not persistent; those of hiroba_..._init are", prefix(), call);
  return static_cast<CollectiveRequest&>(*found);
}

// The arguments of hiroba_then until the operation is complete. The request is valid until then.
struct Continuation {
  Requests* requests;
  uint64_t handle;
  std::shared_ptr<CollectiveRequest> request;
  void (*function)(void*);
  void* context;
  static void run(void* self) {
    const std::unique_ptr<Continuation> now(static_cast<Continuation*>(self));
    now->request->finish();
    now->requests->forget(now->handle);
    now->function(now->context);
  }
};

void forget(hiroba_request* request, const char* call) {
  requests(call).forget(request->number);
  *request = HIROBA_NO_REQUEST;
}

}  // namespace

void wait(hiroba_request* request, const Call& call, const char* place) {
  if (request->number == 0) return;
  const auto found = known(*request, call, place);
  require_at(requests(call.name).await(*found, call), place);
  if (!found->is_persistent()) forget(request, call.name);
}

bool test(hiroba_request* request, const char* call, const char* place) {
  if (request->number == 0) return true;
  bool complete = false;
  const auto found = known(*request, {call, ""}, place);
  require_at(requests(call).test(*found, complete), place);
  if (complete && !found->is_persistent()) forget(request, call);
  return complete;
}

HIROBA_EXPORT void hiroba_wait(hiroba_request* request) { wait(request, {"hiroba_wait", place()}, prefix()); }

HIROBA_EXPORT void hiroba_wait_all(int count, hiroba_request all[]) {
  for (int i = 0; i < count; ++i) hiroba_wait(&all[i]);
}

HIROBA_EXPORT void hiroba_wait_any(int count, hiroba_request all[], int* index) {
  for (bool some = true; some;) {
    some = false;
    for (int i = 0; i < count; ++i) {
      if (all[i].number == 0) continue;
      some = true;
      if (test(&all[i], "hiroba_wait_any", prefix())) return void(*index = i);
    }
  }
  *index = -1;
}

HIROBA_EXPORT void hiroba_test(hiroba_request* request, int* done) {
  *done = test(request, "hiroba_test", prefix()) ? 1 : 0;
}

HIROBA_EXPORT void hiroba_then(hiroba_request* request, void (*function)(void* context), void* context) {
  const char* const call = "hiroba_then";
  if (request->number == 0) return function(context);
  const auto found = known(*request, {call, ""}, prefix());
  if (found->operation() == nullptr)
    end_job(1, "%s: hiroba_then is for what collective.h has started; wait for other requests", prefix());
  if (found->is_persistent()) end_job(1, "%s: hiroba_then of a persistent request; wait for it", prefix());
  if (function == nullptr) end_job(1, "%s: hiroba_then: the function is NULL", prefix());
  auto operation = std::static_pointer_cast<CollectiveRequest>(found);
  operation->give_away(place());
  auto* const next = new Continuation{&requests(call), request->number, operation, function, context};
  *request = HIROBA_NO_REQUEST;
  require_at(teams_of(call).then(*operation->operation(), Continuation::run, next), prefix());
}

HIROBA_EXPORT void hiroba_start(hiroba_request* request) {
  require_all_ranks("hiroba_start");
  require_at(persistent(*request, "hiroba_start").start(teams_of("hiroba_start")), prefix());
}

HIROBA_EXPORT void hiroba_request_free(hiroba_request* request) {
  const char* const call = "hiroba_request_free";
  if (request->number == 0) return;
  persistent(*request, call);
  hiroba_wait(request);
  forget(request, call);
}

HIROBA_EXPORT void hiroba_progress_start(void) { collective_of("hiroba_progress_start").begin_progress(); }
HIROBA_EXPORT void hiroba_progress_stop(void) { collective_of("hiroba_progress_stop").end_progress(); }

}  // namespace hiroba
