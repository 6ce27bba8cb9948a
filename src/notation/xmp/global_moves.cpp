// gmove of xmp_global.h, with an aligned array on a side: by all nodes together, and by each alone.
#define SMS_NO_PLACES
#include <algorithm>
#include <array>
#include <cstring>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

TransferSide side_of(const xmp_moved& moved, const char* text, const char* place) {
  TransferSide out;
  out.layout = moved.array == nullptr ? nullptr : &layout_of(*moved.array, place);
  out.data = static_cast<char*>(moved.array == nullptr ? moved.address : moved.array->data);
  for (int d = 0; d < moved.dims; ++d) {
    const int64_t base = moved.base[d], step = moved.step[d], count = moved.length[d];
    out.dims.push_back({base, step, count, moved.array == nullptr ? moved.stride[d] : 0});
    if (moved.array == nullptr || count == 0) continue;
    const int64_t last = base + (count - 1) * step, extent = moved.array->extent[d];
    if (count < 0 || std::min(base, last) < 0 || std::max(base, last) >= extent)
      end_job(1, "%s: %s: the section %ld:%ld:%ld of dimension %d of %s is outside of its %ld elements", place, text,
              base, count, step, d + 1, moved.array->name, extent);
  }
  return out;
}

std::vector<int64_t> counts_of(const TransferSide& side) {
  std::vector<int64_t> out;
  for (const TransferSide::Dim& dim : side.dims)
    if (dim.count != 1) out.push_back(dim.count);
  return out;
}

std::string shape_of(const TransferSide& side) {
  std::string out;
  for (const TransferSide::Dim& dim : side.dims) out += format("[%ld]", dim.count);
  return out.empty() ? "one element" : out;
}

// The sides of a gmove. One element on the right goes to all on the left: `fetch` gets it now.
struct Sides {
  template <typename Fetch>
  Sides(const xmp_moved& to, const xmp_moved& from, size_t element, const char* text, const char* place,
        const Fetch& fetch)
      : target(side_of(to, text, place)), source(side_of(from, text, place)) {
    if (counts_of(source).empty() && !counts_of(target).empty()) {
      value.resize(element);
      if (source.layout != nullptr) fetch(TransferSide{nullptr, value.data(), {}}, source);
      else std::memcpy(value.data(), from.address, element);
      source = {nullptr, value.data(), target.dims};
      for (TransferSide::Dim& dim : source.dims) dim.base = 0, dim.stride = 0;
    }
    if (counts_of(target) != counts_of(source))
      end_job(1, "%s: %s: the left side of gmove has %s, and the right side %s", place, text, shape_of(target).c_str(),
              shape_of(source).c_str());
  }

  TransferSide target, source;
  std::vector<char> value;
};

// A move that all nodes of both sides make together.
struct Together {
  Together(const xmp_moved& to, const xmp_moved& from, size_t element_bytes, const char* text, const Call& call)
      : element(element_bytes),
        teams(coarrays(call.name, call.place).collective().teams()),
        sides(made(to, from, text, call)) {}
  Sides made(const xmp_moved& to, const xmp_moved& from, const char* text, const Call& call) const {
    for (const xmp_moved* each : {&to, &from})
      if (each->array != nullptr)
        require_all_nodes(*each->array, layout_of(*each->array, call.place), executing(), "gmove", call.place);
    return {to, from, element, text, call.place, [&](const TransferSide& here, const TransferSide& there) {
              require_at(transfer(here, there).perform(teams, call), call.place);
            }};
  }
  Transfer transfer(const TransferSide& to, const TransferSide& from) const {
    return Transfer::of_sections(executing(), sms_rank, to, from, element);
  }

  const size_t element;
  TeamOperations& teams;
  Sides sides;
};

// Returns true if a side is memory of a shared array.
bool in_shared(const xmp_moved& side, const char* call) {
  if (side.array != nullptr) return false;
  const Array* const array = process_memory(call).arrays().at(side.address);
  return array != nullptr && array->parts.stride == 0;  // parts of coarrays belong to one image each
}

// Starts a transfer of this node. `other`: the array of other nodes; null if all that it moves is here.
void start(LoneTransfer& out, LoneTransfer::Direction direction, const TransferSide& to, const TransferSide& from,
           const xmp_aligned* other, size_t element, const char* text, const Call& call) {
  const std::string where = format("%s: %s", call.place, text);
  const auto find = [&](int rank, uint64_t& offset) { return find_part(*other, rank, offset, call.place); };
  const auto fetch = [&](const Section& section) {
    require_at(process_memory(call.name).preloads().start(section), where.c_str());
  };
  const World& world = coarrays(call.name, call.place).collective().world();
  require_at(out.start(world, executing(), direction, to, from, element, find, fetch), where.c_str());
}

// Gets the one element on the right side, by this node alone.
auto alone(const xmp_moved& from, size_t element, const char* text, const Call& call) {
  return [=, &from, &call](const TransferSide& here, const TransferSide& there) {
    LoneTransfer fetch;
    start(fetch, LoneTransfer::Direction::in, here, there, from.array, element, text, call);
    fetch.finish();
  };
}

