// Reduction and broadcast of xmp.h, and their started forms.
#define SMS_NO_PLACES
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

CallName name_of_reduction(const char* call, const Combine& combine, int64_t count, int places = 0) {
  CallName name(call);
  name << "(" << name_of(combine.arithmetic.op()) << " of " << count << " " << name_of(combine.arithmetic.to()) << ")";
  if (places > 0) name << " with " << places << " places";
  return name;
}

CallName name_of_bcast(const char* call, size_t bytes, int root) {
  CallName name(call);
  name << "(" << static_cast<int64_t>(bytes) << " bytes from image " << root << ")";
  return name;
}

Combine reduction(xmp_type type, xmp_operator op, int64_t count, const char* place) {
  Combine out;
  const bool shift = op == XMP_SHL || op == XMP_SHR || op == XMP_DIV || op == XMP_MOD;
  if (shift) end_job(1, "%s: reduction with an operator that depends on the order", place);
  if (count < 0) end_job(1, "%s: reduction of %ld elements", place, count);
  out.arithmetic = arithmetic_of(type, type, op == XMP_SUB ? XMP_ADD : op, place);
  return out;
}

// Values with their locations, as records.
class Records {
 public:
  Records(void* data, size_t count, size_t value, std::span<const xmp_location> locations)
      : data_(data), count_(count), value_(value), locations_(locations.begin(), locations.end()) {
    for (const xmp_location& location : locations_) bytes_ += location.bytes;
    bytes_ += value;
  }
  size_t bytes() const { return bytes_; }  // of each
  std::vector<char> gather() const {
    std::vector<char> records(bytes_ * count_);
    for_all(records.data(), [](char* record, char* own, size_t n) { std::memcpy(record, own, n); });
    return records;
  }
  void scatter(const char* records) const {
    for_all(records, [](const char* record, char* own, size_t n) { std::memcpy(own, record, n); });
  }

 private:
  // Calls move(in a record, in a variable, bytes) for all of them.
  template <typename Record, typename Move>
  void for_all(Record* records, const Move& move) const {
    for (size_t i = 0; i < count_; ++i) {
      Record* at = records + i * bytes_;
      move(at, static_cast<char*>(data_) + i * value_, value_);
      at += value_;
      for (const xmp_location& location : locations_) {
        move(at, static_cast<char*>(location.address) + i * location.bytes, location.bytes);
        at += location.bytes;
      }
    }
  }

  void* data_;
  size_t count_, value_, bytes_ = 0;
  std::vector<xmp_location> locations_;
};

Records records(void* data, int64_t count, Combine& combine, std::span<const xmp_location> locations,
                const char* place) {
  if (combine.arithmetic.op() < Op::first_max)
    end_job(1, "%s: locations go with firstmax, firstmin, lastmax and lastmin only", place);
  Records out(data, static_cast<size_t>(count), combine.element(), locations);
  combine.record = out.bytes();
  return out;
}

int root_of(const Team& set, const xmp_node_reference* from, const char* place) {
  if (from == nullptr) return 0;
  const std::vector<int> ranks = ranks_of(*from, place);
  if (ranks.size() != 1)
    end_job(1, "%s: bcast from %zu nodes of %s; one is meant", place, ranks.size(), from->nodes->name);
  const int root = set.find(ranks[0]);
  if (root < 0) end_job(1, "%s: bcast from a node that does not take part", place);
  return root;
}

// The data of a bcast: a section of this image's memory, in place or as a packed copy.
class Broadcasted {
 public:
  Broadcasted(const xmp_section& data, size_t element, const char* place) {
    if (data.coarray != nullptr) end_job(1, "%s: bcast of a coindexed object; give this image's own part", place);
    section_ = section_of(data, element, place);
    together_ = walk_packed(section_.section).contiguous();
  }
  bool together() const { return together_; }
  char* address() const { return section_.section.address; }
  size_t bytes() const { return section_.section.total(); }
  std::vector<char> pack(Coarrays& all, const char* place) const {
    std::vector<char> out(bytes());
    require_at(all.assignments().assign(packed(out.data()), section_), place);
    return out;
  }
  void unpack(Coarrays& all, const char* from) const {
    const CoarraySection source = packed(const_cast<char*>(from));
    require_at(all.assignments().assign(section_, source), "xmp_bcast");
  }

 private:
  CoarraySection packed(char* at) const {
    CoarraySection out;
    out.section = section_.section.dense(at);
    return out;
  }
  CoarraySection section_;
  bool together_;
};

// A started collective operation on a copy of the data; `store` writes its result.
template <typename Store>
class Later final : public Request {
 public:
  Later(std::vector<char> data, const char* place, Store store)
      : data_(std::move(data)), place_(place), store_(std::move(store)) {}
  // `plan_of` makes the plan of this member's operation on the data.
  template <typename MakePlan>
  void start(TeamOperations& teams, const Team& set, const char* name, const MakePlan& plan_of) {
    Members other;
    Members& members = teams.members_of(set, other);
    require_at(teams.start(members, plan_of(teams.member_of(members), data_.data()), {name, ""}, started_),
               place_.c_str());
  }
  Status advance(bool& complete) override {
    complete = started_.done();
    if (complete) store_(data_.data());
    const Status agrees = started_.agrees();
    return agrees.ok() ? agrees : Status::error(place_ + ": " + agrees.message());
  }
  std::string missing() const override { return started_.missing(); }

 private:
  std::vector<char> data_;
  std::string place_;
  Store store_;
  Started started_;
};

template <typename Store, typename MakePlan>
xmp_request later(Coarrays& all, const Team& set, const char* name, const char* place, std::vector<char> data,
                  const MakePlan& plan_of, Store store) {
  auto request = std::make_unique<Later<Store>>(std::move(data), place, std::move(store));
  request->start(all.collective().teams(), set, name, plan_of);
  return give(std::move(request));
}

