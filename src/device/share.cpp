#include "device/share.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

namespace hiroba {

namespace {

// The index with the smallest load; where `domain` is known, of those with this domain, if there are any.
size_t least(const std::vector<int>& domains, int domain, const std::vector<int>& load) {
  size_t best = SIZE_MAX;
  const auto search = [&](bool same_domain) {
    for (size_t i = 0; i < domains.size(); ++i)
      if ((!same_domain || domains[i] == domain) && (best == SIZE_MAX || load[i] < load[best])) best = i;
  };
  if (domain >= 0) search(true);
  if (best == SIZE_MAX) search(false);
  return best;
}

std::string hosts_of(const std::vector<MeasuredDevice>& table) {
  std::set<std::string> names;
  for (const MeasuredDevice& device : table) names.insert("'" + device.host + "'");
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

Status read_spread_table(const std::string& file, std::vector<MeasuredDevice>& out) {
  std::ifstream text(file);
  if (!text) return Status::error("option place-table: cannot read '%s': %s", file.c_str(), std::strerror(errno));
  out.clear();
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> words;
    std::istringstream fields(line);
    for (std::string word; std::getline(fields, word, '\t');) words.push_back(word);
    char *end_of_number = nullptr, *end_of_seconds = nullptr, *end_of_watts = nullptr;
    words.resize(std::max<size_t>(words.size(), 6));
    MeasuredDevice device = {words[0], words[1], 0, words[3], -1, 0};
    device.number = static_cast<int>(std::strtol(words[2].c_str(), &end_of_number, 10));
    device.seconds = std::strtod(words[5].c_str(), &end_of_seconds);
    if (words[4] != "unknown") device.watts = std::strtod(words[4].c_str(), &end_of_watts);
    if (words.size() > 6 || words[2].empty() || *end_of_number != '\0' || !(device.seconds > 0) ||
        *end_of_seconds != '\0' || (end_of_watts != nullptr && (*end_of_watts != '\0' || !(device.watts > 0))))
      return Status::error(
          "option place-table: line %d of '%s' is no line of a table of `hiroba power spread`: host, kind, number, "
          "name, watts and seconds, with tabs between them",
          number, file.c_str());
    out.push_back(std::move(device));
  }
  if (out.empty())
    return Status::error("option place-table: '%s' has no devices: it is no table of `hiroba power spread`",
                         file.c_str());
  return {};
}

Status order_devices(const std::vector<MeasuredDevice>& table, const std::string& by, const std::string& host,
                     const std::string& kind, std::vector<DeviceDescription>& devices) {
  std::vector<std::pair<double, DeviceDescription>> order;
  for (const DeviceDescription& device : devices) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const MeasuredDevice& m) {
      return m.host == host && m.kind == kind && m.number == device.number;
    });
    const char* const name = device.name.c_str();
    if (found == table.end())
      return Status::error(
          "option place-table: the table is of another machine: it has devices of %s, and this is '%s', with device %d "
          "of kind %s; measure here: hiroba power spread",
          hosts_of(table).c_str(), host.c_str(), device.number, kind.c_str());
    if (found->name != device.name)
      return Status::error(
          "option place-table: device %d of '%s' is '%s', and in the table '%s': measure again: hiroba power spread",
          device.number, host.c_str(), name, found->name.c_str());
    if (by == "power" && found->watts < 0)
      return Status::error(
          "option place-by=power: the table has no watts of device %d of '%s', because its energy cannot be read; use "
          "place-by=speed",
          device.number, host.c_str());
    order.emplace_back(by == "power" ? found->watts : found->seconds, device);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < order.size(); ++i) devices[i] = order[i].second;
  return {};
}

std::vector<std::vector<int>> share_devices(const std::vector<int>& rank_domains, const std::vector<int>& domains) {
  std::vector<std::vector<int>> out(rank_domains.size());
  if (domains.empty()) return out;
  std::vector<int> has(rank_domains.size()), users(domains.size());
  const size_t most = (domains.size() + rank_domains.size() - 1) / rank_domains.size();
  for (size_t d = 0; d < domains.size(); ++d) {
    size_t rank = least(rank_domains, domains[d], has);
    if (out[rank].size() >= most) rank = least(rank_domains, -1, has);
    out[rank].push_back(static_cast<int>(d));
    ++has[rank], ++users[d];
  }
  for (size_t r = 0; r < out.size(); ++r) {
    if (!out[r].empty()) continue;
    const size_t d = least(domains, rank_domains[r], users);
    out[r].push_back(static_cast<int>(d));
    ++users[d];
  }
  return out;
}

}  // namespace hiroba
