// Aligned arrays of xmp_global.h: their memory and reflect.
#define SMS_NO_PLACES
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <set>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

// The library's state of an aligned array.
struct Aligned {
  // For --check; threads of a loop may set them together.
  std::atomic<bool> written = false, shadow_written = false;  // in the last loop: elements of its own, of the shadow
  std::atomic<bool> stale = false;                            // no reflect since its own were written
  struct Freed {
    void operator()(void* memory) const { process_memory("xmp_free").rank_memory().free(memory); }
  };
  AlignedLayout layout;
  std::unique_ptr<void, Freed> memory;
  PartDirectory::Name name;
  std::map<std::vector<int>, std::vector<char*>> parts;               // of the members of a team: parts_in()
  std::map<std::vector<int64_t>, std::unique_ptr<Transfer>> shadows;  // by ranks, widths and type of reduce_shadow
};

// Arrays by the address of their part.
std::map<const void*, xmp_aligned*>& allocated() { return instance<std::map<const void*, xmp_aligned*>>(); }

struct Waiting {
  std::set<xmp_aligned*> arrays;    // for the extents of their template
  std::set<xmp_aligned*> pointers;  // descriptors that xmp_malloc may have
};
Waiting& waiting() { return instance<Waiting>(); }

PartDirectory& directory() { return instance<PartDirectory>(); }

Aligned& aligned(const xmp_aligned* array, const char* place) {
  if (array->opaque == nullptr) xmp_aligned_absent(array, place);
  return *static_cast<Aligned*>(array->opaque);
}

// Memory for an array, which all ranks can access. Arrays begin at different cache lines of their pages, because a loop
// over several at equal ones would find them all in the same sets of the caches.
void* zeroes(size_t bytes, const xmp_aligned& a, const char* place, std::unique_ptr<void, Aligned::Freed>& owner) {
  constexpr size_t line = 64, places = 16, apart = 5 * line;
  void* memory = nullptr;
  RankMemory& own = process_memory("xmp_aligned_allocate").rank_memory();
  require_at(own.allocate(bytes + places * apart, format("array %s", a.name).c_str(), memory), place);
  owner.reset(memory);
  return static_cast<char*>(memory) + allocated().size() % places * apart;
}

AlignedLayout::Dim dim_of(const xmp_aligned& a, int d, const Template& on, const char* place) {
  AlignedLayout::Dim out;
  const xmp_template& t = *a.with;
  out.extent = a.extent[d], out.axis = a.axis[d];
  if (out.extent < 1)
    end_job(1, "%s: dimension %d of array %s has %ld elements; it must have one at least", place, d + 1, a.name,
            out.extent);
  out.full = a.low[d] == XMP_REST;
  if (!out.full) out.low = a.low[d], out.high = a.high[d];
  if (!out.full && (out.low < 0 || out.high < 0))
    end_job(1, "%s: the shadow of dimension %d of %s is %ld:%ld; it cannot be negative", place, d + 1, a.name, out.low,
            out.high);
  if (out.axis < 0) return out;
  const int64_t first = a.offset[d], last = first + out.extent - 1, low = t.lower[out.axis];
  if (first < low || last >= low + t.extent[out.axis])
    end_job(1, "%s: dimension %d of array %s is aligned with the indices %ld..%ld of template %s, which has %ld..%ld",
            place, d + 1, a.name, first, last, t.name, low, low + t.extent[out.axis] - 1);
  out.shift = first - low;
  if (on.axes[out.axis].turns() && (out.low > 0 || out.high > 0))
    end_job(1, "%s: dimension %d of array %s has a shadow, and is distributed by cyclic; take block, or shadow [*]",
            place, d + 1, a.name);
  return out;
}

void set_part(xmp_aligned& a, const AlignedLayout& layout, const std::vector<int>& at) {
  for (int d = 0; d < a.dims; ++d) {
    const AlignedLayout::Part part = at.empty() ? AlignedLayout::Part() : layout.part(d, at);
    a.size[d] = std::max<int64_t>(part.size, 1), a.first[d] = part.first, a.count[d] = part.count;
    a.shift[d] = layout.dim(d).shift, a.width[d] = a.cycle[d] = 1;
    if (layout.turns(d)) a.width[d] = layout.axis(d)->width(), a.cycle[d] = layout.axis(d)->cycle();
  }
}

}  // namespace

