#include "memory/check/races.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/debug/symbols.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/tables/phrases.hpp"
#include "base/text.hpp"
#include "memory/parts.hpp"

namespace hiroba {

namespace {

constexpr size_t most_races = 64;  // of a rank in an epoch

bool before(const AccessRecord& a, const AccessRecord& b) { return a.address < b.address; }

}  // namespace

Status RaceChecker::start(const Config& config) {
  config_ = config;
  const uint64_t bytes = AccessLog::bytes(config.layout);
  HIROBA_TRY(size_file(config.shared_fd, config.at + bytes, "check: what ranks record"));
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, config.shared_fd,
                            static_cast<off_t>(config.at));
  if (memory == MAP_FAILED)
    return Status::error("check: cannot map %lu GiB of addresses (%s); a smaller option space may help", bytes >> 30,
                         explain_error(errno).c_str());
  madvise(memory, bytes, MADV_DONTDUMP);
  log_.start(static_cast<char*>(memory), config.layout);
  time_.allow(config.recording_share);
  recorder_ = std::make_unique<AccessRecorder>();
  HIROBA_TRY(piece_.start(config.base, config.layout));
  return recorder_->start({config.base, config.layout, config.job, config.arrays, &log_, &piece_, &time_});
}

void RaceChecker::begin_epoch() {
  RankLog& mine = log_.of(config_.job.rank);
  mine.records = mine.events = 0, mine.too_many_events = false, mine.blind = mine.heap_left;
  recorder_->begin_epoch(++epoch_);
}

void RaceChecker::begin_piece(NamedBytes&& bytes, NamedWrites::Refuse refuse, const void* context) {
  piece_.begin(std::move(bytes), refuse, context);
  recorder_->close_to_writes();
  if (time_.hurried()) open_named();
}

// Opens the named bytes of a piece for writing at its beginning, without a fault for each page; twins then show what it
// writes beside them. Pages with few between them are opened together. The first page stays closed, so that a location
// in the code is known.
void RaceChecker::open_named() {
  constexpr uint64_t little = 3;
  const Array* array = nullptr;
  uint64_t first = 0, end = 0;
  for (const NamedBytes::Run& run : piece_.bytes().runs()) {
    const uint64_t run_first = run.begin >> page_shift, run_end = ((run.end - 1) >> page_shift) + 1;
    const Array* const in = config_.arrays->live(run_first);
    bool join = in == array && run_first <= end + little;
    for (uint64_t p = end; join && p < run_first; ++p)  // pages of other nodes would have to be fetched
      join = config_.job.is_here(array->home(p).rank);
    if (!join) {
      recorder_->open_unseen(first, end - first);
      first = end == 0 ? run_first + 1 : run_first, end = first;
    }
    end = std::max(end, run_end), array = in;
  }
  recorder_->open_unseen(first, end - first);
}

// A difference from a twin was written by this piece, unless another rank may have written the page. That rank records
// this before it writes, so it suffices to read the word after the bytes.
void RaceChecker::end_piece() {
  const auto end_page = [this](uint64_t page) {
    recorder_->peek(page);
    const char* const changed = piece_.changed(page);
    const PageWord word = log_.page(page);
    const bool alone = word.epoch == epoch_ && word.writer == static_cast<uint64_t>(config_.job.rank) + 1;
    const void* const write = recorder_->place_of_write(page);
    if (changed != nullptr && alone) piece_.refuse({changed, write != nullptr ? write : piece_.first_write(), true});
  };
  for (const PageRun& run : piece_.twins().runs())
    for (uint64_t page = run.first; page < run.first + run.pages; ++page) end_page(page);
  piece_.end();
}

RaceChecker::Segment::Segment(RaceChecker& races, SyncEvent::Kind kind, uint32_t lock, uint64_t ticket)
    : races_(races), event_{kind, lock, ticket} {}

RaceChecker::Segment::~Segment() {
  if (!races_.on()) return;
  races_.recorder_->note(event_.kind, event_.lock, event_.ticket);
  races_.recorder_->close();
}

// ---- comparing -----------------------------------------------------------------------------------------------------

