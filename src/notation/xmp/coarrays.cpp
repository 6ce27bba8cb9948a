// Start and end, coarrays, and moves of their data: translates arguments for the coarray floor.
#define SMS_NO_PLACES
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/log.hpp"
#include "base/tables/phrases.hpp"
#include "base/wait.hpp"
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

// Its handlers exist from the start of the process on; start_coarrays() starts the rest.
class CoarrayModel final : public Model {
 public:
  Coarrays coarrays;

  Status listen(Transport& transport, const Job&) override {
    coarrays.listen(transport);
    return {};
  }
  Status stop(const char* ends_by) override {
    if (!coarrays.started()) return {};
    HIROBA_TRY(coarrays.locks().none_held(ends_by));
    return coarrays.stop();
  }
  void ended() override {
    execute_all(0);
    deregister_all_coarrays();
  }
  void report() const override { coarrays.report_statistics(); }
};

}  // namespace

Model& coarray_model() { return instance<CoarrayModel>(); }

bool coarrays_started() { return instance<CoarrayModel>().coarrays.started(); }

Coarrays& coarrays(const char* call, const char* place) {
  Coarrays& all = instance<CoarrayModel>().coarrays;
  if (!all.started()) not_started(Call{call, place}.text().c_str(), "xmp_init", "xmp_finalize");
  return all;
}

void start_coarrays(const char* call, const char* place) {
  Coarrays& all = instance<CoarrayModel>().coarrays;
  if (all.started()) return;
  if (!process_started()) coarrays(call, place);
  Memory& memory = process_memory(call);
  require_at(all.start(memory), "xmp_init");
  start_aligned(memory, all.collective().world());
  phrases().end = "xmp_finalize";
  execute_all(memory.job().nranks);
  xmp_checking = memory.checking() ? 1 : 0;
}

// ---- sections ------------------------------------------------------------------------------------------------------

CoarraySection section_of(const xmp_coarray* coarray, int image, const void* address, size_t element,
                          const char* place) {
  CoarraySection out;
  out.section = Section(address, element), out.place = place;
  if (coarray == nullptr) return out;
  if (coarray->opaque == nullptr)
    end_job(1, "%s: coarray %s has not been allocated, or has been freed", place, coarray->name);
  out.coarray = static_cast<const Coarray*>(coarray->opaque);
  out.rank = rank_of_image(set_of(*coarray->images), image, out.coarray->name.c_str(), place);
  return out;
}

CoarraySection section_of(const xmp_section& section, size_t element, const char* place) {
  static_assert(XMP_DIMS <= Section::most_dims);
  CoarraySection out = section_of(section.coarray, section.image, section.address, element, place);
  if (section.dims < 0 || section.dims > XMP_DIMS)
    end_job(1, "%s: a section has %d dimensions; it can have 0..%d", place, section.dims, XMP_DIMS);
  int64_t elements = 1, span = 0, reach = 0;
  bool too_large = false;
  for (int d = 0; d < section.dims; ++d) {
    const int64_t count = section.count[d], stride = section.stride[d];
    if (count < 0) end_job(1, "%s: dimension %d of a section has length %ld", place, d + 1, count);
    out.section.add(count, stride);
    too_large = too_large || __builtin_mul_overflow(elements, count, &elements) ||
                __builtin_mul_overflow(count, stride, &span) ||
                __builtin_sub_overflow(reach, span < 0 ? span : -span, &reach);
  }
  if (section.coarray == nullptr && section.address == nullptr && elements > 0)
    end_job(1, "%s: a section%s of memory at address NULL; is a pointer not set?", place,
            section.dims == 0 ? "" : (" " + out.section.shape()).c_str());
  constexpr int64_t most = INT64_MAX >> 16;  // larger than any memory, and no sum of such numbers overflows
  if (too_large || elements > most || reach > most)
    end_job(1, "%s: a section %s reaches further than any memory", place, out.section.shape().c_str());
  return out;
}