namespace {

void* allocate(xmp_aligned* a, const char* place) {
  const Template& on = template_of(a->with, place);
  if (a->opaque != nullptr) end_job(1, "%s: array %s is allocated already; xmp_free it first", place, a->name);
  if (a->dims < 1 || a->dims > XMP_DIMS)
    end_job(1, "%s: array %s has %d dimensions; it can have 1..%d", place, a->name, a->dims, XMP_DIMS);
  std::vector<AlignedLayout::Dim> dims;
  for (int d = 0; d < a->dims; ++d) {
    dims.push_back(dim_of(*a, d, on, place));
    for (int e = 0; e < d; ++e)
      if (a->axis[d] >= 0 && a->axis[d] == a->axis[e])
        end_job(1, "%s: dimensions %d and %d of array %s are aligned with one dimension of template %s", place, e + 1,
                d + 1, a->name, a->with->name);
  }
  auto made = std::make_unique<Aligned>();
  made->layout = AlignedLayout(on, std::move(dims), a->element);
  const std::vector<int> at = on.grid.coordinates(sms_rank);
  set_part(*a, made->layout, at);
  size_t bytes = a->element;
  for (int d = 0; d < a->dims; ++d) bytes *= static_cast<size_t>(a->size[d]);
  a->data = zeroes(bytes, *a, place, made->memory);
  int64_t before = 0;
  if (!at.empty()) {
    const auto strides = made->layout.strides(at);
    for (int d = 0; d < a->dims; ++d) before += made->layout.part(d, at).memory_first * strides[d];
  }
  a->base = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(a->data) - static_cast<uintptr_t>(before));
  made->name = directory().add(format("%s at %s", a->name, a->place), executing(), a->data);
  a->opaque = made.release();
  allocated()[a->data] = a;
  return a->data;
}

}  // namespace

void start_aligned(Memory& memory, const World& world) {
  require_at(memory.rank_memory().start(), "xmp_init");
  void* table = nullptr;
  require_at(memory.rank_memory().allocate(PartDirectory::bytes, "the table of aligned arrays", table), "xmp_init");
  directory().start(world, static_cast<char*>(table));
}

XMP_EXPORT void* xmp_aligned_allocate(xmp_aligned* a) {
  start_coarrays("xmp_aligned_allocate", a->place);
  if (!awaits_fix(*a->with)) return allocate(a, a->place);
  waiting().arrays.insert(a);
  return nullptr;
}

void allocate_waiting(const xmp_template& t) {
  std::erase_if(waiting().arrays, [&](xmp_aligned* a) {
    if (a->with == &t) allocate(a, a->place);
    return a->with == &t;
  });
}

XMP_EXPORT void xmp_aligned_describe(xmp_aligned* a) {
  start_coarrays("xmp_aligned_describe", a->place);
  waiting().pointers.insert(a);
}

xmp_aligned* aligned_descriptor(const void* descriptor) {
  for (xmp_aligned* const each : waiting().pointers)
    if (each == descriptor) return each;
  return nullptr;
}

const xmp_aligned* find_aligned(const void* descriptor) {
  for (const auto& [data, each] : allocated())
    if (each == descriptor) return each;
  for (xmp_aligned* const each : waiting().arrays)
    if (each == descriptor) return each;
  return aligned_descriptor(descriptor);
}

const AlignedLayout& layout_of(const xmp_aligned& a, const char* place) { return aligned(&a, place).layout; }

void require_all_nodes(const xmp_aligned& a, const AlignedLayout& layout, const Team& set, const char* what,
                       const char* place) {
  for (const int rank : layout.on().grid.ranks)
    if (set.find(rank) < 0)
      end_job(1, "%s: %s of %s is executed without rank %d, which has a part of it", place, what, a.name, rank);
}

void* allocate_aligned(xmp_aligned& a, int dims, const int64_t extent[], const char* place) {
  if (dims != a.dims)
    end_job(1, "%s: xmp_malloc of array %s, which has %d dimensions, with %d extents", place, a.name, a.dims, dims);
  for (int d = 1; d < dims; ++d)  // the first one is that of the pointer
    if (a.opaque == nullptr && a.extent[d] != extent[d])
      end_job(1, "%s: xmp_malloc gives dimension %d of array %s %ld elements, and its declaration %ld", place, d + 1,
              a.name, extent[d], a.extent[d]);
  a.extent[0] = extent[0];
  return allocate(&a, place);
}

bool free_aligned(void* what, const char* place) {
  const auto found = allocated().find(what);
  xmp_aligned* const array = found != allocated().end() ? found->second : aligned_descriptor(what);
  if (array != nullptr) xmp_aligned_free(array, place);
  return array != nullptr;
}

