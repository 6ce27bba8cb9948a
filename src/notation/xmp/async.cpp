// Started operations: requests, and the numbers of async(id).
#define SMS_NO_PLACES
#include <map>
#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

// The requests of the program by number; a number is never reused, so that a copy of a completed request is found.
struct Given {
  std::mutex lock;  // guards the members below
  uint64_t last = 0;
  std::map<uint64_t, std::unique_ptr<Request>> requests;
};

Given& given() {
  static Given& all = *new Given;
  return all;
}

uint64_t number_of(const xmp_request& request) { return reinterpret_cast<uintptr_t>(request.state); }

// Takes a request that is not complete; ends the job if it is none.
std::unique_ptr<Request> take(const xmp_request& request, const char* call, const char* place) {
  Given& all = given();
  const std::lock_guard<std::mutex> guard(all.lock);
  const auto found = all.requests.find(number_of(request));
  if (found == all.requests.end())
    end_job(1, "%s%s%s: this %s; wait once, and do not copy requests", place, *place == '\0' ? "" : ": ", call,
            number_of(request) <= all.last ? "request was waited for already" : "is no request");
  std::unique_ptr<Request> out = std::move(found->second);
  all.requests.erase(found);
  return out;
}

void put_back(const xmp_request& request, std::unique_ptr<Request> taken) {
  Given& all = given();
  const std::lock_guard<std::mutex> guard(all.lock);
  all.requests[number_of(request)] = std::move(taken);
}

}  // namespace

xmp_request give(std::unique_ptr<Request> request) {
  if (request == nullptr) return {nullptr};
  Given& all = given();
  const std::lock_guard<std::mutex> guard(all.lock);
  all.requests[++all.last] = std::move(request);
  return {reinterpret_cast<void*>(static_cast<uintptr_t>(all.last))};
}

XMP_EXPORT void xmp_request_wait(xmp_request* request) {
  if (request->state == nullptr) return;
  const std::unique_ptr<Request> given = take(*request, "xmp_request_wait", "");
  if (!process_coarrays().started()) return void(request->state = nullptr);  // the end of the job has completed it
  require_at(coarrays("xmp_request_wait").collective().requests().await(*given, {"xmp_request_wait", ""}),
             "xmp_request_wait");
  request->state = nullptr;
}

XMP_EXPORT int xmp_request_test(xmp_request* request) {
  if (request->state == nullptr) return 1;
  std::unique_ptr<Request> given = take(*request, "xmp_request_test", "");
  bool complete = false;
  require_at(coarrays("xmp_request_test").collective().requests().test(*given, complete), "xmp_request_test");
  if (!complete) return put_back(*request, std::move(given)), 0;
  request->state = nullptr;
  return 1;
}

XMP_EXPORT void xmp_async(int64_t id, xmp_request request, const char* what, const char* place) {
  std::unique_ptr<Request> given;
  if (request.state != nullptr) given = take(request, "xmp_async", place);
  coarrays("xmp_async").collective().requests().keep(id, std::move(given), what, place);
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
