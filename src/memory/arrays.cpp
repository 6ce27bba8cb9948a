#include "memory/arrays.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "memory/parts.hpp"
#include "memory/placement.hpp"

namespace hiroba {

namespace {

// Elements with the size of a number are numbers; all others are bytes.
uint8_t scalar_of(uint64_t element_bytes) {
  return element_bytes <= 8 && std::has_single_bit(element_bytes) ? static_cast<uint8_t>(element_bytes) : 1;
}

Status check_runs(const std::vector<HomeRun>& homes) {
  constexpr size_t most_runs = 16384;
  if (homes.size() <= most_runs) return {};
  return Status::error(
      "this distribution cuts the array into %zu page runs, more than %zu mappings; divide an outer dimension instead",
      homes.size(), most_runs);
}

// Finds the place of a new array in the address range: free addresses, or those of the memory that becomes the array.
Status find_place(MemoryParts& parts, const Arrays::Request& request, const Array& array, uint64_t pages,
                  uint64_t& offset) {
  if (request.adopts != nullptr) return offset = parts.space.offset(request.adopts), Status();
  const uint64_t start = choose_start(array.homes, parts.space.stagger() >> page_shift);
  return parts.space.take(pages << page_shift, start << page_shift, offset);
}

// Copies memory that becomes an array to its home, before any rank maps that. Pages of zeros, as of large variables
// without first values, take no memory there.
Status give_contents(const MemoryParts& parts, const Arrays::Request& request) {
  if (request.adopts == nullptr || parts.job.rank != request.first) return {};
  const char* const from = static_cast<const char*>(request.adopts);
  const uint64_t bytes = request.element_bytes * static_cast<uint64_t>(request.dim[0]);
  static constexpr char zeros[page_bytes] = {};
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t part = std::min(page_bytes - done % page_bytes, bytes - done);
    const auto to = static_cast<off_t>(parts.space.offset(from) + done);
    const bool is_zero = std::memcmp(from + done, zeros, part) == 0;
    const ssize_t wrote = is_zero ? static_cast<ssize_t>(part) : pwrite(parts.node_fd(), from + done, part, to);
    if (wrote <= 0)
      return Status::error("%s: cannot share the program's variables (%s)", request.call, explain_error(errno).c_str());
    done += static_cast<uint64_t>(wrote);
  }
  return {};
}

// Adds to an error for lack of room what has it: the largest arrays.
Status with_holders(const MemoryParts& parts, Status status) {
  if (status.ok()) return status;
  constexpr size_t most = 3;
  std::vector<const Array*> largest;
  parts.table.for_each_live([&](const Array& a) {
    if (!a.is_heap && !a.sparse) largest.push_back(&a);
  });
  std::sort(largest.begin(), largest.end(),
            [](const Array* a, const Array* b) { return a->distribution.bytes() > b->distribution.bytes(); });
  std::string holders;
  for (size_t i = 0; i < std::min(most, largest.size()); ++i)
    holders += format("%s%s has %s", i == 0 ? "; array " : ", ", largest[i]->name,
                      show_bytes(largest[i]->distribution.bytes()).c_str());
  return Status::error(status.message() + holders);
}

}  // namespace

Status in_call(const char* call, Status status) {
  return status.ok() ? std::move(status) : Status::error(call + (": " + status.message()));
}

Status Arrays::set_scalar(void* data, size_t bytes, const char* call) {
  Array* array = nullptr;
  HIROBA_TRY(in_call(call, find_first(data, array)));
  if (bytes != 1 && scalar_of(bytes) != bytes)
    return Status::error("%s: values of an array have 1, 2, 4 or 8 bytes", call);
  if (array->is_heap) return Status::error("%s: the address is of an object in %s", call, array->name);
  array->scalar = static_cast<uint8_t>(bytes);
  return {};
}

