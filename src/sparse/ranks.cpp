#include "sparse/ranks.hpp"

#include <algorithm>

namespace hiroba {

namespace {

TeamOperations& operations(const Ranks& ranks) { return ranks.memory().collective().teams(); }

}  // namespace

Status Ranks::perform(Plan plan, const char* what) const {
  CallName name(call_.name);
  name << ": " << what;
  return operations(*this).perform(operations(*this).all(), std::move(plan), {name, call_.place});
}

template <typename R>
Status Ranks::add(std::span<R> values, Op op) const {
  if (count_ == 1 || values.empty()) return {};
  Combine combine;
  HIROBA_TRY(Combine::make(type_for<R>(), op, combine));
  const Member member = operations(*this).member_of(operations(*this).all());
  return perform(plan_allreduce(member, nullptr, values.data(), values.size(), combine), "sums");
}
template Status Ranks::add<float>(std::span<float>, Op) const;
template Status Ranks::add<double>(std::span<double>, Op) const;
template Status Ranks::add<int64_t>(std::span<int64_t>, Op) const;

Status Ranks::agree(std::span<const int64_t> values, const char* what) const {
  std::vector<int64_t> bounds;  // the largest; ~ of the smallest
  for (const int64_t value : values) bounds.push_back(value), bounds.push_back(~value);
  HIROBA_TRY(add(std::span(bounds), Op::max));
  for (size_t i = 0; i < bounds.size(); i += 2)
    if (bounds[i] != ~bounds[i + 1])
      return Status::error("ranks give different %s; all ranks make this call with the same", what);
  return {};
}

Status Ranks::barrier() const { return memory_->consistency().barrier(call_.text().c_str()); }

Status Ranks::allocate(const std::vector<int64_t>& cuts, size_t bytes, const char* what, void*& out) const {
  Arrays::Request request;
  request.cuts = cuts, request.element_bytes = bytes;
  const std::string call = format("%s: %s of %ld elements", call_.name, what, cuts.back());
  request.call = call.c_str(), request.place = call_.place, request.freed_by = "sms_free";
  if (const Status made = memory_->arrays().allocate(request, out); !made.ok())
    return Status::error("%s: %s", what, made.message().c_str());
  return {};
}

Status Ranks::use_huge_pages(void* array) const {
  HIROBA_TRY(memory_->arrays().preload_only(array, call_.name));
  return barrier();
}

Status Ranks::free(void* array) const { return memory_->arrays().free(array, call_.name); }

Status exchange_bytes(const Ranks& ranks, const void* send, const std::vector<size_t>& gives, void* recv,
                      const std::vector<size_t>& takes) {
  static const char nothing = 0;  // null would mean data that is already in `recv`
  return ranks.perform(plan_alltoallv(send == nullptr ? &nothing : send, BlockTable::one_after_another(gives), recv,
                                      BlockTable::one_after_another(takes)),
                       "entries");
}

// ---- started operations ----

struct StartedOperation::State final : Request {
  Started now;
  const char* what = "";
  bool active = false;
  Status advance(bool& complete) override {
    complete = now.done();
    return complete ? Status() : now.agrees();
  }
  std::string missing() const override { return now.missing(); }
  std::string name() const override { return what; }
};

StartedOperation::StartedOperation() = default;
StartedOperation::~StartedOperation() = default;

Status StartedOperation::start(const Ranks& ranks, Plan plan, const char* what) {
  if (state_ == nullptr) state_ = std::make_unique<State>();
  state_->what = what, state_->active = true;
  return operations(ranks).start(operations(ranks).all(), std::move(plan), {what, ""}, state_->now);
}

Status StartedOperation::wait(const Ranks& ranks) {
  if (state_ == nullptr || !state_->active) return {};
  state_->active = false;
  HIROBA_TRY(ranks.memory().collective().requests().await(*state_, ranks.call()));
  state_->now = {};
  return {};
}

template <typename R>
Status StartedSum<R>::start(const Ranks& ranks, std::span<const R> values, const char* what) {
  values_.assign(values.begin(), values.end());
  if (ranks.count() == 1) return {};
  Combine combine;
  HIROBA_TRY(Combine::make(type_for<R>(), Op::add, combine));
  const Member member = operations(ranks).member_of(operations(ranks).all());
  return operation_.start(ranks, plan_allreduce(member, nullptr, values_.data(), values_.size(), combine), what);
}

template <typename R>
Status StartedSum<R>::wait(const Ranks& ranks, std::span<R>& out) {
  HIROBA_TRY(operation_.wait(ranks));
  out = values_;
  return {};
}
template class StartedSum<float>;
template class StartedSum<double>;

}  // namespace hiroba
