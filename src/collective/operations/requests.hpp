// What was started and goes on while the program computes, and how programs name it: by handles, or by numbers of their
// own (`async(id)`), which several may share.
//
// A request belongs to the code that started it, or to Requests, which belongs to Collective. What is kept by number
// goes on whenever this rank waits for others. Thread-safe, but for each request.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/shown.hpp"
#include "collective/world.hpp"

namespace hiroba {

class Request {
 public:
  virtual ~Request() = default;
  // Goes on with it as far as that needs no waiting. Once it is complete, its results are in place, and it may go.
  virtual Status advance(bool& complete) = 0;
  // The same, but waits for data that is on its way. Not for other ranks.
  virtual Status hasten(bool& complete) { return advance(complete); }
  // "rank 3 has not arrived"
  virtual std::string missing() const = 0;
  // What it is and where it was started, where the wait for it does not tell.
  virtual std::string name() const { return {}; }
  // Whether it stays after it is complete, to be started again.
  virtual bool is_persistent() const { return false; }
  // Of one that stays: whether it was started and not waited for.
  virtual bool is_under_way() const { return false; }
  // Whether it needs any of that memory, until it was waited for.
  virtual bool uses(const void* /*begin*/, const void* /*end*/) const { return false; }
  // What the program has to do before it ends, if it is not complete.
  virtual std::string remedy() const { return "call hiroba_wait before the end"; }
};

class Requests {
 public:
  void start(const World& world) { world_ = &world; }
  [[HIROBA_SHOWN]] Status await(Request& request, const Call& call);
  Status test(Request& request, bool& complete);

  // ---- by handle: from 1 on, and never used again ----
  uint64_t give(std::shared_ptr<Request> request);
  // A status if it was waited for already, or never given.
  Status find(uint64_t handle, const Call& call, std::shared_ptr<Request>& out);
  void forget(uint64_t handle);
  // What the first request is, and where it was started, that needs any of that memory; nothing if none does.
  std::string user_of(const void* begin, const void* end) const;

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
  // Guards what follows. Of its own: what is kept is advanced under the other lock, and may start operations; while an
  // operation goes on, a continuation gives and forgets requests.
  mutable SignalSafeLock given_lock_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::shared_ptr<Request>> given_;
};

}  // namespace hiroba
