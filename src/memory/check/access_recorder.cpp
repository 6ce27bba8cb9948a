#include "memory/check/access_recorder.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/debugger.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/wait.hpp"

namespace hiroba {

namespace {

constexpr greg_t trap_flag = 0x100;  // the processor traps after the next instruction

// The pages that are open for this thread's current instruction only. An instruction touches at most two at once, and
// others one after the other.
struct Steps {
  static constexpr size_t most = 4;
  uint64_t page[most];
  size_t count;
  double begin;  // of the first page's fault
};
thread_local Steps steps __attribute__((tls_model("initial-exec"))) = {};
// The number of UnseenAccess objects of this thread.
thread_local int unseen __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

Status AccessRecorder::start(const Config& config) {
  config_ = config;
  HIROBA_TRY(load_decoder());
  HIROBA_TRY(pages_.create(config.layout));
  watched_.start(config.log, config.job.rank);
  HIROBA_TRY(open_.create("check: open pages"));
  HIROBA_TRY(open_to_writes_.create("check: pages open for writing"));
  HIROBA_TRY(twins_.create(config.layout));
  traced_ = has_debugger();  // it would take the traps for its own
  asleep_ = config.job.nranks == 1;
  closed_ = config.job.nranks == 1 ? PROT_READ : PROT_NONE;
  learn_system_code();
  return {};
}

// ---- closing and opening -------------------------------------------------------------------------------------------

void AccessRecorder::protect(uint64_t first, uint64_t pages, int protection) {
  char* const at = config_.base + (first << page_shift);
  if (mprotect(at, pages << page_shift, protection) == 0) return;
  end_job(1,
          "check: cannot change the protection of %lu pages (%s): accesses to scattered pages need a mapping each, at "
          "most /proc/sys/vm/max_map_count; raise it, or check a smaller run",
          pages, explain_error(errno).c_str());
}

void AccessRecorder::watch_own(PageRun pages) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const PageRun before = watched_.own();
  if (before.pages > 0) protect(before.first, before.pages, PROT_READ | PROT_WRITE);
  watched_.set_own(pages);
  for (uint64_t p = pages.first; p < pages.end(); ++p) pages_.last(p).open = PageUse::closed;
  if (pages.pages > 0) protect(pages.first, pages.pages, closed_);
}

// Pages of the heap are open if it is no longer watched.
void AccessRecorder::protect_as_open(uint64_t number) {
  const Array* const array = config_.arrays->live(number);
  const bool watched = array != nullptr && watched_.has(*array, number);
  const uint8_t open = watched ? pages_[number].open : static_cast<uint8_t>(PageUse::writing);
  protect(number, 1, open == PageUse::closed ? closed_ : open == PageUse::reading ? PROT_READ : PROT_READ | PROT_WRITE);
}

void AccessRecorder::begin_epoch(uint64_t epoch) {
  epoch_ = epoch;
  pages_.begin_epoch(epoch);
  twins_.clear();
  close();
  config_.time->begin_epoch();
}

void AccessRecorder::close() {
  if (asleep_) return;
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto close_all = [this](uint64_t first, uint64_t pages) { protect(first, pages, closed_); };
  constexpr uint64_t few = 256;  // to close more, closing all between them is cheaper
  for (const PageRun& run : open_.all()) {
    for (uint64_t p = run.first; p < run.first + run.pages; ++p) pages_.last(p).open = PageUse::closed;
    if (open_.count() <= few) protect(run.first, run.pages, closed_);
  }
  if (open_.count() > few)
    config_.arrays->for_each_live([&](const Array& array) {
      if (array.watched && open_.full() && !array.is_heap)  // for the heap, leave_scattered_heap() acts first
        for (uint64_t p = array.first_page; p < array.end_page; ++p) pages_.last(p).open = PageUse::closed;
      watched_.for_each_run(array, close_all);
    });
  open_.clear(), open_to_writes_.clear();
}

void AccessRecorder::close_to_writes() {
  if (open_to_writes_.full()) return close();
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto close_all = [this](uint64_t first, uint64_t pages) { protect(first, pages, closed_); };
  if (std::exchange(asleep_, false))
    config_.arrays->for_each_live([&](const Array& array) { watched_.for_each_run(array, close_all); });
  for (const PageRun& run : open_to_writes_.all()) {
    for (uint64_t p = run.first; p < run.first + run.pages; ++p) pages_.last(p).open = PageUse::reading;
    if (const Array* const array = config_.arrays->live(run.first); array != nullptr && array->watched)
      protect(run.first, run.pages, PROT_READ);
  }
  open_to_writes_.clear();
}

void AccessRecorder::add(const Array& array) {
  if (asleep_) return;
  watched_.for_each_run(array, [this](uint64_t first, uint64_t pages) { protect(first, pages, closed_); });
}

void AccessRecorder::remove(Array& array) {
  watched_.for_each_run(array,
                        [this](uint64_t first, uint64_t pages) { protect(first, pages, PROT_READ | PROT_WRITE); });
  array.watched = false;
}

void AccessRecorder::mark_open(uint64_t number, bool writes, const void* place) {
  PageUse& state = pages_[number];
  if (state.open == PageUse::closed) open_.add(number);
  if (writes && state.open != PageUse::writing) open_to_writes_.add(number);
  state.open = std::max<uint8_t>(state.open, writes ? PageUse::writing : PageUse::reading);
  if (writes) state.written_at = place;
}

// ---- recording -----------------------------------------------------------------------------------------------------

// One remains of several with no access between them: of looks at a word the last one, of changes the first.
void AccessRecorder::note(SyncEvent::Kind kind, uint32_t lock, uint64_t ticket) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  RankLog& log = config_.log->of(config_.job.rank);
  SyncEvent* const last = log.events == 0 ? nullptr : &log.event[log.events - 1];
  const bool again = last != nullptr && last->kind == kind && last->lock == lock &&
                     (kind == SyncEvent::any || last->is_of_word()) &&
                     (log.records == 0 || log.record[log.records - 1].segment < log.events);
  if (again) {
    if (kind == SyncEvent::acquire) last->ticket = ticket;
    return;
  }
  if (log.events < RankLog::most_events) log.event[log.events++] = {kind, lock, ticket};
  else log.too_many_events = true;
}