namespace {

bool each_image(const xmp_section* section) {
  return section != nullptr && section->coarray != nullptr && section->image == XMP_EACH_IMAGE;
}

// One side of an assignment with as many images as a dimension of one of them has.
class EachImage {
 public:
  EachImage(const xmp_section& side, const xmp_section& each, const char* place)
      : side_(side), each_(each_image(&side)) {
    const int64_t images = each.coarray->images == nullptr ? 0 : each.coarray->images->count;
    const bool rest = each_ && side.dims > 0 && side.count[0] == XMP_REST;
    if (rest || (side.dims == 0 && !each_) || (side.dims > 0 && side.count[0] == images)) return;
    // A row of all elements, those of image 0 first.
    if (!each_ && side.dims == 1 && each.dims > 1 && images > 0 && side.count[0] % images == 0)
      piece_ = side.count[0] / images;
    else
      end_job(1, "%s: each image of %s is meant, of which there are %ld, so the first dimension must have that length",
              place, each.coarray->name, images);
  }
  // Returns the part for one image. A single element is unchanged.
  xmp_section at(int64_t image) const {
    xmp_section out = side_;
    if (side_.dims == 0) return out;
    if (piece_ > 0) {
      out.count[0] = piece_;
      out.address = static_cast<char*>(side_.address) + image * piece_ * side_.stride[0];
      return out;
    }
    out.dims = side_.dims - 1;
    std::copy_n(side_.count + 1, out.dims, out.count);
    std::copy_n(side_.stride + 1, out.dims, out.stride);
    if (each_) out.image = static_cast<int>(image);
    else out.address = static_cast<char*>(side_.address) + image * side_.stride[0];
    return out;
  }

 private:
  const xmp_section& side_;
  bool each_;
  int64_t piece_ = 0;
};

// Calls move(to, from), for each image if one side has XMP_EACH_IMAGE. `from` may be null.
template <typename Move>
void for_images(const xmp_section* to, const xmp_section* from, const char* place, const Move& move) {
  const bool each_to = each_image(to), each_from = each_image(from);
  if (!each_to && !each_from) return move(*to, from);
  const xmp_section& each = each_to ? *to : *from;
  const EachImage targets(*to, each, place), sources(from == nullptr ? *to : *from, each, place);
  for (int64_t i = 0; each.coarray->images != nullptr && i < each.coarray->images->count; ++i) {
    const xmp_section other = sources.at(i);
    move(targets.at(i), from == nullptr ? nullptr : &other);
  }
}

void assign(Assignments& assignments, const CoarraySection& to, const CoarraySection& from, const char* place) {
  if (from.section.dims > 0 || to.section.dims == 0) return require_at(assignments.assign(to, from), place);
  // One element goes to all.
  const auto value = std::make_unique_for_overwrite<char[]>(from.section.bytes);
  CoarraySection one;
  one.section = Section(value.get(), from.section.bytes);
  require_at(assignments.assign(one, from), place);
  require_at(assignments.fill(to, value.get()), place);
}

// Started moves.
class Moving final : public Request {
 public:
  Assignment& next() {
    parts_.push_back(std::make_unique<Assignment>());
    return *parts_.back();
  }
  Status advance(bool& complete) override {
    complete = true;
    return for_all(&Assignment::advance, complete);
  }
  Status hasten(bool& complete) override {
    complete = true;
    return for_all(&Assignment::hasten, complete);
  }
  std::string missing() const override { return parts_.empty() ? "" : parts_.back()->missing(); }

 private:
  Status for_all(Status (Assignment::*step)(bool&), bool& complete) {
    for (const auto& part : parts_) {
      bool one = false;
      HIROBA_TRY((*part.*step)(one));
      complete = complete && one;
    }
    return {};
  }
  std::vector<std::unique_ptr<Assignment>> parts_;
};

}  // namespace

