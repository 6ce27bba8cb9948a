// What was started and goes on while the program computes, and the numbers (`async(id)`) that programs wait for it by.
//
// A request belongs to the code that started it, or to Requests, which belongs to Collective. What Requests keeps goes
// on whenever this rank waits for others. Thread-safe, but for each request.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collective/world.hpp"

namespace hiroba {

class Request {
 public:
  virtual ~Request() = default;
  // Goes on with it as far as that needs no waiting. Once it is complete, its results are in place, and it may go.
  virtual Status advance(bool& complete) = 0;
  // The same, but waits for data that is on its way. Not for other ranks.
  virtual Status hasten(bool& complete) { return advance(complete); }
  // "rank 3 has not come"
  virtual std::string missing() const = 0;
};

class Requests {
 public:
  void start(const World& world) { world_ = &world; }
  Status await(Request& request, const Call& call);
  Status test(Request& request, bool& complete);

  // ---- by number ----
  // `what` it is, "reduction", and where it was started. Null: it is complete, but its number is known from now on.
  void keep(int64_t id, std::unique_ptr<Request> request, const char* what, const char* place);
  // All that were started with this number.
  Status await(int64_t id, const Call& call);
  Status test(int64_t id, bool& complete);
  // A status that names one, if the program has not waited for all.
  Status none_left();

  bool go_on();  // true if anything is complete

 private:
  struct Kept {
    std::unique_ptr<Request> request;
    std::string what;  // "reduction at main.c:7"
    Status failed;
  };
  Status known(int64_t id) const;
  bool advance(int64_t first, int64_t last, bool hasten);

  const World* world_ = nullptr;
  std::atomic<size_t> count_{0};  // of what is kept
  SignalSafeLock lock_;           // guards what follows
  std::map<int64_t, std::vector<Kept>> kept_;
};

}  // namespace hiroba
