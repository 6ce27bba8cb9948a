#include "device/parts.hpp"

#include <algorithm>

#include "base/machine/host.hpp"
#include "base/text.hpp"
#include "device/share.hpp"

namespace hiroba {

DeviceParts::DeviceParts() : order([this](const DeviceSection& section) { return describe(section); }) {}

std::string DeviceParts::describe(const DeviceSection& section) const {
  return format("%s that begin at %s", show_bytes(section.total()).c_str(), around.name_of(section.address).c_str());
}

std::string DeviceParts::name_of_device(int number) const {
  return format("%d (%s) of rank %d", number, devices[static_cast<size_t>(number)].description.name.c_str(),
                around.rank);
}

// auto takes the first kind that has devices, but host devices only where they are named: they are no faster than the
// program's own threads.
Status DeviceParts::choose(std::vector<DeviceDescription>& all) {
  if (settings.backend == "none") return why_none = "option devices is none", Status();
  for (const auto& candidate : backends) {
    const bool named = settings.backend == candidate->name();
    if (!named && (settings.backend != "auto" || candidate->kind() == DeviceKind::host)) continue;
    const Status status = candidate->find(all);
    if (status.ok() && !all.empty()) return backend = candidate.get(), Status();
    const std::string why = format("%s: %s", candidate->name(), status.ok() ? "none there" : status.message().c_str());
    if (named) return Status::error("option devices asks for " + why);
    why_none += (why_none.empty() ? "" : "; ") + why;
  }
  return {};
}

Status DeviceParts::find_devices() {
  if (found) return {};
  backends = device_backends(settings);
  std::vector<DeviceDescription> all;
  HIROBA_TRY(choose(all));
  const int wanted = settings.count;
  if (wanted > static_cast<int>(all.size()))
    return Status::error(format("option devices asks for %d devices on each node, and this one has %zu%s%s", wanted,
                                all.size(), why_none.empty() ? "" : ": ", why_none.c_str()));
  const bool by_table = settings.place_by != "none" && !all.empty();
  if (by_table) {
    std::vector<MeasuredDevice> table;
    HIROBA_TRY(read_spread_table(settings.place_table, table));
    HIROBA_TRY(order_devices(table, settings.place_by, host_name(), backend->name(), all));
  }
  if (wanted >= 0) all.resize(static_cast<size_t>(wanted));
  std::vector<int> domains;
  for (const DeviceDescription& d : all) domains.push_back(by_table ? -1 : d.domain);
  const auto shares = share_devices(around.domains, domains);
  for (const int d : shares[static_cast<size_t>(around.index)]) {
    UsedDevice used;
    used.description = all[static_cast<size_t>(d)];
    const auto users = static_cast<uint64_t>(std::count_if(shares.begin(), shares.end(), [&](const auto& share) {
      return std::find(share.begin(), share.end(), d) != share.end();
    }));
    // The rest is for other libraries, and for what the driver needs.
    const bool own = backend->kind() == DeviceKind::host;
    used.cache = settings.cache != 0 ? settings.cache : used.description.memory / 5 * 4 / (own ? 1 : users);
    devices.push_back(std::move(used));
  }
  found = true;
  return {};
}

Status DeviceParts::open(UsedDevice& used, int number) {
  HIROBA_TRY(backend->open(used.description.number, used.open));
  if (helpers.width() < settings.threads) HIROBA_TRY(helpers.start(settings.threads));
  DeviceCopies::Rules rules;
  rules.array_of = around.array_of;
  rules.unsaved = [this](const DeviceCopy& copy) { return order.unsaved(&copy) != nullptr; };
  rules.forget = [this](const DeviceCopy& copy) { order.forget(&copy); };
  used.copies = std::make_unique<DeviceCopies>(*used.open, name_of_device(number), used.cache, std::move(rules));
  return {};
}

Status DeviceParts::device(int number, UsedDevice*& out) {
  HIROBA_TRY(find_devices());
  if (devices.empty())
    return Status::error(
        format("rank %d has no device (%s); `hirobarun --devices host:1` gives each node one that "
               "is a thread of its processor",
               around.rank, why_none.c_str()));
  if (number < 0 || number >= static_cast<int>(devices.size()))
    return Status::error(
        format("device %d of rank %d, which has %zu, counted from 0; option devices, and the number "
               "of ranks on the node, say how many",
               number, around.rank, devices.size()));
  out = &devices[static_cast<size_t>(number)];
  return out->open == nullptr ? open(*out, number) : Status();
}

Status DeviceParts::order_streams(DeviceStream& later, DeviceStream& earlier) {
  const auto before = std::make_shared<DeviceCall>();
  HIROBA_TRY(earlier.mark(before));
  later.put(std::make_shared<DeviceCall>(), [before, &later] {
    before->wait_until_issued();
    return later.queue().wait(*before->event);
  });
  order.after(later.number(), earlier.number());
  return {};
}

Status DeviceParts::make_stream(int device, DeviceStream*& out) {
  UsedDevice* used = nullptr;
  HIROBA_TRY(this->device(device, used));
  auto stream = std::make_unique<DeviceStream>(*used->open, device, name_of_device(device), order.add_stream());
  HIROBA_TRY(stream->start());
  out = stream.get();
  streams.push_back(std::move(stream));
  return {};
}

// Other memory may be at the addresses of an array that was freed.
Status DeviceParts::drop_freed() {
  const uint64_t now = around.changes();
  if (now == changes_seen) return {};
  changes_seen = now;
  for (const auto& stream : streams) HIROBA_TRY(stream->finish());
  pins.release_all();
  for (const UsedDevice& used : devices)
    if (used.copies != nullptr) HIROBA_TRY(used.copies->drop_unused());
  return {};
}

}  // namespace hiroba