Arithmetic arithmetic_of(int to, int values, int op, const char* place) {
  Arithmetic out;
  const auto exists = [](int number, int count) { return number >= 0 && number < count; };
  const bool known = exists(to, types) && exists(values, types) && exists(op, ops);
  if (const Status made = Arithmetic::make(to, values, op, out); !made.ok())
    end_job(1, "%s: %s%s", place, made.message().c_str(), known ? "" : "; use the XMP_ types and operators of xmp.h");
  return out;
}

std::vector<Move> moves_of(const xmp_section& to, const xmp_section& from, size_t element, const char* place) {
  std::vector<Move> out;
  for_images(&to, &from, place, [&](const xmp_section& target, const xmp_section* source) {
    out.push_back({section_of(target, element, place), section_of(*source, element, place)});
  });
  return out;
}

void make(const std::vector<Move>& moves, const char* place) {
  Assignments& assignments = coarrays("xmp_assign", place).assignments();
  for (const Move& move : moves) assign(assignments, move.to, move.from, place);
}

std::unique_ptr<Request> start(const std::vector<Move>& moves, const char* place) {
  Assignments& assignments = coarrays("xmp_assign_start", place).assignments();
  auto moving = std::make_unique<Moving>();
  for (const Move& move : moves) {
    if (move.from.section.dims == 0 && move.to.section.dims > 0) assign(assignments, move.to, move.from, place);
    else require_at(assignments.start(move.to, move.from, moving->next()), place);
  }
  return moving;
}

// ---- start and end -------------------------------------------------------------------------------------------------

XMP_EXPORT void xmp_start(int* argc, char*** argv) {
  smint_start(argc, argv);
  start_coarrays("xmp_start");
}

XMP_EXPORT void xmp_init(int* argc, char*** argv) {
  if (!process_started()) sms_startup(argc, argv);
  start_coarrays("xmp_init");
}

XMP_EXPORT void xmp_finalize(void) {
  coarrays("xmp_finalize");
  require_outside("xmp_finalize");
  sms_shutdown();
}

XMP_EXPORT void xmp_exit(int status) {
  if (status == 0 && process_started()) sms_shutdown();
  std::exit(status);
}

XMP_EXPORT double xmp_wtime(void) { return seconds_now(); }
XMP_EXPORT double xmp_wtick(void) {
  timespec resolution;
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + 1e-9 * static_cast<double>(resolution.tv_nsec);
}

// ---- coarrays ------------------------------------------------------------------------------------------------------

XMP_EXPORT void* xmp_coarray_allocate(xmp_coarray* c, const void* initial) {
  const char* const place = c->place == nullptr ? "unnamed" : c->place;
  start_coarrays("xmp_coarray_allocate", place);
  Coarrays& all = coarrays("xmp_coarray_allocate", place);
  if (c->opaque != nullptr) end_job(1, "%s: coarray %s is allocated already; xmp_free it first", place, c->name);
  if (c->dims < 0 || c->dims > XMP_DIMS || c->codims < 0 || c->codims > XMP_DIMS)
    end_job(1, "%s: coarray %s has %d dimensions and %d codimensions; there can be %d of each", place, c->name, c->dims,
            c->codims, XMP_DIMS);
  auto coarray = std::make_unique<Coarray>();
  coarray->name = c->name == nullptr ? "coarray" : c->name;
  unsigned __int128 bytes = c->element;
  for (int d = 0; d < c->dims; ++d) {
    if (c->extent[d] < 1 || bytes > INT64_MAX)
      end_job(
          1, "%s: dimension %d of coarray %s has %ld elements; it must be positive, and all of it less than 2^63 bytes",
          place, d + 1, c->name, c->extent[d]);
    bytes *= static_cast<uint64_t>(c->extent[d]);
    coarray->name += format("[%ld]", c->extent[d]);
  }
  if (bytes == 0) end_job(1, "%s: coarray %s has elements of 0 bytes", place, coarray->name.c_str());
  if (bytes > INT64_MAX >> 1)
    end_job(1, "%s: coarray %s of elements of %zu bytes is too large: a part has less than 2^62 bytes", place,
            coarray->name.c_str(), c->element);
  coarray->bytes = static_cast<uint64_t>(bytes), coarray->element = c->element;
  const std::string call = format("coarray %s of elements of %zu bytes", coarray->name.c_str(), c->element);
  require_at(all.allocate(*coarray, call, place), format("%s: %s", place, call.c_str()).c_str());
  const Job& job = process_memory("xmp_coarray_allocate").job();
  c->data = coarray->data, c->bytes = coarray->bytes, c->stride = static_cast<ptrdiff_t>(coarray->stride);
  c->rank = job.rank, c->near_first = job.first_rank_of(job.node), c->near_count = job.ranks_on(job.node);
  if (process_memory("xmp_coarray_allocate").checking()) c->near_count = 0;  // each access is checked
  c->images = c->on == nullptr ? &xmp_executing : &c->on->images;
  c->opaque = coarray.release();
  register_coarray(c);
  if (initial == nullptr) return c->data;
  std::copy_n(static_cast<const char*>(initial), c->bytes, static_cast<char*>(c->data));
  require_at(all.image_sync().sync_all(Team::all(sms_nprocs), {"first values of a coarray", place}), place);
  return c->data;
}

