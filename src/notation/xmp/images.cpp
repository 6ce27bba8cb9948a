// Images and node arrays: the ranks that they name.
#define SMS_NO_PLACES
#include <algorithm>
#include <set>

#include "base/log.hpp"
#include "notation/xmp/xmp_process.hpp"

XMP_EXPORT xmp_images xmp_executing;
xmp_images xmp_executing = {0, 1, 0, nullptr};

namespace hiroba {

void strides_of(const xmp_nodes& nodes, int stride[]) {
  int product = 1;
  for (int i = 0; i < nodes.dims; ++i) {
    const int d = nodes.first_fastest != 0 ? i : nodes.dims - 1 - i;
    stride[d] = product;
    product *= nodes.extent[d];
  }
}

namespace {

std::vector<xmp_images> outer_sets;  // of the tasks that this process executes

// Image sets that are not first, first + step, ...; each kept once, because node arrays exist until the program ends.
const int* keep_table(std::vector<int> ranks) {
  static std::set<std::vector<int>> tables;
  return tables.insert(std::move(ranks)).first->data();
}

xmp_images images_of(std::vector<int> ranks) {
  const int count = static_cast<int>(ranks.size());
  const int first = count > 0 ? ranks[0] : 0, step = count > 1 ? ranks[1] - ranks[0] : 1;
  bool even = step != 0;
  for (int i = 0; i < count; ++i) even = even && ranks[i] == first + i * step;
  return {first, step, count, even ? nullptr : keep_table(std::move(ranks))};
}

void check_range(const xmp_nodes& nodes, int d, int first, int count, int step, const char* place) {
  const int last = first + (count - 1) * step;
  if (count >= 1 && first >= 0 && first < nodes.extent[d] && last >= 0 && last < nodes.extent[d]) return;
  end_job(1, "%s: dimension %d of node array %s has nodes 0..%d; %d of them from %d in steps of %d are not there",
          place, d + 1, nodes.name, nodes.extent[d] - 1, count, first, step);
}

}  // namespace

int this_image(const char* call) { return coarrays(call), executing().find(sms_rank); }

void execute_all(int nranks) {
  outer_sets.clear();
  xmp_executing = {0, 1, nranks, nullptr};
}

void require_outside(const char* call) {
  if (!outer_sets.empty()) end_job(1, "%s inside of a task; end it with xmp_task_end first", call);
}

int rank_of_image(const Team& set, int image, const char* what, const char* place) {
  if (set.contains(image)) return set.rank(image);
  end_job(1, "%s: image %d of %s does not exist: there are images 0..%d (%d of them)", place, image, what,
          set.count - 1, set.count);
}

int rank_of_node(const xmp_node_reference& one, const char* place) {
  const std::vector<int> ranks = ranks_of(one, place);
  if (ranks.size() != 1)
    end_job(1, "%s: %zu nodes of %s are named where one is meant", place, ranks.size(), one.nodes->name);
  return ranks[0];
}

Team set_of(const xmp_nodes& nodes, const char* place) {
  if (nodes.images.count > 0) return set_of(nodes.images);
  end_job(1, "%s: node array %s is used before xmp_nodes_define", place,
          nodes.name == nullptr ? "without a name" : nodes.name);
}

namespace {

// Returns the ranks of a reference as another rank has them.
std::vector<int> ranks_named_by(int rank, const xmp_node_reference& reference, const char* place) {
  const xmp_nodes& nodes = *reference.nodes;
  const std::vector<int> all = ranks_seen_by(rank, nodes, place);
  if (all.empty()) return {};
  int stride[XMP_DIMS], first[XMP_DIMS], count[XMP_DIMS], step[XMP_DIMS];
  strides_of(nodes, stride);
  for (int d = 0; d < nodes.dims; ++d) {
    const auto& range = reference.range[d];
    first[d] = range.first, count[d] = range.count, step[d] = range.step == 0 ? 1 : range.step;
    if (range.first == XMP_SELF) {
      const auto here = std::find(all.begin(), all.end(), rank);
      if (here == all.end()) return {};
      first[d] = static_cast<int>(here - all.begin()) / stride[d] % nodes.extent[d], count[d] = 1;
    }
    if (count[d] == XMP_REST) count[d] = (nodes.extent[d] - first[d] + step[d] - 1) / step[d];
    check_range(nodes, d, first[d], count[d], step[d], place);
  }
  std::vector<int> ranks;
  int index[XMP_DIMS] = {};
  for (int moved = 0; moved < nodes.dims;) {
    int at = 0;
    for (int d = 0; d < nodes.dims; ++d) at += (first[d] + index[d] * step[d]) * stride[d];
    ranks.push_back(all[static_cast<size_t>(at)]);
    for (moved = 0; moved < nodes.dims; ++moved) {
      const int d = nodes.first_fastest != 0 ? moved : nodes.dims - 1 - moved;
      if (++index[d] < count[d]) break;
      index[d] = 0;
    }
  }
  return ranks;
}

}  // namespace

std::vector<int> ranks_seen_by(int rank, const xmp_nodes& nodes, const char* place) {
  std::vector<int> own = set_of(nodes, place).ranks();
  if (rank == sms_rank || nodes.of == nullptr || nodes.of == XMP_ALL_NODES) return own;
  std::vector<int> out = ranks_named_by(rank, *nodes.of, place);
  out.resize(std::min(out.size(), own.size()));
  return out;
}

std::vector<int> ranks_of(const xmp_node_reference& reference, const char* place) {
  return ranks_named_by(sms_rank, reference, place);
}

Team participants(const xmp_node_reference* on, const char* place) {
  if (on == nullptr) return executing();
  const Team set = set_of(images_of(ranks_of(*on, place)));
  return set.find(sms_rank) < 0 ? Team{0, 1, 0, nullptr} : set;
}

namespace {

// Divides a number of nodes into factors for dimensions, as equal as possible, the greater ones first.
void divide(int nodes, std::vector<int*> dimensions) {
  std::vector<int> factors(dimensions.size(), 1), primes;
  for (int p = 2; p * p <= nodes; ++p)
    for (; nodes % p == 0; nodes /= p) primes.push_back(p);
  if (nodes > 1) primes.push_back(nodes);
  for (size_t i = primes.size(); i-- > 0;) *std::min_element(factors.begin(), factors.end()) *= primes[i];
  std::sort(factors.rbegin(), factors.rend());
  for (size_t d = 0; d < factors.size(); ++d) *dimensions[d] = factors[d];
}

}  // namespace

XMP_EXPORT void xmp_nodes_define(xmp_nodes* nodes) {
  const char* const place = nodes->place == nullptr ? "xmp_nodes_define" : nodes->place;
  start_coarrays("xmp_nodes_define", place);
  if (nodes->name == nullptr) nodes->name = "without a name";
  std::vector<int> ranks;
  if (nodes->of == nullptr || nodes->of == XMP_ALL_NODES) {
    const Team set = nodes->of == nullptr ? executing() : Team::all(sms_nprocs);
    for (int i = 0; i < set.count; ++i) ranks.push_back(set.rank(i));
  } else {
    ranks = ranks_of(*nodes->of, place);
  }
  const int there = static_cast<int>(ranks.size());
  if (nodes->dims < 1 || nodes->dims > XMP_DIMS)
    end_job(1, "%s: node array %s has %d dimensions; it can have 1..%d", place, nodes->name, nodes->dims, XMP_DIMS);
  int64_t product = 1;
  std::vector<int*> open;
  for (int d = 0; d < nodes->dims; ++d) {
    const int extent = nodes->extent[d];
    if (extent < 0)
      end_job(1, "%s: dimension %d of node array %s has %d nodes; it must be positive, or 0 (*)", place, d + 1,
              nodes->name, extent);
    if (extent == 0) open.push_back(&nodes->extent[d]);
    else product = std::min<int64_t>(product * extent, INT32_MAX);
  }
  if (!open.empty() && product > 0 && there % product == 0) {
    divide(static_cast<int>(there / product), open);
    product = there;
  } else if (!open.empty() || product < 1 || product > there) {
    end_job(1, "%s: node array %s does not fit: its dimensions make %ld%s nodes, and there are %d", place, nodes->name,
            product, !open.empty() ? " times *" : "", there);
  }
  ranks.resize(static_cast<size_t>(product));
  const xmp_images images = images_of(std::move(ranks)), before = nodes->images;
  const bool same = images.first == before.first && images.step == before.step && images.count == before.count &&
                    images.table == before.table;
  if (!same) nodes->has_communicator = 0;
  nodes->images = images;
}

XMP_EXPORT int xmp_image_at(const xmp_node_reference* one, const char* place) {
  const int image = executing().find(rank_of_node(*one, place));
  if (image < 0) end_job(1, "%s: the node of %s that is named is not in the executing set", place, one->nodes->name);
  return image;
}

XMP_EXPORT int xmp_task_begin(const xmp_node_reference* on, const char* place) {
  coarrays("xmp_task_begin", place);
  const Team set = participants(on, place), outer = executing();
  if (set.count == 0) return 0;
  for (int i = 0; i < set.count; ++i)
    if (outer.find(set.rank(i)) < 0)
      end_job(1, "%s: task on %s: rank %d is not in the executing set", place, on->nodes->name, set.rank(i));
  outer_sets.push_back(xmp_executing);
  xmp_executing = {set.first, set.step, set.count, set.table};
  return 1;
}

XMP_EXPORT void xmp_task_end(void) {
  if (outer_sets.empty()) end_job(1, "xmp_task_end without xmp_task_begin");
  xmp_executing = outer_sets.back();
  outer_sets.pop_back();
}

XMP_EXPORT int xmp_num_images(void) { return coarrays("xmp_num_images"), xmp_executing.count; }
XMP_EXPORT int xmp_num_nodes(void) { return coarrays("xmp_num_nodes"), xmp_executing.count; }
XMP_EXPORT int xmp_all_num_nodes(void) { return coarrays("xmp_all_num_nodes"), sms_nprocs; }
XMP_EXPORT int xmpc_node_num(void) { return this_image("xmpc_node_num"); }
XMP_EXPORT int xmpc_this_image(void) { return this_image("xmpc_this_image"); }
XMP_EXPORT int xmp_this_image(void) { return this_image("xmp_this_image"); }
XMP_EXPORT int xmp_node_num(void) { return this_image("xmp_node_num") + 1; }
XMP_EXPORT int xmpc_all_node_num(void) { return coarrays("xmpc_all_node_num"), sms_rank; }
XMP_EXPORT int xmp_all_node_num(void) { return coarrays("xmp_all_node_num"), sms_rank + 1; }

XMP_EXPORT int xmp_own_image(const xmp_coarray* coarray, const char* place) {
  coarrays("xmp_own_image", place);
  if (coarray->images == nullptr)
    end_job(1, "%s: coarray %s has not been allocated, or has been freed", place, coarray->name);
  const int image = set_of(*coarray->images).find(sms_rank);
  if (image < 0) end_job(1, "%s: this image is not one of those on which coarray %s is", place, coarray->name);
  return image;
}

}  // namespace hiroba
