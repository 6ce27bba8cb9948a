// Started operations: requests, and the numbers of async(id).
#define SMS_NO_PLACES
#include "notation/xmp/xmp_process.hpp"

using hiroba::coarrays;
using hiroba::Request;
using hiroba::require_at;

namespace hiroba {

xmp_request give(std::unique_ptr<Request> request) { return {request.release()}; }

}  // namespace hiroba

XMP_EXPORT void xmp_request_wait(xmp_request* request) {
  if (request->state == nullptr) return;
  const std::unique_ptr<Request> given(static_cast<Request*>(request->state));
  if (!hiroba::process_coarrays().started())
    return void(request->state = nullptr);  // the end of the job has completed it
  require_at(coarrays("xmp_request_wait").collective().requests().await(*given, {"xmp_request_wait", ""}),
             "xmp_request_wait");
  request->state = nullptr;
}

XMP_EXPORT int xmp_request_test(xmp_request* request) {
  if (request->state == nullptr) return 1;
  auto* const given = static_cast<Request*>(request->state);
  bool complete = false;
  require_at(coarrays("xmp_request_test").collective().requests().test(*given, complete), "xmp_request_test");
  if (!complete) return 0;
  delete given;
  request->state = nullptr;
  return 1;
}

XMP_EXPORT void xmp_async(int64_t id, xmp_request request, const char* what, const char* place) {
  std::unique_ptr<Request> given(static_cast<Request*>(request.state));
  coarrays("xmp_async").collective().requests().keep(id, std::move(given), what, place);
}

XMP_EXPORT void xmp_wait_async(int count, const int64_t ids[], const xmp_node_reference* on, const char* place) {
  hiroba::Coarrays& all = coarrays("xmp_wait_async", place);
  if (hiroba::participants(on, place).count == 0) return;
  for (int i = 0; i < count; ++i)
    require_at(all.collective().requests().await(ids[i], {"xmp_wait_async", place}), place);
}

XMP_EXPORT int xmp_test_async(int64_t id) {
  bool complete = false;
  require_at(coarrays("xmp_test_async").collective().requests().test(id, complete), "xmp_test_async");
  return complete ? 1 : 0;
}
