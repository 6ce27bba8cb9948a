#include "memory/heap/checker.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/log.hpp"
#include "base/text.hpp"
#include "memory/heap/heap.hpp"

namespace hiroba {

namespace {

constexpr char margin_byte = static_cast<char>(0xfd), freed_byte = static_cast<char>(0xdd);

// Returns the first byte that is not `wanted`; `end` if all are.
const char* first_other(const char* begin, const char* end, char wanted) {
  return std::find_if(begin, end, [wanted](char c) { return c != wanted; });
}

}  // namespace

std::string HeapChecker::name(const HeapObject& object) const {
  return format("an object of %lu bytes allocated by rank %d at %s", object.bytes, config_.rank,
                config_.sites->name(config_.rank, object.site).c_str());
}

std::string HeapChecker::name(const Kept& kept) const {
  return format("%s, freed by rank %d at %s", name(kept.object).c_str(), kept.freer,
                config_.sites->name(kept.freer, kept.site).c_str());
}

void HeapChecker::allocated(uint64_t position, uint64_t bytes, const char* place) {
  const uint32_t site = config_.sites->number(place);
  char* const object = config_.space->address(position);
  const auto own = unseen(position, true);
  std::memset(object + bytes, margin_byte, config_.room(position) - bytes);
  config_.objects->add(position, {bytes, static_cast<int64_t>(bytes), site});
  config_.sites->add(site, static_cast<int64_t>(bytes), 1);
}

Status HeapChecker::check_margin(uint64_t position, const HeapObject& object, const FreedObject* freed) const {
  const auto own = unseen(position, false);
  const char* const begin = config_.space->address(position);
  const char* const end = begin + config_.room(position);
  const char* const damage = first_other(begin + object.bytes, end, margin_byte);
  if (damage == end) return {};
  const std::string when = freed == nullptr ? "at the end"
                                            : format("when rank %d freed it at %s", freed->rank,
                                                     config_.sites->name(freed->rank, freed->site).c_str());
  return Status::error("overrun: %s was written past its end, at byte %lu; seen %s", name(object).c_str(),
                       static_cast<uint64_t>(damage - begin), when.c_str());
}

void HeapChecker::refresh(uint64_t position, Pages& fresh) const {
  const uint64_t room = config_.room(position), end = config_.space->page(position + room - 1) + 1;
  bool stale = false;
  for (uint64_t page = config_.space->page(position); page < end; ++page) stale = fresh.insert(page).second || stale;
  if (stale) config_.refresh(position, room);
}

Status HeapChecker::check_kept(uint64_t position, const Kept& kept, Pages& fresh) const {
  const uint64_t room = config_.room(position);
  refresh(position, fresh);
  const auto own = unseen(position, false);
  const char* const begin = config_.space->address(position);
  const char* const damage = first_other(begin, begin + room, freed_byte);
  if (damage == begin + room) return {};
  return Status::error("use after free: %s, was written after that, at byte %lu", name(kept).c_str(),
                       static_cast<uint64_t>(damage - begin));
}

Status HeapChecker::unknown(const FreedObject& freed) const {
  const std::string by =
      format("rank %d frees %p at %s", freed.rank, static_cast<void*>(config_.space->address(freed.position)),
             config_.sites->name(freed.rank, freed.site).c_str());
  if (const auto found = kept_.find(freed.position); found != kept_.end())
    return Status::error("double free: %s, which is %s", by.c_str(), name(found->second).c_str());
  const std::string inside = explain(freed.position);
  if (!inside.empty())
    return Status::error("%s, which is %s; free what the allocation returned", by.c_str(), inside.c_str());
  return Status::error("%s, where no object begins; was it freed before?", by.c_str());
}

Status HeapChecker::freed(const FreedObject& freed) {
  const std::optional<HeapObject> object = config_.objects->take(freed.position);
  if (!object) {
    const std::lock_guard<std::mutex> guard(lock_);
    return unknown(freed);
  }
  HIROBA_TRY(check_margin(freed.position, *object, &freed));
  config_.sites->add(object->site, -static_cast<int64_t>(object->bytes), -1);
  const uint64_t room = config_.room(freed.position);
  {
    const auto own = unseen(freed.position, true);
    std::memset(config_.space->address(freed.position), freed_byte, room);
  }
  {
    const std::lock_guard<std::mutex> guard(lock_);
    kept_[freed.position] = {*object, freed.rank, freed.site, epoch()};
    order_.push_back(freed.position);
    kept_bytes_ += room;
  }
  return give_up(most_kept);
}

Status HeapChecker::give_up(uint64_t bytes) {
  const std::lock_guard<std::mutex> guard(lock_);
  Pages fresh;
  while (kept_bytes_ > bytes && !order_.empty()) {
    const uint64_t position = order_.front();
    const auto found = kept_.find(position);
    HIROBA_TRY(check_kept(position, found->second, fresh));
    if (config_.races != nullptr && found->second.epoch == epoch()) config_.races->heap_reused();
    kept_bytes_ -= config_.room(position);
    order_.pop_front();
    kept_.erase(found);
    config_.give_up(position);
  }
  return {};
}

std::string HeapChecker::explain(uint64_t position) const {
  std::string out;
  config_.objects->for_each([&](uint64_t begin, const HeapObject& object) {
    if (position > begin && position < begin + object.bytes)
      out = format("%lu bytes inside %s", position - begin, name(object).c_str());
  });
  return out;
}

std::string HeapChecker::object_at(uint64_t position) const {
  std::string out;
  config_.objects->for_each([&](uint64_t begin, const HeapObject& object) {
    if (position >= begin && position < begin + object.bytes) out = name(object);
  });
  const std::lock_guard<std::mutex> guard(lock_);
  for (const auto& [begin, kept] : kept_)
    if (position >= begin && position < begin + kept.object.bytes) out = name(kept.object);
  return out;
}

Status HeapChecker::finish() {
  HIROBA_TRY(give_up(0));
  Status status;
  std::map<std::string, std::pair<uint64_t, uint64_t>> left;  // by place: objects and bytes
  uint64_t objects = 0, bytes = 0;
  Pages fresh;
  config_.objects->for_each([&](uint64_t position, const HeapObject& object) {
    refresh(position, fresh);
    if (status.ok()) status = check_margin(position, object, nullptr);
    const std::string place = config_.sites->name(config_.rank, object.site);
    if (place == Heap::unnamed_place) return;
    auto& [n, sum] = left[place];
    ++n, sum += object.bytes, ++objects, bytes += object.bytes;
  });
  HIROBA_TRY(std::move(status));
  if (objects == 0) return {};
  std::vector<std::pair<std::string, std::pair<uint64_t, uint64_t>>> places(left.begin(), left.end());
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(most, places.size()); ++i)
    text += format("%s%s: %lu (%s)", i == 0 ? "" : ", ", places[i].first.c_str(), places[i].second.first,
                   show_bytes(places[i].second.second).c_str());
  if (places.size() > most) text += format(" and %zu more places", places.size() - most);
  log_line("check: %lu objects of the heap, %s, were not freed; allocated at %s", objects, show_bytes(bytes).c_str(),
           text.c_str());
  return {};
}

}  // namespace hiroba