XMP_EXPORT xmp_coarray* xmp_coarray_malloc(size_t element, int dims, const int64_t extent[], const char* name,
                                           const char* place) {
  auto* const c = new OwnCoarray(name, place);
  c->element = element, c->dims = dims;
  if (dims > 0 && dims <= XMP_DIMS) std::copy_n(extent, dims, c->extent);
  xmp_coarray_allocate(c, nullptr);
  c->codims = OwnCoarray::mark;
  return c;
}

XMP_EXPORT void xmp_free_at(void* what, const char* place) {
  auto* const c = static_cast<xmp_coarray*>(what);
  if (c == nullptr || free_aligned(what, place)) return;
  const std::string call = Call{"xmp_free", place}.text();
  Coarrays& all = coarrays("xmp_free", place);
  if (!is_allocated(c))
    end_job(1, "%s: this is neither a coarray nor an aligned array, or it has been freed already", call.c_str());
  auto* const coarray = static_cast<Coarray*>(c->opaque);
  require_at(all.free(*coarray, format("xmp_free of coarray %s", coarray->name.c_str())), call.c_str());
  deregister_coarray(c);
}
XMP_EXPORT void xmp_free(void* c) { xmp_free_at(c, ""); }

XMP_EXPORT void* xmp_malloc_at(void* descriptor, int dims, const int64_t extent[], const char* place) {
  if (xmp_aligned* const array = aligned_descriptor(descriptor); array != nullptr)
    return allocate_aligned(*array, dims, extent, place);
  auto* const c = static_cast<xmp_coarray*>(descriptor);
  c->dims = dims;
  if (dims > 0 && dims <= XMP_DIMS) std::copy_n(extent, dims, c->extent);
  if (c->place == nullptr) c->place = place;
  return xmp_coarray_allocate(c, nullptr);
}

// ---- elements and sections -----------------------------------------------------------------------------------------

XMP_EXPORT void xmp_coindex_error(const xmp_coarray* c, int dimension, int64_t index, const char* place) {
  const bool last = dimension == c->codims - 1;
  const std::string indices =
      last ? "from 0 on, as many as there are images for" : format("0..%d", c->coextent[dimension] - 1);
  end_job(1, "%s: coindex %ld of coarray %s is out of range: codimension %d has indices %s", place, index, c->name,
          dimension + 1, indices.c_str());
}

