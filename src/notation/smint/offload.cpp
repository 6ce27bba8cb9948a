// Loops of smint.h on devices: the iterations of this rank, their division among its devices, and the calls of the
// floor of devices that bring their data and run them.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/record/record.hpp"
#include "notation/device/device_process.hpp"
#include "notation/smint/plan.hpp"
#include "notation/smint/smint_process.hpp"
#include "smint.h"

namespace hiroba {

namespace {

constexpr char call_name[] = "parallel for device";

// The streams of one device: what comes to it, and what it computes and gives back.
struct Lanes {
  DeviceStream *in, *run;
};

// A kernel's argument: this, and then what the program's function gets.
struct alignas(64) Launched {
  void (*body)(void*);
  smint_share share;
  size_t count;  // of accesses
  std::array<size_t, SMINT_ACCESSES> number;
  std::array<size_t, SMINT_ACCESSES> in;   // number of the data that has them
  std::array<int64_t, SMINT_ACCESSES> at;  // from its address to the base
};

int run_share(void* const* data, const void* argument, void* /*stream*/) {
  char* const copy = const_cast<char*>(static_cast<const char*>(argument));  // the launch has its own
  auto& launched = *reinterpret_cast<Launched*>(copy);
  for (size_t i = 0; i < launched.count; ++i)
    launched.share.base[launched.number[i]] = static_cast<char*>(data[launched.in[i]]) + launched.at[i];
  char* const given = copy + sizeof launched;
  std::memcpy(given, &launched.share, sizeof launched.share);
  launched.body(given);
  return 0;
}

// Complete when the last of several is; knows when each was.
class Together final : public Request {
 public:
  explicit Together(std::vector<std::shared_ptr<Request>> all) : all_(std::move(all)), ends(all_.size()) {}
  Status advance(bool& complete) override {
    complete = true;
    for (size_t i = 0; i < all_.size(); ++i) {
      bool ended = ends[i] > 0;
      if (!ended) HIROBA_TRY(all_[i]->advance(ended));
      if (ended && ends[i] == 0) ends[i] = seconds_now();
      complete = complete && ended;
    }
    return {};
  }
  Status hasten(bool& complete) override {
    for (size_t i = 0; i < all_.size(); ++i)
      if (ends[i] == 0) {
        HIROBA_TRY(all_[i]->hasten(complete));
        break;
      }
    return advance(complete);
  }
  std::string missing() const override {
    const auto first = std::find(ends.begin(), ends.end(), 0.0);
    return first == ends.end() ? std::string() : all_[static_cast<size_t>(first - ends.begin())]->missing();
  }

 private:
  std::vector<std::shared_ptr<Request>> all_;

 public:
  std::vector<double> ends;
};

class DeviceLoop {
 public:
  DeviceLoop(const smint_plan& plan, const smint_values values[], const int64_t known[], const smint_device_loop& loop)
      : call_(call_name), plan_(plan), loop_(loop), step_(values[0].step), first_(values[0].first) {
    for (int k = 0; k < plan.depth; ++k) loops_.push_back(ascending(values[k]));
    visit_accesses(plan, 0, plan.count, known, [this, number = size_t{0}](const smint_access& access) mutable {
      if ((access.flags & (SMINT_READS | SMINT_WRITES)) != 0)
        accesses_.push_back(plain(access)), number_.push_back(number);
      ++number;
    });
    for (int r = 0; r < loop.reduced; ++r) combines_.push_back(combine_of(loop.reductions[r], plan.place));
    find_lanes();
  }

  // Positions in the outermost loop.
  void run(Interval positions) {
    if (std::any_of(loops_.begin() + 1, loops_.end(), [](const Values& v) { return count_of(v) == 0; })) return;
    SpeedShares& speeds = speeds_of(plan_, lanes_.size());
    const std::vector<int64_t> bounds = speeds.bounds(positions.end - positions.begin);
    std::vector<int64_t> counts;
    std::vector<Part> parts;
    for (size_t k = 0; k < lanes_.size(); ++k) {
      counts.push_back(bounds[k + 1] - bounds[k]);
      if (counts.back() > 0)
        parts.push_back(part_of(k, {positions.begin + bounds[k], positions.begin + bounds[k + 1]}));
    }
    const double begin = seconds_now();
    for (Part& part : parts) bring(part);
    for (Part& part : parts) launch(part);
    std::vector<std::shared_ptr<Request>> done;
    for (Part& part : parts) done.push_back(give_back(part, parts));
    Together all(std::move(done));
    call_.require(collective_of(call_.name()).requests().await(all, call_.call()));
    for (const Part& part : parts) reduce(part);
    if (parts.size() < lanes_.size()) return;
    std::vector<double> seconds;
    for (const double end : all.ends) seconds.push_back(end - begin);
    speeds.measured(counts, seconds);
  }

