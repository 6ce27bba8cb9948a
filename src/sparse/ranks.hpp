// The operations of operators and solvers between ranks: sums, the same on all ranks and in each run with the same
// number of them, blocking or started; exchanges; and shared arrays cut as rows are.
//
// A value; the Memory outlives it. Collective: all ranks make the same calls in the same order, by one thread each.
// `what` is the name that ranks compare and messages show; it outlives the started operation.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linear/linear.hpp"
#include "memory/memory.hpp"
#include "sparse/rows.hpp"

namespace hiroba {

class Ranks {
 public:
  Ranks(Memory& memory, const Call& call)
      : memory_(&memory), call_(call), me_(memory.job().rank), count_(memory.job().nranks) {}
  int me() const { return me_; }
  int count() const { return count_; }
  const Call& call() const { return call_; }
  Memory& memory() const { return *memory_; }

  // values[i] becomes the sum, or the largest, over all ranks. R: float, double or int64_t.
  template <typename R>
  Status add(std::span<R> values, Op op = Op::add) const;
  template <typename R>
  Status add(R& value, Op op = Op::add) const {
    return add(std::span<R>(&value, 1), op);
  }
  // Returns an error if the values, which `what` names, are not the same on all ranks.
  Status agree(std::span<const int64_t> values, const char* what) const;
  // to[r] goes to rank r; from[r] comes from rank r. T is copied by its bytes.
  template <typename T>
  Status exchange(const std::vector<std::vector<T>>& to, std::vector<std::vector<T>>& from) const;
  Status perform(Plan plan, const char* what) const;

  Status barrier() const;
  // Allocates an array of zeros, of elements of `bytes` bytes, with these cuts; sms_free or free() frees it.
  Status allocate(const std::vector<int64_t>& cuts, size_t bytes, const char* what, void*& out) const;
  // Requires that each rank accesses only its own part of the array, and has filled it: it uses huge pages from now on,
  // between nodes, too (option huge). A barrier.
  Status use_huge_pages(void* array) const;
  Status free(void* array) const;

 private:
  Memory* memory_;
  Call call_;
  int me_, count_;
};

// An operation that runs while this rank computes: wait() completes it. At most one at a time for each object.
class StartedOperation {
 public:
  StartedOperation();
  ~StartedOperation();
  Status start(const Ranks& ranks, Plan plan, const char* what);
  Status wait(const Ranks& ranks);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A started sum.
template <typename R>
class StartedSum {
 public:
  Status start(const Ranks& ranks, std::span<const R> values, const char* what);
  // Returns the sums, valid until the next start.
  Status wait(const Ranks& ranks, std::span<R>& out);

 private:
  std::vector<R> values_;
  StartedOperation operation_;
};

// Exchanges bytes; gives and takes are the numbers of bytes to and from each rank.
Status exchange_bytes(const Ranks& ranks, const void* send, const std::vector<size_t>& gives, void* recv,
                      const std::vector<size_t>& takes);

template <typename T>
Status Ranks::exchange(const std::vector<std::vector<T>>& to, std::vector<std::vector<T>>& from) const {
  const auto n = static_cast<size_t>(count_);
  std::vector<size_t> gives, takes(n);
  std::vector<T> send;
  for (const std::vector<T>& part : to) {
    gives.push_back(part.size() * sizeof(T));
    send.insert(send.end(), part.begin(), part.end());
  }
  HIROBA_TRY(perform(plan_alltoall({me_, count_}, gives.data(), takes.data(), sizeof(size_t)), "sizes"));
  size_t all = 0;
  for (const size_t bytes : takes) all += bytes / sizeof(T);
  std::vector<T> recv(all);
  HIROBA_TRY(exchange_bytes(*this, send.data(), gives, recv.data(), takes));
  from.assign(n, {});
  const T* at = recv.data();
  for (size_t r = 0; r < n; ++r) {
    const size_t elements = takes[r] / sizeof(T);
    from[r].assign(at, at + elements);
    at += elements;
  }
  return {};
}

}  // namespace hiroba
