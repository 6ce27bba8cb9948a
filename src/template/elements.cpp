#include "template/elements.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace hiroba {

std::vector<std::vector<OwnIndex>> own_indices(const AlignedLayout& layout, int rank) {
  std::vector<std::vector<OwnIndex>> out(layout.dims());
  const std::vector<int> at = layout.on().grid.coordinates(rank);
  if (at.empty()) return out;
  const auto strides = layout.strides(at);
  for (int d = 0; d < layout.dims(); ++d) {
    const AlignedLayout::Dim& dim = layout.dim(d);
    const int64_t first = layout.part(d, at).memory_first;
    const auto add = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[d].push_back({i, (layout.number(d, i) - first) * strides[d]});
    };
    if (layout.on_grid(d) < 0) {
      add(0, dim.extent);
      continue;
    }
    const int64_t past = dim.shift + dim.extent;
    int64_t from = dim.shift, begin = 0, end = 0;
    while (from < past && layout.axis(d)->next_run(at[layout.on_grid(d)], from, begin, end)) {
      add(std::max(begin, from) - dim.shift, std::min(end, past) - dim.shift);
      from = end;
    }
  }
  return out;
}

namespace {

void add_elements(const AlignedLayout& layout, const std::vector<std::vector<OwnIndex>>& indices, int d,
                  const OwnElement& before, std::vector<OwnElement>& out) {
  if (d == layout.dims()) return out.push_back(before);
  for (const OwnIndex& own : indices[d])
    add_elements(layout, indices, d + 1, {before.number * layout.dim(d).extent + own.index, before.at + own.at}, out);
}

// It knows which ranks have the elements of an array, and where in this rank's memory they are.
class Holders {
 public:
  Holders(const AlignedLayout& layout, const Team& team, int me) : layout_(layout), grid_(layout.on().grid) {
    const std::vector<int> at = grid_.coordinates(me);
    for (const int rank : grid_.ranks) members_.push_back(team.find(rank));
    grid_strides_.assign(grid_.extent.size(), 1);
    for (int g = grid_.dims() - 2; g >= 0; --g) grid_strides_[g] = grid_strides_[g + 1] * grid_.extent[g + 1];
    for (const int g : layout.copied_over()) {
      if (!at.empty()) own_copy_ += at[g] * grid_strides_[g];
      const std::vector<int> before = copies_;
      copies_.clear();
      for (int k = 0; k < grid_.extent[g]; ++k)
        for (const int copy : before) copies_.push_back(copy + k * grid_strides_[g]);
    }
    if (at.empty()) return;
    strides_ = layout.strides(at);
    for (int d = 0; d < layout.dims(); ++d) first_.push_back(layout.part(d, at).memory_first);
  }

  // The member to ask: that with the coordinates of this rank where nodes have copies.
  int one(int64_t number) const { return members_[node(number) + own_copy_]; }
  template <typename Visit>
  void each(int64_t number, const Visit& visit) const {
    const int first = node(number);
    for (const int copy : copies_) visit(members_[first + copy]);
  }
  // Returns the place of an element that this rank has in its memory.
  int64_t at(int64_t number) const {
    int64_t out = 0;
    for (int d = layout_.dims() - 1; d >= 0; number /= layout_.dim(d--).extent)
      out += (layout_.number(d, number % layout_.dim(d).extent) - first_[d]) * strides_[d];
    return out;
  }

 private:
  // The position in the grid of the first node that has an element.
  int node(int64_t number) const {
    int out = 0;
    for (int d = layout_.dims() - 1; d >= 0; number /= layout_.dim(d--).extent)
      if (const int owner = layout_.owner(d, number % layout_.dim(d).extent); owner >= 0)
        out += owner * grid_strides_[layout_.on_grid(d)];
    return out;
  }

  const AlignedLayout& layout_;
  const Grid& grid_;
  std::vector<int> members_;  // of each node of the grid
  std::vector<int> grid_strides_;
  std::vector<int> copies_ = {0};  // from the first of nodes with copies to each of them, in the grid
  int own_copy_ = 0;
  std::array<int64_t, template_dims> strides_{};
  std::vector<int64_t> first_;
};

}  // namespace

std::vector<OwnElement> own_elements(const AlignedLayout& layout, int rank) {
  std::vector<OwnElement> out;
  add_elements(layout, own_indices(layout, rank), 0, {0, 0}, out);
  return out;
}

int64_t count_elements(const AlignedLayout& layout) {
  int64_t out = 1;
  for (int d = 0; d < layout.dims(); ++d) out *= layout.dim(d).extent;
  return out;
}

bool has_first_copy(const AlignedLayout& layout, int rank) {
  const std::vector<int> at = layout.on().grid.coordinates(rank);
  for (const int g : layout.copied_over())
    if (!at.empty() && at[g] != 0) return false;
  return !at.empty();
}

ElementExchange::ElementExchange(TeamOperations& teams, const Team& team, int me, const Call& call)
    : teams_(teams), team_(team), me_(me), call_(call) {}

Status ElementExchange::agree_on_sizes(std::span<const std::span<const char>> given, std::vector<size_t>& taken) {
  std::vector<uint64_t> gives, takes(given.size());
  for (const std::span<const char>& each : given) gives.push_back(each.size());
  Members other;
  Members& members = teams_.members_of(team_, other);
  HIROBA_TRY(teams_.perform(members, plan_alltoall(teams_.member_of(members), gives.data(), takes.data(), 8), call_));
  taken.assign(takes.begin(), takes.end());
  return {};
}