XMP_EXPORT void xmp_aligned_absent(const xmp_aligned* a, const char* place) {
  if (a->with != nullptr && awaits_fix(*a->with)) template_of(a->with, place);
  end_job(1, "%s: array %s has no memory yet: #pragma xmp align has not been executed, or xmp_malloc is missing", place,
          a->name);
}

XMP_EXPORT void xmp_aligned_free(xmp_aligned* a, const char* place) {
  Aligned& made = aligned(a, place);
  directory().remove(made.name);
  delete &made;
  allocated().erase(a->data);
  a->opaque = a->data = a->base = nullptr;
}

// The block may have ended the job, and with it all memory.
XMP_EXPORT void xmp_aligned_leave(xmp_aligned* a) {
  waiting().arrays.erase(a);
  waiting().pointers.erase(a);
  if (a->opaque != nullptr && process_started()) xmp_aligned_free(a, a->place);
}

XMP_EXPORT const xmp_aligned* xmp_aligned_of(const void* data, const char* name, const char* place) {
  const auto found = allocated().find(data);
  if (found != allocated().end()) return found->second;
  end_job(1, "%s: parameter %s is aligned, and what is passed is not the name of an aligned array", place, name);
}

// ---- checks ---------------------------------------------------------------------------------------------------------

namespace {

// Ends the job because this node does not have an index.
[[noreturn]] void not_here(const xmp_aligned& a, bool turns, int d, int64_t index, const char* text,
                           const char* place) {
  std::string has = "which has none";
  const bool full = a.low[d] == XMP_REST;
  if (turns && a.count[d] > 0)
    has = format("which has blocks of %ld, each %ld after the one before, from %ld on", a.width[d], a.cycle[d],
                 a.first[d]);
  else if (a.count[d] > 0)
    has = format("which has %ld..%ld, and the shadow %ld:%ld", a.first[d], a.first[d] + a.count[d] - 1,
                 full ? 0 : a.low[d], full ? 0 : a.high[d]);
  end_job(1, "%s: %s: index %ld in dimension %d of %s is not on this node of %s, %s", place, text, index, d + 1, a.name,
          a.with->onto->name, has.c_str());
}

}  // namespace

XMP_EXPORT int64_t xmp_checked(const xmp_aligned* a, int d, int64_t index, enum xmp_use use, const char* text,
                               const char* place) {
  Aligned& made = aligned(a, place);
  const AlignedLayout& layout = made.layout;
  const bool inside = index >= 0 && index < a->extent[d], owns_any = a->count[d] > 0;
  if (layout.turns(d)) {
    if (!inside || !owns_any || layout.owner(d, index) != layout.owner(d, a->first[d]))
      not_here(*a, true, d, index, text, place);
    if (use == XMP_WRITES) made.written = true;
    return layout.number(d, index);
  }
  const bool full = a->low[d] == XMP_REST, own = index >= a->first[d] && index < a->first[d] + a->count[d];
  const int64_t low = full ? 0 : a->first[d] - a->low[d], high = full ? a->extent[d] : low + a->size[d];
  if (index < low || index >= high || (!owns_any && !full)) not_here(*a, false, d, index, text, place);
  if (use == XMP_WRITES) (own ? made.written : made.shadow_written) = true;
  if (use == XMP_READS && !own && inside && made.stale)
    end_job(1,
            "%s: %s: index %ld in dimension %d of %s is in the shadow, which is older than what nodes have written "
            "since the last reflect; write #pragma xmp reflect(%s) before this loop",
            place, text, index, d + 1, a->name, a->name);
  return index;
}

XMP_EXPORT void xmp_check_loop(const xmp_aligned* a, const char* place) {
  Aligned& made = aligned(a, place);
  if (made.shadow_written.exchange(false)) made.stale = false;
  else if (made.written) made.stale = true;
  made.written = false;
}

// ---- parts of other nodes ------------------------------------------------------------------------------------------

std::span<char* const> parts_in(const Team& team, const xmp_aligned& a, const Call& call) {
  Collective& all = coarrays(call.name, call.place).collective();
  const World& world = all.world();
  const std::vector<int> ranks = team.ranks();
  const auto [found, made] = aligned(&a, call.place).parts.try_emplace(ranks);
  if (!made || !std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return world.reaches(rank); }))
    return found->second;
  Members other;
  Members& members = all.teams().members_of(team, other);
  const uint64_t own = static_cast<uint64_t>(static_cast<char*>(a.data) - world.base);
  std::vector<uint64_t> offsets(ranks.size());
  const Plan plan = plan_allgather(all.teams().member_of(members), &own, offsets.data(), sizeof own);
  require_at(all.teams().perform(members, plan, call), call.place);
  for (size_t m = 0; m < ranks.size(); ++m) found->second.push_back(world.reach(ranks[m], offsets[m]));
  return found->second;
}