  // Ends the job if the iterations cannot be divided.
  void check() const {
    if (std::all_of(loops_.begin(), loops_.end(), [](const Values& v) { return count_of(v) > 0; }))
      call_.require(check_separate(accesses_, loops_));
  }
  // The iterations of this rank, as few intervals of positions, which ascend.
  std::vector<Interval> positions() const {
    std::vector<Interval> all, out;
    const auto position = [&](int64_t value) {
      return step_ > 0 ? ceil_div(value - first_, step_) : ceil_div(first_ - value, -step_);
    };
    while (const smint_part* const part = smint_next())
      all.push_back({position(part->first[0]), position(part->end[0])});
    std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    for (const Interval& next : all) {
      if (next.empty()) continue;
      if (!out.empty() && out.back().end >= next.begin) out.back().end = std::max(out.back().end, next.end);
      else out.push_back(next);
    }
    return out;
  }

 private:
  struct Part {
    Lanes lanes;
    int gpu;
    Interval positions;
    Footprint footprint;
    std::vector<std::vector<char>> numbers;  // of each reduction
    std::vector<void*> reduced;              // their addresses
  };

  static PlainAccess plain(const smint_access& access) {
    const bool indirect = (access.flags & SMINT_INDIRECT) != 0;
    void* const base = const_cast<void*>(access.base);
    PlainAccess out = {access.flags & ~SMINT_INDIRECT, access.text,
                       static_cast<char*>(indirect ? *static_cast<void**>(base) : base), access.dims, access.element};
    std::copy_n(access.stride, SMINT_DIMS, out.stride.begin());
    std::copy_n(access.low, SMINT_DIMS, out.low.begin());
    std::copy_n(access.high, SMINT_DIMS, out.high.begin());
    for (size_t d = 0; d < SMINT_DIMS; ++d) std::copy_n(access.factor[d], SMINT_LOOPS, out.factor[d].begin());
    return out;
  }
  static Values ascending(const smint_values& v) {
    const Values given = {v.first, v.end, v.step};
    if (v.step > 0) return given;
    const int64_t count = std::max<int64_t>(0, ceil_div(v.first - v.end, -v.step));
    return {v.first + (count - 1) * v.step, v.first + (count > 0 ? 1 : v.step), -v.step};
  }

  void find_lanes() {
    int count = 0;
    call_.require(devices().count(count));
    const int wanted = loop_.devices > 0 ? loop_.devices : count;
    if (wanted < 1 || wanted > count)
      call_.fail(
          format("%d devices are wanted, and this rank has %d; say fewer, or give each node more with hirobarun "
                 "--devices, as in --devices host:%d",
                 std::max(wanted, 1), count, std::max(wanted, 1)));
    for (int i = 0; i < wanted; ++i) {
      Devices::Properties properties;
      call_.require(devices().properties(i, properties));
      const bool host = properties.kind == DeviceKind::host;
      const int number = properties.description.number;
      if (!host && number >= loop_.gpus)
        call_.fail(
            format("device %d is %s, and the directives of this loop were not compiled for it; use a compiler "
                   "that translates them for GPUs, or host devices: hirobarun --devices host:%d",
                   i, properties.description.name.c_str(), wanted));
      lanes_.push_back(lanes_of(i));
      gpus_.push_back(host ? -1 : number);
    }
  }
  Lanes lanes_of(int device) {
    static std::vector<Lanes>& all = *new std::vector<Lanes>;  // as many as devices; the program ends them
    while (all.size() <= static_cast<size_t>(device)) {
      Lanes next = {};
      call_.require(devices().make_stream(static_cast<int>(all.size()), next.in));
      call_.require(devices().make_stream(static_cast<int>(all.size()), next.run));
      all.push_back(next);
    }
    return all[static_cast<size_t>(device)];
  }
  static SpeedShares& speeds_of(const smint_plan& plan, size_t devices) {
    static auto& all = *new std::map<std::pair<const char*, size_t>, SpeedShares>;
    return all.try_emplace({plan.place, devices}, devices).first->second;
  }

