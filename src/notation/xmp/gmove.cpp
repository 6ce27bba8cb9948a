// gmove of xmp.h: assignments that all images of a set make together, or each by itself; and their started forms.
#define SMS_NO_PLACES
#include "notation/xmp/xmp_process.hpp"

namespace hiroba {

namespace {

// The source of an assignment, packed in memory of this image.
class Packed {
 public:
  Packed(const xmp_section& from, size_t element) : section_(from) {
    section_.coarray = nullptr;
    auto bytes = static_cast<int64_t>(element);
    for (int d = from.dims - 1; d >= 0; --d) {
      if (from.count[d] == XMP_REST) section_.count[d] = from.coarray->images->count;  // for XMP_EACH_IMAGE
      section_.stride[d] = bytes;
      bytes *= section_.count[d];
    }
    bytes_ = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(bytes));
    section_.address = bytes_.get();
  }
  const xmp_section& section() const { return section_; }

 private:
  xmp_section section_;
  std::unique_ptr<char[]> bytes_;
};

// A source that is read later. A single element of this image is read at once: it may be a temporary value.
class Source {
 public:
  Source(const xmp_section& from, size_t element) : section_(from) {
    if (from.coarray != nullptr || from.dims > 0) return;
    const char* const value = static_cast<const char*>(from.address);
    value_.assign(value, value + element);
    section_.address = value_.data();
  }
  Source(const Source&) = delete;
  const xmp_section& section() const { return section_; }

 private:
  xmp_section section_;
  std::vector<char> value_;
};

bool of_this_image(const xmp_section& to, const xmp_section& from) {
  return to.coarray == nullptr && from.coarray == nullptr;
}

// All images read before any writes.
void move_together(const xmp_section& to, const xmp_section& from, size_t element, const Call& call) {
  const Team set = executing();
  synchronise(set, call);
  if (of_this_image(to, from)) return xmp_assign(&to, &from, element, call.place);
  const Packed read(from, element);
  xmp_assign(&read.section(), &from, element, call.place);
  synchronise(set, call);
  xmp_assign(&to, &read.section(), element, call.place);
  synchronise(set, call);
}

// The same, in stages separated by barriers of a team. This image executes the stages when it advances, perhaps in a
// task: so the start determines the images.
class Together final : public Request {
 public:
  Together(Coarrays& all, const xmp_section& to, const xmp_section& from, size_t element, const char* place)
      : collective_(all.collective()),
        sync_(all.image_sync()),
        source_(from, element),
        read_(source_.section(), element),
        place_(place),
        here_(of_this_image(to, from)),
        sequence_(collective_.teams().begin_sequence(executing(), 3, {"xmp_gmove_start", place})) {
    if (!here_) reads_ = moves_of(read_.section(), source_.section(), element, place_.c_str());
    writes_ = moves_of(to, here_ ? source_.section() : read_.section(), element, place_.c_str());
    start_barrier(0);
  }

  Status advance(bool& complete) override { return advance(complete, &Request::advance); }
  Status hasten(bool& complete) override { return advance(complete, &Request::hasten); }
  std::string missing() const override { return stage_ == Stage::reading ? reading_->missing() : barrier_.missing(); }

 private:
  enum class Stage { coming, reading, read, written };

  void start_barrier(int which) {
    require(
        collective_.teams().start_barrier(sequence_, which, sync_.release_order(), ImageSync::join_order, barrier_));
  }

  Status advance(bool& complete, Status (Request::*wait)(bool&)) {
    const char* const place = place_.c_str();
    HIROBA_TRY(barrier_.agrees());
    if (stage_ == Stage::coming && barrier_.done()) {
      sync_.acquire_order(barrier_.words());
      if (here_) return make(writes_, place), complete = true, Status();
      reading_ = start(reads_, place);
      stage_ = Stage::reading;
    }
    if (stage_ == Stage::reading) {
      bool there = false;
      HIROBA_TRY((*reading_.*wait)(there));
      if (there) start_barrier(1), stage_ = Stage::read;
    }
    if (stage_ == Stage::read && barrier_.done()) {
      sync_.acquire_order(barrier_.words());
      make(writes_, place);
      HIROBA_TRY(sync_.sync_memory({"xmp_gmove", place}));
      start_barrier(2), stage_ = Stage::written;
    }
    complete = stage_ == Stage::written && barrier_.done();
    if (complete) sync_.acquire_order(barrier_.words());
    return {};
  }

  Collective& collective_;
  ImageSync& sync_;
  const Source source_;
  const Packed read_;
  const std::string place_;
  const bool here_;  // moves no data of other images
  const Sequence sequence_;
  std::vector<Move> reads_, writes_;
  Stage stage_ = Stage::coming;
  Started barrier_;
  std::unique_ptr<Request> reading_;
};

// gmove in and out: complete when the puts of this image are.
class Alone final : public Request {
 public:
  Alone(ImageSync& sync, const xmp_section& to, const xmp_section& from, size_t element, const char* place)
      : sync_(sync),
        source_(from, element),
        place_(place),
        moves_(start(moves_of(to, source_.section(), element, place), place)) {}
  Status advance(bool& complete) override {
    HIROBA_TRY(moves_->advance(complete));
    return complete ? fence() : Status();
  }
  Status hasten(bool& complete) override {
    HIROBA_TRY(moves_->hasten(complete));
    return complete ? fence() : Status();
  }
  std::string missing() const override { return moves_->missing(); }

 private:
  Status fence() { return sync_.sync_memory({"xmp_gmove", place_.c_str()}); }

  ImageSync& sync_;
  const Source source_;
  const std::string place_;
  std::unique_ptr<Request> moves_;
};

}  // namespace

XMP_EXPORT void xmp_gmove(enum xmp_gmove_mode mode, const xmp_section* to, const xmp_section* from, size_t element,
                          const char* place) {
  ImageSync& sync = coarrays("xmp_gmove", place).image_sync();
  const Call call = {"xmp_gmove", place};
  if (mode == XMP_GMOVE) return move_together(*to, *from, element, call);
  xmp_assign(to, from, element, place);
  require_at(sync.sync_memory(call), place);
}

XMP_EXPORT xmp_request xmp_gmove_start(enum xmp_gmove_mode mode, const xmp_section* to, const xmp_section* from,
                                       size_t element, const char* place) {
  Coarrays& all = coarrays("xmp_gmove_start", place);
  if (mode != XMP_GMOVE) return give(std::make_unique<Alone>(all.image_sync(), *to, *from, element, place));
  require_at(all.image_sync().sync_memory({"xmp_gmove_start", place}), place);
  return give(std::make_unique<Together>(all, *to, *from, element, place));
}

}  // namespace hiroba