// Returns all ranks' records of pages that conflict, by address.
std::vector<RaceChecker::Item> RaceChecker::in_conflict() const {
  std::vector<Item> out;
  const uint64_t end = log_.any(&RankLog::blind) ? config_.layout.heap(0) : config_.layout.space;
  for (int r = 0; r < config_.job.nranks; ++r) {
    const RankLog& log = log_.of(r);
    for (uint64_t i = 0; i < log.records; ++i) {
      const PageWord word = log_.page(log.record[i].page());
      if (word.epoch == epoch_ && word.conflict() && log.record[i].address < end) out.push_back({log.record[i], r});
    }
  }
  const auto key = [](const Item& i) {
    const AccessRecord& r = i.record;
    return std::tuple(r.address, i.rank, r.kind, r.bytes, r.place, r.segment);
  };
  std::sort(out.begin(), out.end(), [&](const Item& a, const Item& b) { return key(a) < key(b); });
  out.erase(std::unique(out.begin(), out.end(), [&](const Item& a, const Item& b) { return key(a) == key(b); }),
            out.end());
  return out;
}

std::vector<Race> RaceChecker::compare() {
  std::vector<Race> out;
  const std::vector<Item> items = in_conflict();
  if (items.empty()) return out;
  RaceOrder order(log_, config_.job.nranks);
  compare_records(items, order, out);
  compare_twins(items, out);
  return out;
}

// Returns the end of the value that contains this byte; values are merged as a whole.
uint64_t RaceChecker::end_of_value(uint64_t byte) const {
  const Array* const array = config_.arrays->live(byte >> page_shift);
  return array == nullptr ? byte + 1 : byte / array->scalar * array->scalar + array->scalar;
}

// Ranks that take turns access the same bytes in thousands of segments, which are compared together.
void RaceChecker::compare_records(const std::vector<Item>& items, RaceOrder& order, std::vector<Race>& out) {
  const auto mine = [this](const AccessRecord& r) {  // each page is compared by one rank
    return r.page() % static_cast<uint64_t>(config_.job.nranks) == static_cast<uint64_t>(config_.job.rank);
  };
  const std::vector<Run> runs = runs_of(items);
  for (auto a = runs.begin(); a != runs.end(); ++a) {
    const AccessRecord& first = a->front().record;
    if (!mine(first)) continue;
    const uint64_t value_end = first.writes() ? end_of_value(first.end() - 1) : first.end();
    for (auto b = a + 1; b != runs.end() && b->front().record.address < value_end; ++b) {
      const AccessRecord& second = b->front().record;
      constexpr int together = AccessRecord::atomic | AccessRecord::transaction;
      const bool atomic = (first.kind & second.kind & together) != 0;
      const bool apart = second.address >= first.end();
      if (a->front().rank == b->front().rank || atomic || !(second.writes() || (first.writes() && !apart))) continue;
      compare_runs(*a, *b, order, out);
    }
  }
}

// Returns the accesses that differ in their segments only, in groups.
std::vector<RaceChecker::Run> RaceChecker::runs_of(const std::vector<Item>& items) {
  const auto key = [](const Item& i) {
    return std::tuple(i.record.address, i.rank, i.record.kind, i.record.bytes, i.record.place);
  };
  std::vector<Run> out;
  for (auto begin = items.begin(); begin != items.end();) {
    const auto end = std::find_if(begin, items.end(), [&](const Item& i) { return key(i) != key(*begin); });
    out.emplace_back(begin, end);
    begin = end;
  }
  return out;
}

// The other run begins with the accesses that come before one, and ends with those that come after it. All pairs are of
// the same two places, which are told once, so the first pair that nothing orders suffices: in thousands of segments
// that nothing orders, comparing all would take minutes.
void RaceChecker::compare_runs(Run a, Run b, RaceOrder& order, std::vector<Race>& out) {
  const auto comes_before = [&order](const Item& one, const Item& two) {
    return order.before(one.rank, one.record.segment, two.rank, two.record.segment);
  };
  for (const Item& one : a) {
    const auto two = std::partition_point(b.begin(), b.end(), [&](const Item& i) { return comes_before(i, one); });
    if (two == b.end() || comes_before(one, *two)) continue;
    if (one.record.writes()) add(one, *two, two->record.address, false, out);
    else add(*two, one, two->record.address, false, out);
    return;
  }
}

