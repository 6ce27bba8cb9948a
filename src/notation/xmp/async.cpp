// Started operations: requests, and the numbers of async(id).
#define SMS_NO_PLACES
#include "base/log.hpp"
#include "notation/collective/collective_process.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

Requests& requests(const char* call, const char* place = "") { return coarrays(call, place).collective().requests(); }

// Finds a request that is not complete; ends the job if it is none.
std::shared_ptr<Request> known(const xmp_request& request, const char* call, const char* place = "") {
  std::shared_ptr<Request> out = requests(call, place).find(request.number);
  if (out == nullptr)
    end_job(1, "%s%s%s: this %s; wait once, and do not copy requests", place, *place == '\0' ? "" : ": ", call,
            requests(call).was_given(request.number) ? "request was waited for already" : "is no request");
  return out;
}

// A started transfer, which an array keeps, or which belongs to this.
class Moving final : public Request {
 public:
  Moving(Transfer& transfer, TeamOperations& teams, const Call& call, std::unique_ptr<Transfer> own)
      : own_(std::move(own)), transfer_(transfer) {
    require_at(transfer.start(teams, call, started_), call.place);
  }
  Status advance(bool& complete) override {
    HIROBA_TRY(started_.agrees());
    complete = started_.done();
    if (complete) transfer_.finish();
    return {};
  }
  std::string missing() const override { return started_.missing(); }

 private:
  const std::unique_ptr<Transfer> own_;
  Transfer& transfer_;
  Started started_;
};

}  // namespace

xmp_request start_transfer(Transfer& transfer, std::unique_ptr<Transfer> own, const Call& call) {
  TeamOperations& teams = coarrays(call.name, call.place).collective().teams();
  return give(std::make_unique<Moving>(transfer, teams, call, std::move(own)));
}

// A program may leave requests to the end of the job, which completes them.
xmp_request give(std::unique_ptr<Request> request) { return {requests("xmp_request").give(std::move(request), false)}; }

XMP_EXPORT void xmp_request_wait(xmp_request* request) {
  const char* const call = "xmp_request_wait";
  if (!coarrays_started()) request->number = 0;
  if (request->number != 0) known(*request, call);
  wait(request, {call, ""}, call);
}

XMP_EXPORT int xmp_request_test(xmp_request* request) {
  const char* const call = "xmp_request_test";
  if (request->number != 0) known(*request, call);
  return test(request, call, call) ? 1 : 0;
}

XMP_EXPORT void xmp_async(int64_t id, xmp_request request, const char* what, const char* place) {
  Requests& all = requests("xmp_async");
  std::shared_ptr<Request> given;
  if (request.number != 0) given = known(request, "xmp_async", place);
  all.forget(request.number);
  all.keep(id, std::move(given), format("%s at %s", what, place),
           format("write #pragma xmp wait_async (%ld) before the end", id));
}

XMP_EXPORT void xmp_wait_async(int count, const int64_t ids[], const xmp_node_reference* on, const char* place) {
  Coarrays& all = coarrays("xmp_wait_async", place);
  if (participants(on, place).count == 0) return;
  for (int i = 0; i < count; ++i)
    require_at(all.collective().requests().await(ids[i], {"xmp_wait_async", place}), place);
}

XMP_EXPORT int xmp_test_async(int64_t id) {
  bool complete = false;
  require_at(coarrays("xmp_test_async").collective().requests().test(id, complete), "xmp_test_async");
  return complete ? 1 : 0;
}

}  // namespace hiroba