Status Arrays::allocate(const Request& request, void*& out) {
  HIROBA_TRY(give_contents(parts_, request));
  HIROBA_TRY(parts_.collective.barriers().all(format("%s at %s", request.call, request.place).c_str(),
                                              Barriers::tag_of(request.call)));
  auto array = std::make_unique<Array>();
  if (request.cuts.empty())
    HIROBA_TRY(Distribution::make(request.dim, request.div, request.element_bytes, request.first, request.count,
                                  parts_.job.nranks, array->distribution));
  else HIROBA_TRY(Distribution::make_cut(request.cuts, request.element_bytes, parts_.job.nranks, array->distribution));
  const uint64_t bytes = array->distribution.bytes();
  const uint64_t pages = (bytes + page_bytes - 1) >> page_shift;
  HIROBA_TRY(parts_.space.check(pages << page_shift));
  const uint64_t gap = parts_.check ? (pages << page_shift) - bytes : 0;
  array->homes = home_runs(array->distribution, pages, gap);
  uint64_t offset = 0;
  HIROBA_TRY(with_holders(parts_, find_place(parts_, request, *array, pages, offset)));
  array->first_page = offset >> page_shift;
  array->end_page = array->first_page + pages;
  for (HomeRun& run : array->homes) run.first += array->first_page;
  array->data = parts_.space.base() + offset + gap;
  std::strncpy(array->name, request.place, sizeof array->name - 1);
  array->watched = parts_.races.on() && request.watched, array->own_open = request.own_open;
  array->sparse = request.sparse, array->closed_pages = request.closed_pages,
  array->closable = request.closable && !parts_.check;
  array->freed_by = request.freed_by;
  array->scalar = scalar_of(request.element_bytes);
  if (request.parts.guard > 0) array->parts = request.parts;
  HIROBA_TRY(with_holders(parts_, check_room(*array, array->homes)));
  HIROBA_TRY(map_homes(*array));
  parts_.huge_pages.advise(*array);
  HIROBA_TRY(parts_.affinity.place_new(*array));
  HIROBA_TRY(close_guards(*array));
  if (parts_.cache != nullptr) HIROBA_TRY(parts_.cache->copies.add(*array, parts_.twin_at_fetch));
  parts_.home_policies.place_new(*array);
  out = array->data;
  Array& inserted = *array;
  parts_.table.insert(std::move(array));
  if (parts_.races.on()) parts_.races.recorder().add(inserted);
  // No rank may use the array before all have it.
  return parts_.collective.barriers().all(request.call, Barriers::tag_of(request.call) + 1);
}

// Closes the guards after the parts that are mapped here.
Status Arrays::close_guards(const Array& array) const {
  const GuardedParts& parts = array.parts;
  for (int r = 0; parts.stride != 0 && r < parts_.job.nranks; ++r) {
    char* const guard = array.data + static_cast<uint64_t>(r + 1) * parts.stride - parts.guard;
    if (parts_.is_here(r) && mprotect(guard, parts.guard, PROT_NONE) != 0)
      return Status::error("check: cannot close the pages after %s %d's part of %s (%s)", parts.holder, r,
                           parts.name.c_str(), explain_error(errno).c_str());
  }
  return {};
}

// Attaches every home run, and maps the runs with their home on this node.
Status Arrays::map_homes(const Array& array) {
  HIROBA_TRY(check_runs(array.homes));
  for (const HomeRun& run : array.homes) {
    const uint64_t offset = run.first << page_shift, bytes = run.pages << page_shift;
    HIROBA_TRY(parts_.transport->attach(offset, bytes, run.rank));
    if (!parts_.is_here(run.rank)) continue;
    HIROBA_TRY(map_of_node(parts_, offset, bytes));
  }
  return {};
}

// All virtual nodes share this machine's memory; other hosts have their own.
Status Arrays::check_room(const Array& array, const std::vector<HomeRun>& homes) const {
  if (parts_.sparse) return {};
  uint64_t wanted = 0;
  const auto add = [&](const Array& a, const std::vector<HomeRun>& runs) {
    for (const HomeRun& run : runs) {
      const bool here = parts_.job.node_fds[parts_.job.node_of(run.rank)] >= 0;
      wanted += here ? (run.pages << page_shift) - a.parts.guard : 0;
    }
  };
  if (array.sparse) return {};
  add(array, homes);
  parts_.table.for_each_live([&](const Array& other) {
    if (!other.is_heap && !other.sparse && &other != &array) add(other, other.homes);
  });
  if (wanted <= machine_memory()) return {};
  return Status::error(
      "%s for this array makes %s of shared arrays, and this machine has %s of memory; if the array is to be touched "
      "only in parts, use --sparse yes",
      show_bytes(array.distribution.bytes()).c_str(), show_bytes(wanted).c_str(), show_bytes(machine_memory()).c_str());
}