Status ElementExchange::move(std::span<const std::span<const char>> given, std::span<const size_t> taken, char* in) {
  std::vector<size_t> sizes;
  for (const std::span<const char>& each : given) sizes.push_back(each.size());
  const BlockTable gives = BlockTable::one_after_another(sizes), takes = BlockTable::one_after_another(taken);
  std::vector<char> out(std::accumulate(sizes.begin(), sizes.end(), size_t{1}));  // a null address has a meaning
  for (size_t m = 0; m < given.size(); ++m)
    if (!given[m].empty()) std::memcpy(out.data() + gives.at[m], given[m].data(), given[m].size());
  char none = 0;
  Members other;
  return teams_.perform(teams_.members_of(team_, other),
                        plan_alltoallv(out.data(), gives, in == nullptr ? &none : in, takes), call_);
}

Status ElementExchange::get(const AlignedPart& from, std::span<const int64_t> numbers, char* values) {
  const Holders holders(*from.layout, team_, me_);
  const size_t element = from.layout->element();
  const auto members = static_cast<size_t>(team_.count);
  std::vector<std::vector<int64_t>> wanted(members);
  std::vector<int> asked_of;
  for (const int64_t number : numbers) {
    asked_of.push_back(holders.one(number));
    wanted[asked_of.back()].push_back(number);
  }
  std::vector<int64_t> asked;
  std::vector<size_t> counts;
  HIROBA_TRY(exchange(wanted, asked, counts));
  std::vector<std::vector<char>> answers(members);
  for (size_t m = 0, i = 0; m < members; ++m) {
    answers[m].resize(counts[m] * element);
    for (size_t k = 0; k < counts[m]; ++k)
      std::memcpy(answers[m].data() + k * element, from.data + holders.at(asked[i++]), element);
  }
  std::vector<char> got;
  HIROBA_TRY(exchange(answers, got, counts));
  std::vector<size_t> next = BlockTable::one_after_another(counts).at;
  for (const int m : asked_of) {
    std::memcpy(values, got.data() + next[m], element);
    values += element, next[m] += element;
  }
  return {};
}

Status ElementExchange::put(const AlignedPart& to, std::span<const int64_t> numbers, std::span<const int64_t> orders,
                            const char* values) {
  struct Target {
    int64_t number, order;
  };
  const Holders holders(*to.layout, team_, me_);
  const size_t element = to.layout->element();
  std::vector<std::vector<Target>> targets(team_.count);
  std::vector<std::vector<char>> packed(team_.count);
  for (size_t i = 0; i < numbers.size(); ++i)
    holders.each(numbers[i], [&](int m) {
      targets[m].push_back({numbers[i], orders[i]});
      packed[m].insert(packed[m].end(), values + i * element, values + (i + 1) * element);
    });
  std::vector<Target> taken;
  std::vector<char> content;
  std::vector<size_t> counts;
  HIROBA_TRY(exchange(targets, taken, counts));
  HIROBA_TRY(exchange(packed, content, counts));
  std::vector<size_t> sequence(taken.size());
  std::iota(sequence.begin(), sequence.end(), size_t{0});
  std::sort(sequence.begin(), sequence.end(), [&](size_t a, size_t b) { return taken[a].order < taken[b].order; });
  for (const size_t i : sequence)
    std::memcpy(to.data + holders.at(taken[i].number), content.data() + i * element, element);
  return {};
}

Status ElementExchange::sums(int64_t own, int64_t& before, int64_t& all) {
  const std::vector<int64_t> given(team_.count, own);
  std::vector<int64_t> each(team_.count);
  Members other;
  Members& members = teams_.members_of(team_, other);
  HIROBA_TRY(
      teams_.perform(members, plan_alltoall(teams_.member_of(members), given.data(), each.data(), sizeof own), call_));
  const auto here = each.begin() + team_.find(me_);
  before = std::accumulate(each.begin(), here, int64_t{0});
  all = std::accumulate(here, each.end(), before);
  return {};
}

Status ElementExchange::count_before(std::vector<int64_t>& numbers, int64_t limit, int64_t& all) {
  const int64_t share = std::max<int64_t>(1, (limit + team_.count - 1) / team_.count);
  std::vector<std::vector<int64_t>> sent(team_.count);
  for (const int64_t number : numbers) sent[number / share].push_back(number);
  std::vector<int64_t> taken;
  std::vector<size_t> counts;
  HIROBA_TRY(exchange(sent, taken, counts));
  std::vector<int64_t> known = taken;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  int64_t before = 0;
  HIROBA_TRY(sums(static_cast<int64_t>(known.size()), before, all));
  std::vector<std::vector<int64_t>> answers(team_.count);
  for (size_t m = 0, i = 0; m < counts.size(); ++m)
    for (size_t k = 0; k < counts[m]; ++k)
      answers[m].push_back(before + (std::lower_bound(known.begin(), known.end(), taken[i++]) - known.begin()));
  HIROBA_TRY(exchange(answers, taken, counts));
  std::vector<size_t> next(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), size_t{0});
  for (int64_t& number : numbers) number = taken[next[number / share]++];
  return {};
}

}  // namespace hiroba