auto reduction_plan(int64_t count, const Combine& combine) {
  return [count, combine](const Member& member, char* data) {
    return plan_allreduce(member, nullptr, data, static_cast<size_t>(count), combine);
  };
}

}  // namespace

void reduce_over(const Team& set, void* data, int64_t count, xmp_type type, xmp_operator op, const Call& call) {
  const Combine combine = reduction(type, op, count, call.place);
  const CallName name = name_of_reduction(call.name, combine, count);
  require_unused({call.name, call.place, "its data", data, combine.element() * static_cast<size_t>(count), true});
  TeamOperations& teams = coarrays(call.name, call.place).collective().teams();
  require_at(teams.reduce(set, static_cast<char*>(data), count, combine, {name, call.place}), call.place);
}

void locate_over(const Team& set, void* data, int64_t count, xmp_type type, xmp_operator op,
                 std::span<const xmp_location> locations, const Call& call) {
  Combine combine = reduction(type, op, count, call.place);
  const Records table = records(data, count, combine, locations, call.place);
  std::vector<char> values = table.gather();
  const CallName name = name_of_reduction(call.name, combine, count, static_cast<int>(locations.size()));
  TeamOperations& teams = coarrays(call.name, call.place).collective().teams();
  require_at(teams.reduce(set, values.data(), count, combine, {name, call.place}), call.place);
  table.scatter(values.data());
}

XMP_EXPORT void xmp_reduction(void* data, int64_t count, enum xmp_type type, enum xmp_operator op,
                              const xmp_node_reference* on, const char* place) {
  coarrays("xmp_reduction", place);
  const Team set = participants(on, place);
  if (set.count > 0) reduce_over(set, data, count, type, op, {"xmp_reduction", place});
}

XMP_EXPORT xmp_request xmp_reduction_start(void* data, int64_t count, enum xmp_type type, enum xmp_operator op,
                                           const xmp_node_reference* on, const char* place) {
  Coarrays& all = coarrays("xmp_reduction_start", place);
  const Team set = participants(on, place);
  if (set.count == 0) return {};
  const Combine combine = reduction(type, op, count, place);
  const size_t bytes = combine.element() * static_cast<size_t>(count);
  const CallName name = name_of_reduction("xmp_reduction_start", combine, count);
  const char* const from = static_cast<char*>(data);
  return later(all, set, name, place, {from, from + bytes}, reduction_plan(count, combine),
               [data, bytes](const char* result) { std::copy_n(result, bytes, static_cast<char*>(data)); });
}

XMP_EXPORT void xmp_reduction_locate(void* data, int64_t count, enum xmp_type type, enum xmp_operator op,
                                     const xmp_location locations[], int nlocations, const xmp_node_reference* on,
                                     const char* place) {
  coarrays("xmp_reduction", place);
  const Team set = participants(on, place);
  const std::span<const xmp_location> all(locations, static_cast<size_t>(nlocations));
  if (set.count > 0) locate_over(set, data, count, type, op, all, {"xmp_reduction", place});
}

XMP_EXPORT xmp_request xmp_reduction_locate_start(void* data, int64_t count, enum xmp_type type, enum xmp_operator op,
                                                  const xmp_location locations[], int nlocations,
                                                  const xmp_node_reference* on, const char* place) {
  Coarrays& all = coarrays("xmp_reduction_start", place);
  const Team set = participants(on, place);
  if (set.count == 0) return {};
  Combine combine = reduction(type, op, count, place);
  const Records table = records(data, count, combine, {locations, static_cast<size_t>(nlocations)}, place);
  const CallName name = name_of_reduction("xmp_reduction_start", combine, count, nlocations);
  return later(all, set, name, place, table.gather(), reduction_plan(count, combine),
               [table](const char* result) { table.scatter(result); });
}

XMP_EXPORT void xmp_bcast(const xmp_section* data, size_t element, const xmp_node_reference* from,
                          const xmp_node_reference* on, const char* place) {
  Coarrays& all = coarrays("xmp_bcast", place);
  const Team set = participants(on, place);
  if (set.count == 0) return;
  const int root = root_of(set, from, place);
  const Broadcasted what(*data, element, place);
  const CallName name = name_of_bcast("xmp_bcast", what.bytes(), root);
  const Call call = {name, place};
  if (what.together())
    return require_at(all.collective().teams().broadcast(set, root, what.address(), what.bytes(), call), place);
  std::vector<char> packed = what.pack(all, place);
  require_at(all.collective().teams().broadcast(set, root, packed.data(), packed.size(), call), place);
  what.unpack(all, packed.data());
}

XMP_EXPORT xmp_request xmp_bcast_start(const xmp_section* data, size_t element, const xmp_node_reference* from,
                                       const xmp_node_reference* on, const char* place) {
  Coarrays& all = coarrays("xmp_bcast_start", place);
  const Team set = participants(on, place);
  if (set.count == 0) return {};
  const int root = root_of(set, from, place);
  const Broadcasted what(*data, element, place);
  const bool sends = set.rank(root) == sms_rank;
  const char* const own = what.address();
  std::vector<char> copy(sends ? 0 : what.bytes());
  if (sends) copy = what.together() ? std::vector<char>(own, own + what.bytes()) : what.pack(all, place);
  const CallName name = name_of_bcast("xmp_bcast_start", what.bytes(), root);
  return later(
      all, set, name, place, std::move(copy),
      [&](const Member& member, char* data) { return plan_bcast(member, root, data, what.bytes()); },
      [&all, what, sends](const char* result) {
        if (!sends) what.unpack(all, result);
      });
}

}  // namespace hiroba