void AccessRecorder::record(const char* address, size_t bytes, int kind, const void* place) {
  RankLog& log = config_.log->of(config_.job.rank);
  if (log.records == RankLog::most_records || bytes == 0) return;
  log.record[log.records++] = {static_cast<uint64_t>(address - config_.base), static_cast<uint16_t>(bytes),
                               static_cast<uint16_t>(kind), static_cast<uint32_t>(log.events), place};
}

// Records an access of the program itself to a page that was closed.
PageWord AccessRecorder::record(const MemoryAccess& touch, uint64_t number, const CodePlace& place) {
  const int atomic = touch.atomic ? AccessRecord::atomic : 0;
  PageWord word = config_.log->page(number);
  if (touch.reads) {
    if (place.reads_exactly) record(touch.address, touch.bytes, AccessRecord::read | atomic, place.at);
    word = config_.log->touch(number, epoch_, config_.job.rank, false);
  }
  if (touch.writes) {
    record(touch.address, touch.bytes, AccessRecord::write | atomic, place.at);
    word = config_.log->touch(number, epoch_, config_.job.rank, true);
  }
  return word;
}

void AccessRecorder::peek(uint64_t number) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  if (pages_[number].open != PageUse::closed) return;
  protect(number, 1, PROT_READ);
  mark_open(number, false, nullptr);
}

bool AccessRecorder::on_fault(const void* address, ucontext_t& context) {
  const uint64_t number = static_cast<uint64_t>(static_cast<const char*>(address) - config_.base) >> page_shift;
  const Array* const array = config_.arrays->live(number);
  if (array == nullptr || !watched_.has(*array, number)) return false;
  const double begin = RecordingTime::now();
  if (unseen > 0) {  // to look for the place would touch the frames of callers, which may be watched
    const std::lock_guard<SignalSafeLock> guard(lock_);
    return protect(number, 1, PROT_READ | PROT_WRITE), true;
  }
  const MemoryAccess touch = memory_access(context, address);
  const CodePlace place = code_place(context);
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto wanted = static_cast<uint8_t>(touch.writes ? PageUse::writing : PageUse::reading);
  if (pages_[number].open >= wanted) return true;  // another thread has opened it
  if (leave_scattered_heap(*array)) return true;
  if (touch.writes && config_.piece->judges(*array)) {
    if (place.of_program) config_.piece->check(touch.address, touch.bytes, place.at);
    else blur(number);  // a twin would not show that the piece has not written it
  }
  const PageWord word = record(touch, number, place);
  if (is_step(*array, number, word, touch.writes)) {
    ++pages_[number].steps;
    if (steps.count == 0) steps.begin = begin;
    steps.page[steps.count++] = number;
    protect(number, 1, touch.writes ? PROT_READ | PROT_WRITE : PROT_READ);
    context.uc_mcontext.gregs[REG_EFL] |= trap_flag;
  } else {
    open(*array, number, touch.writes, place.at);
    if (steps.count == 0) config_.time->spend(begin);
  }
  return true;
}

