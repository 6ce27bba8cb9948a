#include "coarray/checker.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "coarray/coarray.hpp"

namespace hiroba {

namespace {

// Sections in a part that another rank has, whose own addresses say nothing here, count from this one.
char* at_byte(int64_t byte) { return reinterpret_cast<char*>(uintptr_t{1} << 60) + byte; }

}  // namespace

// ---- this rank -----------------------------------------------------------------------------------------------------

void Checker::start(Memory& memory, bool wanted) {
  memory_ = &memory, rank_ = memory.job().rank, nranks_ = memory.job().nranks;
  if (wanted && nranks_ > most_ranks && rank_ == 0)
    log_line("check: coarrays are checked with up to %d ranks", most_ranks);
  on_ = wanted && nranks_ > 1 && nranks_ <= most_ranks;
  clock_.assign(static_cast<size_t>(nranks_) + 1, 0);
  clock_[1 + static_cast<size_t>(rank_)] = 1;
}

void Checker::add(const Coarray& coarray) {
  const std::lock_guard<std::mutex> guard(mutex_);
  coarrays_.push_back(&coarray);
}

void Checker::remove(const Coarray& coarray) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::erase(coarrays_, &coarray);
}

void Checker::note(Kind kind, const CoarraySection& access) {
  const Section& section = access.section;
  const std::lock_guard<std::mutex> guard(mutex_);
  const Coarray* coarray = access.coarray;
  const auto inside = [&](const Coarray* c) {
    return section.address >= c->data && section.address < c->data + c->bytes;
  };
  if (coarray == nullptr) {
    const auto found = std::find_if(coarrays_.begin(), coarrays_.end(), inside);
    if (found == coarrays_.end()) return;  // private memory
    coarray = *found;
  }
  Note note = {};
  note.array = coarray->offset, note.array_element = coarray->element;
  note.owner = access.coarray == nullptr ? rank_ : access.rank;
  note.kind = kind, note.section = section;
  note.section.address = at_byte(section.address - coarray->data);
  std::strncpy(note.name, coarray->name.c_str(), sizeof note.name - 1);
  std::strncpy(note.place, access.place, sizeof note.place - 1);
  if (new_segment_) segments_.insert(segments_.end(), clock_.begin() + 1, clock_.end());
  new_segment_ = false;
  note.segment = static_cast<int32_t>(segments_.size() / static_cast<size_t>(nranks_)) - 1;
  for (auto old = notes_.rbegin(); old != notes_.rend() && old->segment == note.segment; ++old)
    if (*old == note) return;
  if (notes_.size() < most_notes) return notes_.push_back(note);
  if (!too_many_)
    log_line(
        "check: more than %zu accesses to coarrays between barriers of all images; those after %s are not compared",
        most_notes, note.place);
  too_many_ = true;
}

Checker::Stamp Checker::release() {
  if (!on_) return {};
  memory_->consistency().note_order();
  const std::lock_guard<std::mutex> guard(mutex_);
  clock_[0] = barriers_;
  const Stamp stamp = clock_;
  ++clock_[1 + static_cast<size_t>(rank_)];
  new_segment_ = true;
  return stamp;
}

void Checker::join(Stamp& into, std::span<const uint32_t> other) {
  if (other.size() != into.size() || other[0] != into[0]) return;  // from before the last barrier of all ranks
  for (size_t i = 1; i < into.size(); ++i) into[i] = std::max(into[i], other[i]);
}

void Checker::acquire(std::span<const uint32_t> stamp) {
  if (!on_ || stamp.empty()) return;
  memory_->consistency().note_order();
  const std::lock_guard<std::mutex> guard(mutex_);
  clock_[0] = barriers_;
  join(clock_, stamp);
  new_segment_ = true;
}

// ---- all ranks -----------------------------------------------------------------------------------------------------

// Sends the number of records, the records, and the clocks.
Status Checker::compare_all() {
  std::vector<char> mine;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    const size_t count = notes_.size(), notes = count * sizeof(Note), clocks = segments_.size() * sizeof(uint32_t);
    mine.resize(sizeof count + notes + clocks);
    std::memcpy(mine.data(), &count, sizeof count);
    if (notes > 0) std::memcpy(mine.data() + sizeof count, static_cast<const void*>(notes_.data()), notes);
    if (clocks > 0) std::memcpy(mine.data() + sizeof count + notes, segments_.data(), clocks);
    notes_.clear(), segments_.clear();
    new_segment_ = true, too_many_ = false;
    ++barriers_;
    std::fill(clock_.begin(), clock_.end(), 0);
    clock_[1 + static_cast<size_t>(rank_)] = 1;
  }
  std::vector<std::vector<char>> all;
  HIROBA_TRY(memory_->collective().teams().gather("check of coarrays", mine, all));
  if (rank_ != 0) return {};
  for (size_t a = 0; a < all.size(); ++a)
    for (size_t b = a + 1; b < all.size(); ++b)
      compare(read(all[a]), static_cast<int>(a), read(all[b]), static_cast<int>(b));
  return {};
}

Checker::Notes Checker::read(std::span<const char> bytes) const {
  Notes out = {};
  if (bytes.size() < sizeof out.count) return out;
  std::memcpy(&out.count, bytes.data(), sizeof out.count);
  out.notes = reinterpret_cast<const Note*>(bytes.data() + sizeof out.count);
  out.clocks = reinterpret_cast<const uint32_t*>(bytes.data() + sizeof out.count + out.count * sizeof(Note));
  return out;
}

void Checker::compare(const Notes& a, int rank_a, const Notes& b, int rank_b) {
  const auto clock = [this](const Notes& of, const Note& note) {
    return of.clocks + static_cast<size_t>(note.segment) * static_cast<size_t>(nranks_);
  };
  for (size_t i = 0; i < a.count; ++i)
    for (size_t j = 0; j < b.count; ++j) {
      const Note &x = a.notes[i], &y = b.notes[j];
      if (x.array != y.array || x.owner != y.owner) continue;
      if (x.kind == y.kind && x.kind != Kind::write) continue;
      const uint32_t *cx = clock(a, x), *cy = clock(b, y);
      if (cy[rank_a] >= cx[rank_a] || cx[rank_b] >= cy[rank_b]) continue;
      if (const char* const byte = common_byte(x.section, y.section)) report(x, rank_a, y, rank_b, byte - at_byte(0));
    }
}

void Checker::report(const Note& a, int rank_a, const Note& b, int rank_b, int64_t byte) {
  if (!reports_.add(a.name, a.place, b.place)) return;
  const auto access = [](int rank, const Note& n, const std::string& what) -> AccessReport {
    return {format("rank %d", rank),
            n.kind == Kind::read    ? "reads"
            : n.kind == Kind::write ? "writes"
                                    : "accumulates to",
            what, format("(at %s)", n.place)};
  };
  const int64_t element = byte / static_cast<int64_t>(a.array_element);
  const std::string text =
      race_text("race", format("%s of image %d", a.name, a.owner), access(rank_a, a, format("element %ld", element)),
                access(rank_b, b, "it"), "in segments that nothing orders; put a synchronisation between them");
  log_finding("%s", text.c_str());
}

}  // namespace hiroba