// The rest of the last page after the array, and of the first page before it, belongs to no array and stays zero.
Status Arrays::check_ends(const Array& array) const {
  const char* const begin = parts_.space.base() + (array.first_page << page_shift);
  const char* const end = parts_.space.base() + (array.end_page << page_shift);
  const char* const data_end = array.data + array.distribution.bytes();
  const auto here = [&](uint64_t page) { return parts_.is_here(array.home(page).rank); };
  if (here(array.end_page - 1))
    for (const char* p = data_end; p < end; ++p)
      if (*p != 0) return Status::error("something wrote past the end of an array: " + explain(p));
  if (here(array.first_page))
    for (const char* p = begin; p < array.data; ++p)
      if (*p != 0) return Status::error("something wrote before the start of an array: " + explain(p));
  return {};
}

Status Arrays::check_ends() const {
  Status status;
  parts_.table.for_each_live([&](const Array& array) {
    if (status.ok()) status = check_ends(array);
  });
  return status;
}

// Fails if a started operation that was not waited for uses the array.
Status Arrays::unused(const Array& array) const {
  const char* const end = parts_.space.base() + (array.end_page << page_shift);
  const std::string user = parts_.collective.requests().user_of(array.data, end);
  if (user.empty()) return {};
  return Status::error("array %s is in use by %s, which was not waited for; wait for it first", array.name,
                       user.c_str());
}

// Finds the array that begins at the address.
Status Arrays::find_first(void* data, Array*& out) const {
  HIROBA_TRY(find(data, out));
  if (out->data == data) return {};
  return Status::error("the address is %lu bytes inside array %s; give the address that the allocation returned",
                       static_cast<char*>(data) - out->data, out->name);
}

Status Arrays::free(void* data, const char* call) {
  if (!parts_.space.contains(data))  // before the ranks compare calls, which would only report a difference
    return in_call(call, Status::error("the address is in no shared array: has the pointer got another value since its "
                                       "array was allocated? give the address that the allocation returned"));
  if (Array* known = nullptr; find(data, known).ok()) {
    if (known->is_heap)
      return in_call(call,
                     Status::error("the address is of an object in %s; %s frees it", known->name, known->freed_by));
    HIROBA_TRY(in_call(call, unused(*known)));
  }
  HIROBA_TRY(parts_.collective.barriers().all(call));
  Array* array = nullptr;
  HIROBA_TRY(in_call(call, find_first(data, array)));
  HIROBA_TRY(parts_.races.find(call));
  if (parts_.races.on()) parts_.races.begin_epoch(), parts_.races.recorder().remove(*array);
  HIROBA_TRY(in_call(call, check_ends(*array)));
  const uint64_t offset = array->first_page << page_shift, bytes = (array->end_page - array->first_page) << page_shift;
  array->freed = true, ++changes_;
  freed.add(array->counters);
  parts_.run_report.array_ends(*array);
  parts_.home_policies.forget(*array);
  const Space::Room around = parts_.space.room_of(offset);
  const PageRun room = {around.begin >> page_shift, (around.end - around.begin) >> page_shift};
  if (parts_.cache != nullptr) {
    const PageRun all = {array->first_page, array->end_page - array->first_page};
    parts_.home_writes.remove({&all, 1});
    parts_.cache->remove(*array);
    parts_.cache->clear_tables(room);
    parts_.states.reset(room.first, room.pages);
  }
  HIROBA_TRY(parts_.space.clear(offset, bytes));
  parts_.transport->detach(offset, bytes);
  HIROBA_TRY(parts_.collective.barriers().all(call, Barriers::tag_of(call) + 1));
  if (parts_.job.leads()) {
    const auto in_units = [](uint64_t at) { return at / Space::unit * Space::unit; };
    const uint64_t begin = in_units(offset), end = in_units(offset + bytes + Space::unit - 1);  // whole huge pages
    punch_hole(parts_.node_fd(), begin, end - begin);
    std::vector<uint64_t> tables = {parts_.layout.touches()};
    for (int r = parts_.job.rank; parts_.cache != nullptr && r < parts_.job.first_rank_of(parts_.job.node + 1); ++r)
      tables.push_back(parts_.layout.directory(r));
    for (const uint64_t table : tables) punch_hole(parts_.node_fd(), table + room.first, room.pages);
  }
  parts_.space.give(offset);
  return {};
}