// A move that this node makes alone. Its sides stay until the end.
class Lone {
 public:
  Lone(xmp_gmove_mode mode, const xmp_moved& to, const xmp_moved& from, size_t element, const char* text,
       const Call& call)
      : sides_(to, from, element, text, call.place, alone(from, element, text, call)) {
    const bool reads = mode == XMP_GMOVE_IN;
    sides_.target.common = in_shared(to, call.name) && !reads;
    sides_.source.common = sides_.value.empty() && in_shared(from, call.name);
    if (!reads && to.array == nullptr && !sides_.target.common)
      end_job(1, "%s: %s: the left side of gmove out is memory of each node; write gmove in", call.place, text);
    start(transfer, reads ? LoneTransfer::Direction::in : LoneTransfer::Direction::out, sides_.target, sides_.source,
          reads ? from.array : to.array, element, text, call);
  }

  LoneTransfer transfer;

 private:
  Sides sides_;
};

// ---- shared arrays -------------------------------------------------------------------------------------------------

// Returns true if all nodes name the same memory. Collective.
bool agree(const xmp_moved& side, const Call& call) {
  struct Named {
    const void* address;
    int64_t dims;
    std::array<int64_t, XMP_DIMS> length, stride;
    bool operator==(const Named&) const = default;
  };
  Named own = {side.address, side.dims, {}, {}};
  std::copy_n(side.length, side.dims, own.length.begin());
  std::copy_n(side.stride, side.dims, own.stride.begin());
  TeamOperations& teams = coarrays(call.name, call.place).collective().teams();
  Members other;
  Members& members = teams.members_of(executing(), other);
  std::vector<Named> all(static_cast<size_t>(executing().count));
  require_at(teams.perform(members, plan_allgather(teams.member_of(members), &own, all.data(), sizeof own), call),
             call.place);
  return std::all_of(all.begin(), all.end(), [&](const Named& each) { return each == own; });
}

// Moves elements between an aligned array and a shared one, which all nodes have in common: each node copies what it
// owns of the aligned one. The nodes synchronise before, so that it reads what others have written, and afterwards.
// Returns false if no side is such an array: where each node names memory of its own in one, it gets all elements.
bool move_shared(const xmp_moved& to, const xmp_moved& from, size_t element, const char* text, const Call& call) {
  const bool writes = in_shared(to, call.name), reads = in_shared(from, call.name);
  if (!writes && !reads) return false;
  synchronise_shared(executing(), call);
  if (writes && !agree(to, call)) return false;
  Sides sides(to, from, element, text, call.place, alone(from, element, text, call));
  sides.target.common = writes;
  sides.source.common = reads && sides.value.empty();
  LoneTransfer transfer;
  start(transfer, writes ? LoneTransfer::Direction::out : LoneTransfer::Direction::in, sides.target, sides.source,
        nullptr, element, text, call);
  transfer.finish();
  synchronise_shared(executing(), call);
  return true;
}

class LoneRequest final : public Request {
 public:
  explicit LoneRequest(std::unique_ptr<Lone> move) : move_(std::move(move)) {}
  Status advance(bool& complete) override {
    complete = move_->transfer.done();
    if (complete) move_->transfer.finish();
    return {};
  }
  Status hasten(bool& complete) override {
    move_->transfer.finish();
    return complete = true, Status();
  }
  std::string missing() const override { return "data of a gmove is under way"; }

 private:
  const std::unique_ptr<Lone> move_;
};

}  // namespace

XMP_EXPORT void xmp_gmove_global(const xmp_moved* to, const xmp_moved* from, size_t element, const char* text,
                                 const char* place) {
  const Call call = {"xmp_gmove", place};
  if (move_shared(*to, *from, element, text, call)) return;
  Together move(*to, *from, element, text, call);
  if (move.sides.source.layout != nullptr) move.sides.source.parts = parts_in(executing(), *from->array, call);
  require_at(move.transfer(move.sides.target, move.sides.source).perform(move.teams, call), place);
}

XMP_EXPORT xmp_request xmp_gmove_global_start(const xmp_moved* to, const xmp_moved* from, size_t element,
                                              const char* text, const char* place) {
  const Call call = {"xmp_gmove_start", place};
  if (move_shared(*to, *from, element, text, call)) return {0};  // complete
  const Together move(*to, *from, element, text, call);
  auto transfer = std::make_unique<Transfer>(move.transfer(move.sides.target, move.sides.source));
  Transfer& made = *transfer;
  return start_transfer(made, std::move(transfer), call);
}

XMP_EXPORT void xmp_gmove_alone(enum xmp_gmove_mode mode, const xmp_moved* to, const xmp_moved* from, size_t element,
                                const char* text, const char* place) {
  Lone(mode, *to, *from, element, text, {"xmp_gmove", place}).transfer.finish();
}

XMP_EXPORT xmp_request xmp_gmove_alone_start(enum xmp_gmove_mode mode, const xmp_moved* to, const xmp_moved* from,
                                             size_t element, const char* text, const char* place) {
  return give(std::make_unique<LoneRequest>(
      std::make_unique<Lone>(mode, *to, *from, element, text, Call{"xmp_gmove_start", place})));
}

}  // namespace hiroba
