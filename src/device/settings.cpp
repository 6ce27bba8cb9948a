#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "base/thread.hpp"
#include "device/backend.hpp"

namespace hiroba {

namespace {

bool is_backend(const std::string& name) {
  const auto all = device_backends({});
  return std::any_of(all.begin(), all.end(), [&](const auto& backend) { return backend->name() == name; });
}

Status parse(const std::string& text, DeviceSettings& out) {
  const auto refuse = [&] {
    return Status::error(
        format("option devices=%s: it is auto, none, a number of devices of each node, host:K or cuda:N",
               text.c_str()));
  };
  const size_t colon = text.find(':');
  std::string kind = text.substr(0, colon), number = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (!kind.empty() && kind.find_first_not_of("0123456789") == std::string::npos && colon == std::string::npos)
    number = kind, kind = "auto";
  else if (colon != std::string::npos && (kind == "auto" || kind == "none")) return refuse();
  if (kind != "auto" && kind != "none" && !is_backend(kind)) return refuse();
  if (number.empty() && (colon != std::string::npos || kind == "host")) number = kind == "host" ? "1" : "?";
  out.backend = kind;
  if (number.empty()) return {};
  char* end = nullptr;
  const long count = std::strtol(number.c_str(), &end, 10);
  constexpr long most = 64;
  if (*end != '\0' || number.front() < '0' || number.front() > '9' || count > most) return refuse();
  out.count = static_cast<int>(count);
  if (count == 0) out.backend = "none";
  return {};
}

}  // namespace

Status DeviceSettings::from_options(const Options& options, DeviceSettings& out) {
  HIROBA_TRY(parse(options.text("devices"), out));
  out.cache = options.bytes("device-cache");
  if (out.cache != 0) out.host_memory = out.cache;
  out.seed = static_cast<uint64_t>(options.number("chaos"));
  out.place_by = options.text("place-by"), out.place_table = options.text("place-table");
  if (out.place_by != "none" && out.place_table.empty())
    return Status::error(
        "option place-by=%s needs option place-table, the file that `hiroba power spread --table FILE` writes",
        out.place_by.c_str());
  constexpr int most_threads = 16;
  out.threads = std::clamp(static_cast<int>(cpus_of_rank().size()), 1, most_threads);
  return {};
}

std::string describe_devices() {
  std::string text;
  for (const auto& backend : device_backends({})) {
    std::vector<DeviceDescription> found;
    const Status status = backend->find(found);
    if (!status.ok()) text += format("  %-22s none: %s\n", backend->name(), status.message().c_str());
    for (const DeviceDescription& d : found) {
      const std::string label =
          backend->kind() == DeviceKind::host ? "host:K" : format("%s %d", backend->name(), d.number);
      const std::string domain = d.domain < 0 ? "" : format(", NUMA domain %d", d.domain);
      const std::string direct = d.direct.empty() ? "" : "; " + d.direct;
      text += format("  %-22s %s, %s%s; %s%s\n", label.c_str(), d.name.c_str(), show_bytes(d.memory).c_str(),
                     domain.c_str(), d.link.c_str(), direct.c_str());
    }
  }
  return text;
}

}  // namespace hiroba