Status Arrays::check_movable(const Array& array) const {
  if (array.parts.stride == 0 && !array.is_heap) return {};
  return Status::error(
      "%s has a part for each rank, which stays with the rank; only arrays that are distributed as a whole can get "
      "other homes",
      array.parts.stride != 0 ? array.parts.name.c_str() : array.name);
}

// Distributes the same elements in another way.
Status Arrays::distribute(const Array& array, std::span<const int64_t> div, int first, int count, Distribution& next,
                          std::vector<HomeRun>& homes) const {
  const Distribution& old = array.distribution;
  std::vector<int64_t> dim;
  for (int d = 0; d < old.dims(); ++d) dim.push_back(old.dim(d));
  HIROBA_TRY(Distribution::make(dim, div, old.element_bytes(), first, count, parts_.job.nranks, next));
  const auto gap = static_cast<uint64_t>(-array.byte_of(array.first_page));
  homes = home_runs(next, array.end_page - array.first_page, gap);
  for (HomeRun& run : homes) run.first += array.first_page;
  HIROBA_TRY(check_runs(homes));
  return check_room(array, homes);
}

Status Arrays::redistribute(void* data, std::span<const int64_t> div, int first, int count, const char* call) {
  if (Array* known = nullptr; find(data, known).ok()) {
    HIROBA_TRY(in_call(call, check_movable(*known)));
    HIROBA_TRY(in_call(call, unused(*known)));
  }
  HIROBA_TRY(parts_.collective.barriers().all(call));
  Array* array = nullptr;
  HIROBA_TRY(in_call(call, find_first(data, array)));
  Distribution next;
  std::vector<NewHomes> homes(1);
  homes[0].array = array;
  HIROBA_TRY(in_call(call, distribute(*array, div, first, count, next, homes[0].homes)));
  if (parts_.cache != nullptr) parts_.cache->fetches.finish();
  HIROBA_TRY(parts_.consistency.barrier(call));
  if (parts_.races.on()) parts_.races.recorder().remove(*array);
  parts_.touches.forget(*array);
  HIROBA_TRY(parts_.home_moves.apply(homes, call));
  array->distribution = next;
  array->huge.gathered = 0;
  ++changes_, parts_.home_policies.forget(*array);
  parts_.huge_pages.parts_changed(*array);
  if (parts_.races.on()) parts_.races.recorder().add(*array);
  return {};
}

Status Arrays::set_twin(void* data, Twin twin, const char* call) {
  Array* array = nullptr;
  HIROBA_TRY(find(data, array));
  const bool at_fetch = parts_.races.on() || twin == Twin::by_option ? parts_.twin_at_fetch : twin == Twin::at_fetch;
  if (parts_.cache == nullptr) return parts_.collective.barriers().all(call);
  if (at_fetch && !parts_.uffd.tracks_writes())
    return Status::error(
        "%s: twins at the fetch need asynchronous write tracking (Linux 6.7, tracking uffd-async); here: %s", call,
        describe_tracking(parts_).c_str());
  HIROBA_TRY(parts_.consistency.sync_drop(call));  // sends home what is cached and written
  parts_.cache->remove(*array);
  HIROBA_TRY(parts_.cache->copies.add(*array, at_fetch));
  if (parts_.races.on()) parts_.races.recorder().add(*array);
  return {};
}

Status Arrays::preload_only(const void* data, const char* call) {
  Array* array = nullptr;
  HIROBA_TRY(find(data, array));
  array->preloaded_by = call;
  array->preloaded.store(true);
  parts_.huge_pages.parts_changed(*array);
  return {};
}

// ---- what is where -------------------------------------------------------------------------------------------------

Array* Arrays::at(const void* address) const {
  if (!parts_.space.contains(address)) return nullptr;
  Array* const array = parts_.table.live(parts_.page_of(address));
  const char* const at = static_cast<const char*>(address);
  const bool inside = array != nullptr && at >= array->data && at < array->data + array->distribution.bytes();
  return inside ? array : nullptr;
}

Status Arrays::find(const void* address, Array*& out) const {
  Array* const array = at(address);
  if (array == nullptr) return Status::error(explain(address));
  out = array;
  return {};
}

Array* Arrays::by_id(uint64_t id) const { return parts_.table.live(id); }
void Arrays::for_each(const std::function<void(Array&)>& visit) const { parts_.table.for_each_live(visit); }