// If this rank alone has written a page, it has written what differs from its twin, and any other rank's exact read of
// such a byte is a race; unless this rank has synchronised with any other since: a twin does not say when a byte was
// written.
void RaceChecker::compare_twins(const std::vector<Item>& items, std::vector<Race>& out) {
  if (log_.of(config_.job.rank).events > 0) return;
  const int self = config_.job.rank;
  for (const PageRun& run : recorder_->twins().runs())
    for (uint64_t page = run.first; page < run.first + run.pages; ++page) {
      const PageWord word = log_.page(page);
      if (word.epoch != epoch_ || !word.conflict() || word.writer != static_cast<uint64_t>(self) + 1) continue;
      const char *const twin = recorder_->twins().of(page), *const now = config_.base + (page << page_shift);
      const auto at = [](uint64_t address) { return Item{AccessRecord{address, 0, 0, 0, nullptr}, 0}; };
      const auto by_address = [](const Item& a, const Item& b) { return before(a.record, b.record); };
      const auto begin = std::lower_bound(items.begin(), items.end(), at(page << page_shift), by_address);
      const auto end = std::lower_bound(begin, items.end(), at((page + 1) << page_shift), by_address);
      // Finds the nearest known write of this rank: in the page, or the one that has opened it with its neighbours.
      Item write = {AccessRecord{0, 0, AccessRecord::write, 0, recorder_->place_of_write(page)}, self};
      for (auto b = begin; b != end; ++b)
        if (b->rank == self && b->record.writes()) write = *b;
      for (auto b = begin; b != end; ++b)
        for (uint64_t byte = b->record.address;
             b->rank != self && byte < std::min(b->record.end(), (page + 1) << page_shift); ++byte)
          if (twin[byte % page_bytes] != now[byte % page_bytes]) {
            add(write, *b, byte, true, out);
            break;
          }
    }
}

void RaceChecker::add(const Item& a, const Item& b, uint64_t address, bool near, std::vector<Race>& out) {
  const Array* const array = config_.arrays->live(address >> page_shift);
  if (array == nullptr || out.size() >= most_races) return;
  if (!found_.insert({array->first_page, a.record.place, b.record.place}).second) return;
  Race race = {};
  race.address = address, race.near = near;
  race.apart = !near && address >= a.record.end();
  race.side[0].rank = a.rank, race.side[0].kind = a.record.kind, race.side[0].place = a.record.place;
  race.side[1].rank = b.rank, race.side[1].kind = b.record.kind, race.side[1].place = b.record.place;
  out.push_back(race);
}

// ---- telling -------------------------------------------------------------------------------------------------------

void RaceChecker::describe(Race& race) const {
  for (Race::Side& side : race.side)
    if (side.rank == config_.job.rank && side.place != nullptr) {
      const bool names = (side.kind & AccessRecord::frees) != 0;
      const std::string text = names ? static_cast<const char*>(side.place) : source_location(side.place);
      std::strncpy(side.text, text.c_str(), sizeof side.text - 1);
    }
  ElementName name;
  if (element_name_) name = element_name_(config_.base + race.address);
  if (name.object.empty() && race.address >= config_.layout.heap(0) && object_name_)
    name = {object_name_(race.address), "it"};
  std::strncpy(race.object, name.object.c_str(), sizeof race.object - 1);
  std::strncpy(race.element, name.element.c_str(), sizeof race.element - 1);
}

void RaceChecker::say_heap_left() {
  if (!log_.of(config_.job.rank).heap_left || std::exchange(heap_told_, true)) return;
  log_line(
      "check: races on objects of the heap are not looked for any more: this rank has used too many pages of it, "
      "far apart, between two synchronisations");
}