  int64_t value_at(int64_t position) const { return first_ + position * step_; }
  Part part_of(size_t k, Interval positions) {
    Part out = {lanes_[k], gpus_[k], positions, {}, {}, {}};
    for (size_t r = 0; r < combines_.size(); ++r) {
      const smint_reduction& of = loop_.reductions[r];
      const char* const data = static_cast<const char*>(of.data);
      out.numbers.emplace_back(data, data + static_cast<size_t>(of.count) * of.element);
      out.reduced.push_back(out.numbers.back().data());
    }
    std::vector<Values> loops = loops_;
    const auto [low, high] = std::minmax({value_at(positions.begin), value_at(positions.end - 1)});
    loops[0] = {low, high + 1, std::abs(step_)};
    out.footprint = footprint_of(accesses_, loops);
    const Arrays& arrays = process_memory(call_.name()).arrays();
    for (size_t i = 0; i < accesses_.size(); ++i) {
      const Footprint::Box& box = out.footprint.used[out.footprint.in[i]];
      if (arrays.at(box.address) != arrays.at(box.end() - 1) || arrays.at(box.address) != arrays.at(accesses_[i].base))
        call_.fail(format("`%s` leads out of its array; subscripts count for all iterations, under conditions, too",
                          accesses_[i].text));
    }
    return out;
  }

  void bring(const Part& part) {
    std::shared_ptr<Request> done;
    for (const Footprint::Box& box : part.footprint.whole) call_.require(devices().join(box, *part.lanes.in, place()));
    for (const Footprint::Box& box : part.footprint.used)
      call_.require(devices().preload(box, *part.lanes.in, place(), done));
  }
  void launch(const Part& part) {
    Launched launched = {loop_.body, {}, accesses_.size(), {}, {}, {}};
    std::copy(part.footprint.in.begin(), part.footprint.in.end(), launched.in.begin());
    launched.share.first = value_at(part.positions.begin), launched.share.end = value_at(part.positions.end);
    launched.share.gpu = part.gpu, launched.share.reduced = part.reduced.data();
    for (size_t i = 0; i < accesses_.size(); ++i)
      launched.at[i] = accesses_[i].base - part.footprint.used[part.footprint.in[i]].address;
    std::copy(number_.begin(), number_.end(), launched.number.begin());
    std::vector<char> argument(sizeof launched + loop_.bytes);
    std::memcpy(argument.data(), &launched, sizeof launched);
    std::memcpy(argument.data() + sizeof launched, loop_.data, loop_.bytes);
    std::vector<DeviceAccess> uses;
    for (const Footprint::Box& box : part.footprint.used) uses.push_back({box, true, false});
    for (const Footprint::Box& box : part.footprint.written) uses.push_back({box, true, true});
    call_.require(devices().order(*part.lanes.run, *part.lanes.in));
    const DeviceKernel kernel = {loop_.name, run_share, run_share, true};
    call_.require(devices().launch(kernel, *part.lanes.run, uses, argument.data(), argument.size(), place()));
  }
  void reduce(const Part& part) const {
    for (size_t r = 0; r < combines_.size(); ++r) {
      const smint_reduction& into = loop_.reductions[r];
      combines_[r](static_cast<char*>(into.data), part.numbers[r].data(), into.count);
    }
  }
  // Rows that one device writes may lie between those that another one has got.
  std::shared_ptr<Request> give_back(const Part& part, const std::vector<Part>& parts) {
    std::shared_ptr<Request> done;
    for (const Part& other : parts) call_.require(devices().order(*part.lanes.run, *other.lanes.in));
    for (const Footprint::Box& box : part.footprint.written)
      call_.require(devices().overload(box, *part.lanes.run, place(), done));
    call_.require(devices().mark(*part.lanes.run, place(), done));
    return done;
  }

  const CheckedCall call_;
  const smint_plan& plan_;
  const smint_device_loop& loop_;
  const int64_t step_, first_;
  std::vector<Values> loops_;
  std::vector<PlainAccess> accesses_;
  std::vector<size_t> number_;  // of each, in the plan
  std::vector<Combine> combines_;
  std::vector<Lanes> lanes_;
  std::vector<int> gpus_;
};

}  // namespace

SMINT_EXPORT void smint_devices(const smint_plan* plan, const smint_values values[], const int64_t known[],
                                const smint_device_loop* loop) {
  const RecordedCall recorded;
  hiroba_place = plan->place;
  DeviceLoop work(*plan, values, known, *loop);
  work.check();
  smint_plan without_end = *plan;
  without_end.flags |= SMINT_NOWAIT;
  smint_begin(&without_end, values, known);
  for (const Interval& mine : work.positions()) work.run(mine);
  if ((plan->flags & SMINT_NOWAIT) != 0) return;
  if ((plan->flags & SMINT_DROP) != 0) sms_sync_drop();
  else sms_barrier();
}

}  // namespace hiroba