bool Arrays::is_guard(const void* address) const {
  const Array* const array = parts_.table.live(parts_.page_of(address));
  if (array == nullptr || array->parts.stride == 0) return false;
  const auto at = static_cast<uint64_t>(static_cast<const char*>(address) - array->data);
  return at % array->parts.stride >= array->parts.stride - array->parts.guard;
}

bool Arrays::may_fault(const void* address, size_t bytes) const {
  if (parts_.cache == nullptr || bytes == 0) return false;
  const char* const last = static_cast<const char*>(address) + bytes - 1;
  if (!parts_.space.contains(address) && !parts_.space.contains(last)) return false;
  const Array* const array = parts_.space.contains(address) ? parts_.table.live(parts_.page_of(address)) : nullptr;
  if (array == nullptr || !parts_.space.contains(last)) return true;
  for (uint64_t page = parts_.page_of(address); page <= parts_.page_of(last);) {
    if (page >= array->end_page) return true;
    const HomeRun& run = array->home(page);
    if (!parts_.is_here(run.rank)) return true;
    page = run.first + run.pages;
  }
  return false;
}

std::string element_name(const Array& array, int64_t byte) {
  const Distribution& d = array.distribution;
  std::string indices;
  int64_t element = byte / static_cast<int64_t>(d.element_bytes());
  for (int i = d.dims() - 1; i >= 0; element /= d.dim(i--))
    indices.insert(0, format("[%ld]", i == 0 ? element : element % d.dim(i)));
  return array.name + indices;
}

// Explains an address beside a rank's part.
std::string Arrays::explain_part(const Array& array, const char* address) const {
  const GuardedParts& parts = array.parts;
  const auto distance = address - array.data, stride = static_cast<int64_t>(parts.stride);
  const int64_t part = std::max<int64_t>(0, distance) / stride;
  const auto element = static_cast<int64_t>(parts.element);
  const int64_t byte = distance - part * stride - static_cast<int64_t>(parts.gap);
  const int64_t index = byte < 0 ? -((-byte + element - 1) / element) : byte / element;
  return format("out of range: element %ld of %s %ld's part of %s, which has %lu elements of %lu bytes", index,
                parts.holder, part, parts.name.c_str(), parts.bytes / parts.element, parts.element);
}

// Explains an address to a user who used it wrongly. Also called in the fault handler, just before the process ends.
std::string Arrays::explain(const void* address) const {
  if (!parts_.space.contains(address)) return format("address %p is not in a shared array", address);
  const uint64_t page = parts_.page_of(address);
  const Array* before = parts_.table.find(page);
  if (const Array* const live = parts_.table.live(page); live != nullptr && live->parts.stride != 0)
    return explain_part(*live, static_cast<const char*>(address));
  const Array* after = nullptr;
  parts_.table.for_each_live([&](const Array& a) {
    if (a.first_page > page && (after == nullptr || a.first_page < after->first_page)) after = &a;
  });
  const char* const at = static_cast<const char*>(address);
  const auto describe = [](const Array& a) {
    return format("array %s (%lu elements of %lu bytes)", a.name, a.distribution.elements(),
                  a.distribution.element_bytes());
  };
  if (before != nullptr && before->freed && page < before->end_page)
    return format("use after %s of %s, index %ld", before->freed_by, describe(*before).c_str(),
                  (at - before->data) / static_cast<int64_t>(before->distribution.element_bytes()));
  const uint64_t past =
      before == nullptr ? UINT64_MAX : static_cast<uint64_t>(at - (before->data + before->distribution.bytes()));
  const uint64_t short_of = after == nullptr ? UINT64_MAX : static_cast<uint64_t>(after->data - at);
  if (after != nullptr && short_of < past && short_of < Space::unit)
    return format("out of range: %lu bytes before the start of %s", short_of, describe(*after).c_str());
  if (before == nullptr) return format("address %p belongs to no shared array", address);
  if (at < before->data)
    return format("out of range: %lu bytes before the start of %s", before->data - at, describe(*before).c_str());
  return format("out of range: index %lu, %lu bytes past the end of %s",
                static_cast<uint64_t>(at - before->data) / before->distribution.element_bytes(), past,
                describe(*before).c_str());
}

}  // namespace hiroba