void RaceChecker::report(const Race& race, const Array& array) {
  if (array.race_told) return;
  const Race::Side &a = race.side[0], &b = race.side[1];
  const bool named = race.object[0] != '\0';
  if (!reports_.add(named && !array.is_heap ? race.object : array.name, a.text, b.text)) return;
  const int64_t byte = config_.base + race.address - array.data;
  const bool freed = ((a.kind | b.kind) & AccessRecord::frees) != 0;
  const std::string what = named           ? race.element
                           : array.is_heap ? format("%p", static_cast<const void*>(array.data + byte))
                                           : element_name(array, byte);
  const auto access = [](const Race::Side& side, const std::string& accessed, bool near) -> AccessReport {
    const bool frees = (side.kind & AccessRecord::frees) != 0, writes = (side.kind & AccessRecord::write) != 0;
    return {format("rank %d", side.rank),
            frees    ? "frees"
            : writes ? "writes"
                     : "reads",
            accessed,
            in_code(near                                           ? "near"
                    : frees                                        ? "at"
                    : (side.kind & AccessRecord::transaction) != 0 ? "in a transaction in"
                                                                   : "in",
                    side.text)};
  };
  const bool transaction = ((a.kind | b.kind) & AccessRecord::transaction) != 0;
  const std::string remedy =
      freed        ? "free it when no rank uses it any more: after a barrier, or under the lock of those that use it"
      : race.apart ? format(
                         "these are different bytes of one value, of which one write remains: if they are members of a "
                         "structure, declare the smallest by %s",
                         phrases().set_scalar)
      : transaction ? "access it in transactions only, or put a barrier between the two"
                    : "put a barrier between the two, or a lock around both";
  const std::string text =
      race_text("race", named ? race.object : array.name, access(a, what, race.near), access(b, "it", false),
                "with no barrier between and no lock that both hold; " + remedy);
  log_finding("%s", text.c_str());
}

// ---- of all ranks --------------------------------------------------------------------------------------------------

Status RaceChecker::find(const char* call) {
  if (!on()) return {};
  Collective& collective = *config_.collective;
  time_.end_epoch();
  say_heap_left();
  HIROBA_TRY(collective.barriers().all(call, at_check));
  const std::vector<Race> found = compare();
  if (config_.job.nranks > 1)  // to a single rank all memory is its own
    stray_pointers_.look(*recorder_, log_.of(config_.job.rank), *config_.arrays, config_.base);
  std::vector<uint64_t> counts(static_cast<size_t>(config_.job.nranks));
  HIROBA_TRY(collective.barriers().with_words(call, at_check, found.size(), counts));
  if (std::all_of(counts.begin(), counts.end(), [](uint64_t n) { return n == 0; })) return {};
  std::vector<std::vector<char>> all;
  const auto bytes_of = [](const std::vector<Race>& races) {
    return std::span<const char>(reinterpret_cast<const char*>(races.data()), races.size() * sizeof(Race));
  };
  HIROBA_TRY(collective.teams().gather("check of races", bytes_of(found), all));
  std::vector<Race> races;
  for (const std::vector<char>& of : all) {
    const size_t before = races.size(), more = of.size() / sizeof(Race);
    races.resize(before + more);
    if (more > 0) std::memcpy(static_cast<void*>(&races[before]), of.data(), of.size());
  }
  for (Race& race : races) describe(race);
  HIROBA_TRY(collective.teams().gather("check of races", bytes_of(races), all));
  if (config_.job.rank != 0) return {};
  for (size_t i = 0; i < races.size(); ++i) {
    for (Race::Side& side : races[i].side)
      side = reinterpret_cast<const Race*>(all[side.rank].data())[i].side[&side - races[i].side];
    for (const std::vector<char>& of : all)
      if (const Race& told = reinterpret_cast<const Race*>(of.data())[i]; told.object[0] != '\0') {
        std::memcpy(races[i].object, told.object, sizeof told.object);
        std::memcpy(races[i].element, told.element, sizeof told.element);
        break;
      }
    const Array* const array = config_.arrays->live(races[i].address >> page_shift);
    if (array != nullptr) report(races[i], *array);
  }
  config_.arrays->for_each_live([](Array& array) { array.race_told = false; });
  return {};
}

}  // namespace hiroba