XMP_EXPORT void xmp_range_error(int64_t base, int64_t length, int64_t step, int64_t extent, int dimension,
                                const char* text, const char* place) {
  const auto n = [](int64_t number) { return number; };
  if (step == 0) end_job(1, "%s: %s: dimension %d has a step of 0", place, text, dimension + 1);
  if (length == 1 && step == 1)
    end_job(1, "%s: %s: index %ld of dimension %d is out of bounds: it has elements 0..%ld", place, text, n(base),
            dimension + 1, n(extent - 1));
  if (length == XMP_REST)
    end_job(1, "%s: %s: dimension %d has no length, and none can be concluded from base %ld", place, text,
            dimension + 1, n(base));
  if (length < 0) end_job(1, "%s: %s: dimension %d has length %ld", place, text, dimension + 1, n(length));
  end_job(1, "%s: %s: section %ld:%ld:%ld of dimension %d is out of bounds: it has elements 0..%ld", place, text,
          n(base), n(length), n(step), dimension + 1, n(extent - 1));
}

XMP_EXPORT void xmp_get(void* to, const xmp_coarray* coarray, int image, const void* address, size_t bytes,
                        const char* place) {
  Assignments& assignments = coarrays("xmp_get", place).assignments();
  const CoarraySection here = section_of(nullptr, 0, to, bytes, place);
  require_at(assignments.assign(here, section_of(coarray, image, address, bytes, place)), place);
}

XMP_EXPORT void xmp_put(const xmp_coarray* coarray, int image, void* address, const void* from, size_t bytes,
                        const char* place) {
  Assignments& assignments = coarrays("xmp_put", place).assignments();
  const CoarraySection here = section_of(nullptr, 0, from, bytes, place);
  require_at(assignments.assign(section_of(coarray, image, address, bytes, place), here), place);
}

XMP_EXPORT void xmp_assign(const xmp_section* to, const xmp_section* from, size_t element, const char* place) {
  Assignments& assignments = coarrays("xmp_assign", place).assignments();
  for_images(to, from, place, [&](const xmp_section& target, const xmp_section* source) {
    assign(assignments, section_of(target, element, place), section_of(*source, element, place), place);
  });
}

XMP_EXPORT void xmp_fill(const xmp_section* to, const void* value, size_t element, const char* place) {
  Assignments& assignments = coarrays("xmp_fill", place).assignments();
  for_images(to, nullptr, place, [&](const xmp_section& target, const xmp_section*) {
    require_at(assignments.fill(section_of(target, element, place), value), place);
  });
}

XMP_EXPORT xmp_request xmp_assign_start(const xmp_section* to, const xmp_section* from, size_t element,
                                        const char* place) {
  coarrays("xmp_assign_start", place);
  return give(start(moves_of(*to, *from, element, place), place));
}

XMP_EXPORT void xmp_update(const xmp_section* to, enum xmp_type to_type, const xmp_section* from, enum xmp_type type,
                           enum xmp_operator op, const char* place) {
  Assignments& assignments = coarrays("xmp_update", place).assignments();
  const Arithmetic arithmetic = arithmetic_of(to_type, type, op, place);
  for_images(to, from, place, [&](const xmp_section& target, const xmp_section* source) {
    require_at(assignments.update(section_of(target, bytes_of(arithmetic.to()), place),
                                  section_of(*source, bytes_of(arithmetic.values()), place), arithmetic),
               place);
  });
}

XMP_EXPORT void xmp_update_element(const xmp_coarray* coarray, int image, void* address, enum xmp_type to_type,
                                   const void* value, enum xmp_type type, enum xmp_operator op, const char* place) {
  Assignments& assignments = coarrays("xmp_update_element", place).assignments();
  const Arithmetic arithmetic = arithmetic_of(to_type, type, op, place);
  const CoarraySection here = section_of(nullptr, 0, value, bytes_of(arithmetic.values()), place);
  const CoarraySection there = section_of(coarray, image, address, bytes_of(arithmetic.to()), place);
  require_at(assignments.update(there, here, arithmetic), place);
}

}  // namespace hiroba
