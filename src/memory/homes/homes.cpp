#include "memory/homes/homes.hpp"

#include <cstring>
#include <vector>

#include "base/phrases.hpp"
#include "base/text.hpp"
#include "memory/parts.hpp"

namespace hiroba {

namespace {

const char* name_of(HomePolicy policy) {
  constexpr const char* names[] = {"fixed", "first-touch", "migrating"};
  return names[static_cast<size_t>(policy)];
}

std::string explain(const Array& array, uint64_t pages, uint64_t sent, const std::string& ranks) {
  const auto n = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::string out;
  if (array.homes_moved > 0)
    out += format("%s: homes %s: %llu pages have moved to ranks that write them, %llu of them not for the first time\n",
                  array.name, name_of(array.home_policy), n(array.homes_moved), n(array.homes_moved_again));
  if (array.homes_kept > 0)
    out += format(
        "%s: homes %s: %llu pages were not moved, because at most %zu runs of pages may lie elsewhere than "
        "arrays are distributed\n",
        array.name, name_of(array.home_policy), n(array.homes_kept), HomePolicies::most_exceptions);
  if (pages > 0)
    out += format(
        "%s: homes %s: %llu pages (%s) have long been written by one rank alone, on another node than their "
        "home: %s; %s of this array were sent to homes. %s\n",
        array.name, name_of(array.home_policy), n(pages), show_bytes(pages << page_shift).c_str(), ranks.c_str(),
        show_bytes(sent).c_str(),
        array.home_policy == HomePolicy::migrating
            ? "They need more intervals, because they have moved before, or too many have moved"
            : format("It would gain from %s, or from homes that migrate (option homes, %s)", phrases().move_homes,
                     phrases().set_homes)
                  .c_str());
  return out;
}

}  // namespace

Status Homes::set_policy(void* data, HomePolicy policy, const char* call) {
  HIROBA_TRY(parts_.collective.barriers().all(call));
  Array* array = nullptr;
  HIROBA_TRY(in_call(call, parts_.arrays.find(data, array)));
  HIROBA_TRY(in_call(call, parts_.arrays.check_movable(*array)));
  parts_.home_policies.set(*array, policy);
  return {};
}

Status Homes::explain(const char* call, std::string& out) const {
  if (!parts_.home_policies.explains()) return {};
  std::vector<uint64_t> values;  // for each array: pages that this rank alone writes, and bytes that it has sent home
  parts_.table.for_each_live([&](const Array& array) {
    values.push_back(parts_.home_policies.pages_alone(array));
    values.push_back(array.counters.bytes_sent);
  });
  std::vector<std::vector<char>> all;
  const std::span<const char> bytes = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]};
  HIROBA_TRY(parts_.collective.teams().gather(call, bytes, all));
  if (parts_.job.rank != 0) return {};
  size_t index = 0;
  parts_.table.for_each_live([&](const Array& array) {
    uint64_t pages = 0, sent = 0;
    std::string ranks;
    for (size_t r = 0; r < all.size(); ++r) {
      uint64_t of_rank[2] = {};
      std::memcpy(of_rank, all[r].data() + index * sizeof of_rank, sizeof of_rank);
      pages += of_rank[0], sent += of_rank[1];
      if (of_rank[0] > 0)
        ranks +=
            format("%s%llu by rank %zu", ranks.empty() ? "" : ", ", static_cast<unsigned long long>(of_rank[0]), r);
    }
    ++index;
    out += hiroba::explain(array, pages, sent, ranks);
  });
  return {};
}

}  // namespace hiroba
