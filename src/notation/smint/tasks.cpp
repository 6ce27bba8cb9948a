// Loops of smint.h whose tiles are tasks: translates arguments for the floor of loops, which cuts the iterations, and
// passes the result to the interface of tasks.
#include <algorithm>
#include <span>
#include <vector>

#include "base/log.hpp"
#include "notation/smint/smint_process.hpp"
#include "smint.h"
#define HIROBA_NO_PLACES
#include "task.h"

namespace hiroba {

namespace {

static_assert(TileBox::most_dims == HIROBA_SECTION_DIMS);
static_assert(sizeof(smint_span) == sizeof(Span) && sizeof(smint_affine) == sizeof(Affine));
static_assert(sizeof(smint_label) == sizeof(hiroba_task_label));

TileAccess access_of(const smint_access& access) {
  TileAccess out = {access.flags, static_cast<char*>(const_cast<void*>(access.base)), 0, access.element, {}};
  for (int d = 0; d < access.dims; ++d) {
    out.offset += access.low[d] * access.stride[d];
    for (size_t k = 0; k < SMINT_LOOPS; ++k) out.move[k] += access.factor[d][k] * access.stride[d];
  }
  return out;
}

hiroba_access used(const TileBox& box) {
  hiroba_access out = hiroba_use(HIROBA_IN, box.address, box.bytes);
  const bool reads = (box.flags & Access::reads) != 0, writes = (box.flags & Access::writes) != 0;
  if (writes) out.mode = box.exact && !reads ? HIROBA_OUT : HIROBA_INOUT;
  out.section.dims = box.dims;
  std::copy_n(box.count.data(), box.dims, out.section.count);
  std::copy_n(box.stride.data(), box.dims, out.section.stride);
  return out;
}

// Returns the size that gives four tiles for each thread of the job.
int64_t chosen(const TileRange& range) {
  const int64_t values = std::max<int64_t>(1, range.last - range.low + 1),
                tasks = int64_t{4} * sms_nprocs * hiroba_task_threads();
  return (values - 1) / tasks + 1;
}

struct Tiled {
  std::span<const Span> loops;
  std::vector<TileAccess> accesses;
  std::vector<Interval> within;  // by loop
  std::vector<int64_t> size;
  void (*body)(void*);
  void* data;
  size_t bytes;
  hiroba_task_spec spec;
  std::vector<TileBox> boxes;
  std::vector<hiroba_access> list;

  void create(const TileRanges& ranges) {
    boxes_of(accesses, loops, ranges, boxes);
    list.clear();
    for (TileBox& box : boxes) {  // data that is read elsewhere in the tile is not only written
      box.exact = box.exact && std::none_of(boxes.begin(), boxes.end(), [&](const TileBox& other) {
                    return &other != &box && (other.flags & Access::reads) != 0 && other.address < box.end() &&
                           box.address < other.end();
                  });
      list.push_back(used(box));
    }
    auto* const tile = static_cast<smint_tile*>(data);
    for (size_t k = 0; k < within.size(); ++k) tile->first[k] = within[k].begin, tile->end[k] = within[k].end;
    hiroba_task_copy_at(body, data, bytes, list.data(), static_cast<int>(list.size()), &spec);
  }

  // Chooses the tiles of loops whose size is the library's choice, by all values that the loop may have.
  void choose() {
    TileRanges ranges;
    ranges_of(loops.first(size.size()), {}, ranges);
    for (size_t k = 0; k < size.size(); ++k)
      if (size[k] == SMINT_TILE_AUTO) size[k] = chosen(ranges[k]);
  }

  // Cuts loop k; the tile of the outer loops is known.
  void cut(size_t k) {
    TileRanges ranges;
    const bool whole = k == size.size();
    if (!ranges_of(whole ? loops : loops.first(k + 1), {within.data(), k}, ranges)) return;
    if (whole) return create(ranges);
    within.resize(k + 1);
    const int64_t tile = size[k], last = ranges[k].last;
    for (int64_t begin = floor_div(ranges[k].low, tile) * tile; begin <= last; begin += tile) {
      within.resize(k + 1), within[k] = {begin, begin + tile};
      cut(k + 1);
    }
  }
};

// Ends the job if the call is wrong.
void check(std::span<const smint_access> accesses, int depth, std::span<const int64_t> tile, const char* place) {
  if (depth > SMINT_LOOPS || tile.empty() || tile.size() > static_cast<size_t>(std::min(depth, SMINT_SHARED)))
    end_job(1, "%s: tiles of %zu in %d loops; at most %d of at most %d loops are tiled", place, tile.size(), depth,
            SMINT_SHARED, SMINT_LOOPS);
  for (const int64_t size : tile)
    if (size < 1 && size != SMINT_TILE_AUTO)
      end_job(1, "%s: a tile of %ld iterations; it has at least one", place, size);
  for (const smint_access& access : accesses)
    if (!std::equal(access.low, access.low + access.dims, access.high))
      end_job(1, "%s: %s is a range in each iteration; name each element as an access of its own", place, access.text);
}

}  // namespace

SMINT_EXPORT void smint_tasks(void (*body)(void*), void* data, size_t bytes, const smint_access accesses[], int count,
                              const smint_span loops[], int depth, const int64_t tile[], int tiled,
                              const smint_label* label) {
  check({accesses, static_cast<size_t>(count)}, depth, {tile, static_cast<size_t>(tiled)}, label->place);
  Tiled all = {{reinterpret_cast<const Span*>(loops), static_cast<size_t>(depth)},
               std::vector<TileAccess>(static_cast<size_t>(count)),
               {},
               std::vector<int64_t>(tile, tile + tiled),
               body,
               data,
               bytes,
               {reinterpret_cast<const hiroba_task_label*>(label), HIROBA_ANYWHERE, 0},
               {},
               {}};
  std::transform(accesses, accesses + count, all.accesses.begin(), access_of);
  all.within.reserve(SMINT_SHARED);
  all.choose();
  all.cut(0);
}

SMINT_EXPORT void smint_known(const void* table, const char* text, const char* place) {
  Array* array = nullptr;
  if (process_memory("parallel for tasks").arrays().find(table, array).ok())
    end_job(1,
            "%s: subscripts are read from %s, which is shared memory that tasks may not have written yet; read them"
            " from private memory, which is known when tasks are created",
            place, text);
}

SMINT_EXPORT void smint_taskwait(const char* place) { hiroba_taskwait_at(place); }

}  // namespace hiroba
