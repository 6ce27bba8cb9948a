// Words of the job in which the Python package notes what ranks write (python/hiroba/watch.py). Unlike the atomics of
// sms.h they order nothing, so option check goes on to see the races of programs whose writes are noted.
#include "process/process.hpp"

namespace hiroba {

namespace {
constexpr int home = 0;  // the rank that has all words
}

// Returns the address of words that are 0. Collective.
extern "C" __attribute__((visibility("default"))) void* hiroba_make_notes(int64_t words) {
  Arrays::Request request;
  request.dim = {words}, request.div = {1}, request.element_bytes = sizeof(uint64_t), request.first = home;
  request.call = "import hiroba", request.place = "hiroba: notes of writes", request.freed_by = "the end of the job";
  request.watched = false;
  void* out = nullptr;
  require_at(process_memory(request.call).arrays().allocate(request, out), request.call);
  return out;
}

// Writes a word if it is as expected; returns what it was.
extern "C" __attribute__((visibility("default"))) int64_t hiroba_swap_note(void* word, int64_t expected,
                                                                           int64_t desired) {
  const World& world = process_memory("a note").collective().world();
  const auto at = static_cast<uint64_t>(static_cast<char*>(word) - world.base);
  return static_cast<int64_t>(world.transport->words().compare_swap64(home, at, static_cast<uint64_t>(expected),
                                                                      static_cast<uint64_t>(desired)));
}

}  // namespace hiroba