// Returns whether only this one instruction may use the page, so that the next one is recorded, too: where elements of
// two ranks may be side by side, or ranks have conflicted before, or a piece of the program may write a part.
bool AccessRecorder::is_step(const Array& array, uint64_t number, PageWord word, bool writes) {
  constexpr uint64_t small = 16;  // pages of an array that any rank may use for anything
  constexpr uint16_t most_steps = 4096, most_variables = 64;
  const HomeRun& run = array.home(number);
  bool suspect = word.suspect != 0 || array.is_heap || array.own_open || array.end_page - array.first_page <= small ||
                 number == run.first || number + 1 == run.first + run.pages;
  if (config_.piece->judges(array)) suspect = writes && !config_.piece->names(array, number);
  // Few variables of a function are in one page; a page with more accesses, or after one that was opened, has an array.
  else if (array.own_open && config_.time->half_spent())
    suspect = word.suspect != 0 || (pages_[number].steps < most_variables && !streams_.go_on_at(number));
  return suspect && !traced_ && steps.count < Steps::most && pages_[number].steps < most_steps &&
         !config_.time->hurried();
}

bool AccessRecorder::on_trap(ucontext_t& context) {
  if (steps.count == 0) return false;
  const std::lock_guard<SignalSafeLock> guard(lock_);
  for (size_t i = 0; i < steps.count; ++i) protect_as_open(steps.page[i]);
  steps.count = 0;
  context.uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
  // This includes the system's part: a virtual machine may take ten times as long to deliver the trap as for all the
  // rest.
  config_.time->spend(steps.begin);
  return true;
}

// Returns the number of pages to open at once: more and more in sequence through this rank's own part. Accesses beyond
// the first are recorded in the page's word only.
uint64_t AccessRecorder::window(const Array& array, uint64_t number, bool writes) {
  const uint64_t most = config_.time->hurried() ? 512 : 32;
  const HomeRun& run = array.home(number);
  const bool named = writes && config_.piece->judges(array);
  const bool alone = run.rank != config_.job.rank && !config_.time->hurried();
  if (alone && !array.own_open) return 1;
  PageStreams::Stream& stream = streams_.at(number);
  uint64_t pages = std::clamp<uint64_t>(stream.pages * 2, 1, most);
  const uint64_t last = run.first + run.pages - 1;  // stops before pages that may be another rank's, too
  pages = number >= last || alone ? 1 : std::min(pages, last - number);
  const auto wanted = static_cast<uint8_t>(writes ? PageUse::writing : PageUse::reading);
  for (uint64_t i = named && !config_.piece->names(array, number) ? 0 : 1; i < pages; ++i)
    if (pages_[number + i].open >= wanted || config_.log->page(number + i).suspect != 0 ||
        (named && !config_.piece->names(array, number + i)))
      pages = std::max<uint64_t>(i, 1);
  stream = {number + pages, pages};
  return pages;
}

void AccessRecorder::open(const Array& array, uint64_t number, bool writes, const void* place) {
  const uint64_t pages = window(array, number, writes);
  protect(number, pages, writes ? PROT_READ | PROT_WRITE : PROT_READ);
  const bool twins = writes && !config_.time->hurried() && config_.job.nranks > 1 && watched_.owner_has(array, number);
  for (uint64_t p = number; p < number + pages; ++p) {
    mark_open(p, writes, place);
    // The word must show a page that may be written without a record: its other writers would take the changes for
    // theirs.
    if (p > number) config_.log->touch(p, epoch_, config_.job.rank, writes);
    if (twins) twins_.keep(config_.base, p);
    if (writes && config_.piece->judges(array) && !config_.piece->names(array, p)) config_.piece->keep_twin(p);
  }
}

void AccessRecorder::open_unseen(uint64_t first, uint64_t pages) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const Array* const array = config_.arrays->live(first);
  if (pages == 0 || array == nullptr || !array->watched) return;
  protect(first, pages, PROT_READ | PROT_WRITE);
  for (uint64_t p = first; p < first + pages; ++p) {
    mark_open(p, true, nullptr);
    config_.log->touch(p, epoch_, config_.job.rank, true);
    if (!config_.piece->names(*array, p)) config_.piece->keep_twin(p);
  }
}