Status find_part(const xmp_aligned& a, int rank, uint64_t& offset, const char* place) {
  return directory().find(aligned(&a, place).name, rank, format("array %s", a.name), offset);
}

// ---- reflect -------------------------------------------------------------------------------------------------------

namespace {

std::vector<Transfer::Width> widths_of(const xmp_aligned& a, const AlignedLayout& layout, const xmp_width width[],
                                       const char* place) {
  std::vector<Transfer::Width> out;
  for (int d = 0; d < a.dims; ++d) {
    const AlignedLayout::Dim& dim = layout.dim(d);
    Transfer::Width one = {dim.low, dim.high, width[d].periodic != 0};
    if (width[d].low != XMP_REST) {
      one.low = width[d].low, one.high = width[d].high;
      if (!dim.full && (one.low > dim.low || one.high > dim.high || one.low < 0 || one.high < 0))
        end_job(1, "%s: reflect of width %ld:%ld in dimension %d of %s, whose shadow is %ld:%ld", place, one.low,
                one.high, d + 1, a.name, dim.low, dim.high);
    }
    out.push_back(one);
  }
  return out;
}

// The program's elements have the alignment of their type.
template <typename T>
void add(char* to, int64_t stride, const char* from, int64_t from_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T& sum = *reinterpret_cast<T*>(to + i * stride);
    sum = static_cast<T>(sum + *reinterpret_cast<const T*>(from + i * from_stride));
  }
}

// `type`: that of the elements, for reduce_shadow; -1: reflect.
Transfer& shadow_of(const xmp_aligned& a, const xmp_width width[], int type, bool started, const Call& call) {
  const char* const place = call.place;
  Aligned& made = aligned(&a, place);
  const Team set = executing();
  std::vector<int64_t> key;
  for (int m = 0; m < set.count; ++m) key.push_back(set.rank(m));
  for (int d = 0; d < a.dims; ++d) key.insert(key.end(), {width[d].low, width[d].high, width[d].periodic});
  key.insert(key.end(), {type, started});
  std::unique_ptr<Transfer>& out = made.shadows[key];
  if (out == nullptr) {
    const std::vector<Transfer::Width> widths = widths_of(a, made.layout, width, place);
    require_all_nodes(a, made.layout, set, type < 0 ? "reflect" : "reduce_shadow", place);
    Transfer::Combine combine = nullptr;
    if (type >= 0) with_type(static_cast<Type>(type), [&]<typename T>() { combine = add<T>; });
    TransferSide array = {&made.layout, static_cast<char*>(a.data), {}};
    if (!started) array.parts = parts_in(set, a, call);
    out = std::make_unique<Transfer>(Transfer::of_shadow(set, sms_rank, array, widths, combine));
  }
  return *out;
}

void refresh(const xmp_aligned& a, const char* place) {
  Aligned& made = aligned(&a, place);
  made.written = made.stale = false;
}

void perform_shadow(const xmp_aligned& a, const xmp_width width[], int type, const Call& call) {
  Collective& all = coarrays(call.name, call.place).collective();
  require_at(shadow_of(a, width, type, false, call).perform(all.teams(), call), call.place);
}

xmp_request start_shadow(const xmp_aligned& a, const xmp_width width[], int type, const Call& call) {
  return start_transfer(shadow_of(a, width, type, true, call), nullptr, call);
}

}  // namespace

XMP_EXPORT void xmp_reflect(const xmp_aligned* a, const xmp_width width[], const char* place) {
  perform_shadow(*a, width, -1, {"xmp_reflect", place});
  refresh(*a, place);
}

XMP_EXPORT xmp_request xmp_reflect_start(const xmp_aligned* a, const xmp_width width[], const char* place) {
  refresh(*a, place);
  return start_shadow(*a, width, -1, {"xmp_reflect_start", place});
}

XMP_EXPORT void xmp_reduce_shadow(const xmp_aligned* a, const xmp_width width[], enum xmp_type type,
                                  const char* place) {
  arithmetic_of(type, type, XMP_ADD, place);
  perform_shadow(*a, width, type, {"xmp_reduce_shadow", place});
}

XMP_EXPORT xmp_request xmp_reduce_shadow_start(const xmp_aligned* a, const xmp_width width[], enum xmp_type type,
                                               const char* place) {
  arithmetic_of(type, type, XMP_ADD, place);
  return start_shadow(*a, width, type, {"xmp_reduce_shadow_start", place});
}

}  // namespace hiroba
