// Started work that continues while the program computes. Programs name it by handles, or by numbers of their own
// (`async(id)`), which several requests may share.
//
// The code that started a request owns it, or Requests, which belongs to Collective. Requests with numbers advance
// whenever this rank waits for others. Thread-safe, except for each single request.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/shown.hpp"
#include "collective/operations/started.hpp"
#include "collective/world.hpp"

namespace hiroba {

class Request {
 public:
  virtual ~Request() = default;
  // Advances without waiting. Once it is complete, its results are in place, and it may be destroyed.
  virtual Status advance(bool& complete) = 0;
  // Advances, and waits for data that is on its way, but not for other ranks.
  virtual Status hasten(bool& complete) { return advance(complete); }
  // "rank 3 has not arrived"
  virtual std::string missing() const = 0;
  // Names the request and where it was started, if the wait for it does not.
  virtual std::string name() const { return {}; }
  // Returns true if the request stays after it is complete, to be started again.
  virtual bool is_persistent() const { return false; }
  // Returns true if a persistent request was started and not waited for.
  virtual bool is_under_way() const { return false; }
  // Returns true if the request needs any of that memory until it was waited for.
  virtual bool uses(const void* /*begin*/, const void* /*end*/) const { return false; }
  // Says what the program has to do before it ends, if the request is not complete.
  virtual std::string remedy() const { return "wait for it before the end"; }
  // Null unless the request is one collective operation.
  virtual const Started* operation() const { return nullptr; }
};

class Requests {
 public:
  void start(const World& world) { world_ = &world; }
  [[HIROBA_SHOWN]] Status await(Request& request, const Call& call);
  Status test(Request& request, bool& complete);

  // ---- by handle: starts at 1, never used again ----
  // `must_be_awaited`: before the program ends.
  uint64_t give(std::shared_ptr<Request> request, bool must_be_awaited = true);
  // Returns null if the handle was waited for already, or never given.
  std::shared_ptr<Request> find(uint64_t handle) const;
  bool was_given(uint64_t handle) const;
  void forget(uint64_t handle);
  // Handles with this bit are not given here: they contain the whole state of a request, which `source` makes of it.
  static constexpr uint64_t self_contained = uint64_t{1} << 63;
  using Source = std::shared_ptr<Request> (*)(uint64_t handle);
  void set_source(Source source) { source_ = source; }
  // Names the first request that needs any of that memory, and where it was started; empty if none does.
  std::string user_of(const void* begin, const void* end) const;

  // ---- by number ----
  // `what`, as "reduction at main.c:7", describes it; `remedy` is as that of a request. Null: the request is complete,
  // but its number becomes known.
  void keep(int64_t id, std::shared_ptr<Request> request, std::string what, std::string remedy);
  // Waits for all requests with this number.
  Status await(int64_t id, const Call& call);
  Status test(int64_t id, bool& complete);
  // Fails with the name of a request that the program has not waited for.
  Status none_left();

  bool go_on();  // true if any request is complete

 private:
  struct Kept {
    std::shared_ptr<Request> request;
    std::string what, remedy;
    Status failed;
  };
  Status known(int64_t id) const;
  bool advance(int64_t first, int64_t last, bool hasten);

  const World* world_ = nullptr;
  std::atomic<size_t> count_{0};  // requests in kept_
  SignalSafeLock lock_;           // guards the next member
  std::map<int64_t, std::vector<Kept>> kept_;
  // Guards the next members. A separate lock, because lock_ is held while kept requests advance, which may start
  // operations; while an operation advances, a continuation gives and forgets requests.
  mutable SignalSafeLock given_lock_;
  uint64_t last_ = 0;
  struct Given {
    std::shared_ptr<Request> request;
    bool must_be_awaited;
  };
  std::map<uint64_t, Given> given_;
  Source source_ = nullptr;
};

}  // namespace hiroba