// Records page by page, so that an element in each is known exactly.
void AccessRecorder::access(const char* address, size_t bytes, int kind, const void* place) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const bool writes = (kind & AccessRecord::write) != 0, frees = (kind & AccessRecord::frees) != 0;
  const auto wanted = static_cast<uint8_t>(writes ? PageUse::writing : PageUse::reading);
  for (size_t done = 0; done < bytes;) {
    const char* const at = address + done;
    const size_t here = std::min(bytes - done, page_bytes - reinterpret_cast<uintptr_t>(at) % page_bytes);
    const uint64_t number = static_cast<uint64_t>(at - config_.base) >> page_shift;
    done += here;
    const Array* const array = config_.arrays->live(number);
    if (array == nullptr || !watched_.has(*array, number) || asleep_) continue;
    if (writes && config_.piece->judges(*array)) config_.piece->check(at, here, place);
    record(at, here, kind, place);
    config_.log->touch(number, epoch_, config_.job.rank, writes);
    if (frees || pages_[number].open >= wanted) continue;
    open(*array, number, writes, place);
  }
}

bool PastViewAccesses::touch(const char* address, size_t bytes, int kind) const {
  AccessRecorder& r = recorder_;
  const uint64_t number = static_cast<uint64_t>(address - r.config_.base) >> page_shift;
  const Array* const array = r.config_.arrays->live(number);
  if (array == nullptr || !r.watched_.has(*array, number) || r.asleep_) return false;
  const void* const place = calling_place();
  const std::lock_guard<SignalSafeLock> guard(r.lock_);
  r.record(address, bytes, kind, place);
  r.config_.log->touch(number, r.epoch_, r.config_.job.rank, (kind & AccessRecord::write) != 0);
  return true;
}

// Twins do not show which rank has written.
void PastViewAccesses::access(const char* address, size_t bytes, bool writes) const {
  const int kind = (writes ? AccessRecord::write : AccessRecord::read) | AccessRecord::transaction;
  if (touch(address, bytes, kind) && writes)
    recorder_.blur(static_cast<uint64_t>(address - recorder_.config_.base) >> page_shift);
}

void PastViewAccesses::atomic(const char* address, size_t bytes, bool writes) const {
  touch(address, bytes, (writes ? AccessRecord::write : AccessRecord::read) | AccessRecord::atomic);
}

uint32_t PastViewAccesses::begin_turn() const {
  const std::lock_guard<SignalSafeLock> guard(recorder_.lock_);
  const uint64_t event = log().events;
  if (event == RankLog::most_events) return log().too_many_events = true, RankLog::most_events;
  log().event[log().events++] = {SyncEvent::acquire, SyncEvent::transactions, 0};
  return static_cast<uint32_t>(event);
}

void PastViewAccesses::end_turn(uint32_t event, uint32_t ticket) const {
  if (event < RankLog::most_events) log().event[event].ticket = ticket;
  recorder_.note(SyncEvent::release, SyncEvent::transactions, ticket);
}

// ---- the heap ------------------------------------------------------------------------------------------------------

// Leaves the heap open for good once it has too many open pages: objects lie anywhere, and each page that is open alone
// is a mapping, whose number Linux limits. Returns true if it has just done so; accesses to the heap are no longer
// recorded.
bool AccessRecorder::leave_scattered_heap(const Array& array) {
  constexpr uint64_t most = 8192;
  if (!array.is_heap || open_.count() < most) return false;
  config_.arrays->for_each_live([this](Array& other) {
    if (other.is_heap) remove(other);
  });
  RankLog& log = config_.log->of(config_.job.rank);
  return log.blind = log.heap_left = true;
}

// After a change by this floor, a page differs from its twin although no rank of the program has changed it.
UnseenAccess::UnseenAccess(AccessRecorder* recorder, const char* address, size_t bytes, bool writes)
    : recorder_(recorder) {
  if (recorder_ == nullptr) return;
  ++unseen;
  first_ = static_cast<uint64_t>(address - recorder_->config_.base) >> page_shift;
  end_ = (static_cast<uint64_t>(address + bytes - 1 - recorder_->config_.base) >> page_shift) + 1;
  for (uint64_t page = first_; writes && page < end_; ++page) recorder_->blur(page);
}

UnseenAccess::~UnseenAccess() {
  if (recorder_ == nullptr) return;
  --unseen;
  const std::lock_guard<SignalSafeLock> guard(recorder_->lock_);
  for (uint64_t page = first_; page < end_; ++page) recorder_->protect_as_open(page);
}

}  // namespace hiroba
