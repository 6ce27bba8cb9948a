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
  HIROBA_TRY(pages_.create("check: states of pages", config.layout.pages() * sizeof(Page)));
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

AccessRecorder::Page& AccessRecorder::page(uint64_t number) {
  Page& out = pages_.as<Page>()[number];
  if (out.epoch != static_cast<uint32_t>(epoch_))
    out.steps = 0, out.epoch = static_cast<uint32_t>(epoch_), out.written_at = nullptr;
  return out;
}

void AccessRecorder::protect(uint64_t first, uint64_t pages, int protection) {
  char* const at = config_.base + (first << page_shift);
  if (mprotect(at, pages << page_shift, protection) == 0) return;
  end_job(1,
          "check: cannot change the protection of %lu pages (%s): accesses to scattered pages need a mapping each, at "
          "most /proc/sys/vm/max_map_count; raise it, or check a smaller run",
          pages, explain_error(errno).c_str());
}

// Pages of the heap are open if it is no longer watched.
void AccessRecorder::protect_as_open(uint64_t number) {
  const Array* const array = config_.arrays->live(number);
  const uint8_t open = array != nullptr && array->watched ? page(number).open : static_cast<uint8_t>(Page::writing);
  protect(number, 1, open == Page::closed ? closed_ : open == Page::reading ? PROT_READ : PROT_READ | PROT_WRITE);
}

void AccessRecorder::begin_epoch(uint64_t epoch) {
  epoch_ = epoch;
  twins_.clear();
  close();
  config_.time->begin_epoch();
}

void AccessRecorder::close() {
  if (asleep_) return;
  const std::lock_guard<SignalSafeLock> guard(lock_);
  constexpr uint64_t few = 256;  // to close more, closing all between them is cheaper
  for (const PageRun& run : open_.all()) {
    for (uint64_t p = run.first; p < run.first + run.pages; ++p) pages_.as<Page>()[p].open = Page::closed;
    if (open_.count() <= few) protect(run.first, run.pages, closed_);
  }
  if (open_.count() > few)
    config_.arrays->for_each_live([&](const Array& array) {
      if (!array.watched) return;
      if (open_.full() && !array.is_heap)  // for the heap, leave_scattered_heap() acts first
        for (uint64_t p = array.first_page; p < array.end_page; ++p) pages_.as<Page>()[p].open = Page::closed;
      protect(array.first_page, array.end_page - array.first_page, closed_);
    });
  open_.clear(), open_to_writes_.clear();
}

void AccessRecorder::close_to_writes() {
  if (open_to_writes_.full()) return close();
  const std::lock_guard<SignalSafeLock> guard(lock_);
  if (std::exchange(asleep_, false))
    config_.arrays->for_each_live([&](const Array& array) {
      if (array.watched) protect(array.first_page, array.end_page - array.first_page, closed_);
    });
  for (const PageRun& run : open_to_writes_.all()) {
    for (uint64_t p = run.first; p < run.first + run.pages; ++p) pages_.as<Page>()[p].open = Page::reading;
    if (const Array* const array = config_.arrays->live(run.first); array != nullptr && array->watched)
      protect(run.first, run.pages, PROT_READ);
  }
  open_to_writes_.clear();
}

void AccessRecorder::add(const Array& array) {
  if (array.watched && !asleep_) protect(array.first_page, array.end_page - array.first_page, closed_);
}

void AccessRecorder::remove(Array& array) {
  if (array.watched) protect(array.first_page, array.end_page - array.first_page, PROT_READ | PROT_WRITE);
  array.watched = false;
}

void AccessRecorder::mark_open(uint64_t number, bool writes, const void* place) {
  Page& state = page(number);
  if (state.open == Page::closed) open_.add(number);
  if (writes && state.open != Page::writing) open_to_writes_.add(number);
  state.open = std::max<uint8_t>(state.open, writes ? Page::writing : Page::reading);
  if (writes) state.written_at = place;
}

// ---- recording -----------------------------------------------------------------------------------------------------

void AccessRecorder::note(SyncEvent::Kind kind, uint32_t lock, uint32_t ticket) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  RankLog& log = config_.log->of(config_.job.rank);
  // Several with no access between them count as one.
  const bool again = kind == SyncEvent::any && log.events > 0 && log.event[log.events - 1].kind == SyncEvent::any &&
                     (log.records == 0 || log.record[log.records - 1].segment < log.events);
  if (again) return;
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
  if (page(number).open != Page::closed) return;
  protect(number, 1, PROT_READ);
  mark_open(number, false, nullptr);
}

bool AccessRecorder::on_fault(const void* address, ucontext_t& context) {
  const uint64_t number = static_cast<uint64_t>(static_cast<const char*>(address) - config_.base) >> page_shift;
  const Array* const array = config_.arrays->live(number);
  if (array == nullptr || !array->watched) return false;
  const double begin = seconds_now();
  const MemoryAccess touch = memory_access(context, address);
  const CodePlace place = code_place(context);
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto wanted = static_cast<uint8_t>(touch.writes ? Page::writing : Page::reading);
  if (unseen > 0) return protect(number, 1, PROT_READ | PROT_WRITE), true;
  if (page(number).open >= wanted) return true;  // another thread has opened it
  if (leave_scattered_heap(*array)) return true;
  if (touch.writes && config_.piece->judges(*array)) {
    if (place.of_program) config_.piece->check(touch.address, touch.bytes, place.at);
    else blur(number);  // a twin would not show that the piece has not written it
  }
  const PageWord word = record(touch, number, place);
  if (is_step(*array, number, word, touch.writes)) {
    ++page(number).steps;
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
  constexpr uint16_t most_steps = 4096;
  const HomeRun& run = array.home(number);
  const bool suspect = config_.piece->judges(array)
                           ? writes && !config_.piece->names(array, number)
                           : word.suspect != 0 || array.is_heap || array.end_page - array.first_page <= small ||
                                 number == run.first || number + 1 == run.first + run.pages;
  return suspect && !traced_ && steps.count < Steps::most && page(number).steps < most_steps &&
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
  if (run.rank != config_.job.rank && !config_.time->hurried()) return 1;
  Stream* stream = std::find_if(streams_, streams_ + most_streams, [&](const Stream& s) { return s.next == number; });
  if (stream == streams_ + most_streams) stream = &streams_[stream_turn_++ % most_streams], stream->pages = 0;
  uint64_t pages = std::clamp<uint64_t>(stream->pages * 2, 1, most);
  const uint64_t last = run.first + run.pages - 1;  // stops before pages that may be another rank's, too
  pages = number >= last ? 1 : std::min(pages, last - number);
  const auto wanted = static_cast<uint8_t>(writes ? Page::writing : Page::reading);
  for (uint64_t i = named && !config_.piece->names(array, number) ? 0 : 1; i < pages; ++i)
    if (page(number + i).open >= wanted || config_.log->page(number + i).suspect != 0 ||
        (named && !config_.piece->names(array, number + i)))
      pages = std::max<uint64_t>(i, 1);
  *stream = {number + pages, pages};
  return pages;
}

void AccessRecorder::open(const Array& array, uint64_t number, bool writes, const void* place) {
  const uint64_t pages = window(array, number, writes);
  protect(number, pages, writes ? PROT_READ | PROT_WRITE : PROT_READ);
  const bool twins = writes && !config_.time->hurried() && config_.job.nranks > 1;
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
  const auto wanted = static_cast<uint8_t>(writes ? Page::writing : Page::reading);
  for (size_t done = 0; done < bytes;) {
    const char* const at = address + done;
    const size_t here = std::min(bytes - done, page_bytes - reinterpret_cast<uintptr_t>(at) % page_bytes);
    const uint64_t number = static_cast<uint64_t>(at - config_.base) >> page_shift;
    done += here;
    const Array* const array = config_.arrays->live(number);
    if (array == nullptr || !array->watched || asleep_) continue;
    if (writes && config_.piece->judges(*array)) config_.piece->check(at, here, place);
    record(at, here, kind, place);
    config_.log->touch(number, epoch_, config_.job.rank, writes);
    if (frees || page(number).open >= wanted) continue;
    open(*array, number, writes, place);
  }
}

// Twins do not show which rank has written.
void TransactionAccesses::access(const char* address, size_t bytes, bool writes) const {
  AccessRecorder& r = recorder_;
  const void* const place = calling_place();
  const std::lock_guard<SignalSafeLock> guard(r.lock_);
  const uint64_t number = static_cast<uint64_t>(address - r.config_.base) >> page_shift;
  const Array* const array = r.config_.arrays->live(number);
  if (array == nullptr || !array->watched || r.asleep_) return;
  r.record(address, bytes, (writes ? AccessRecord::write : AccessRecord::read) | AccessRecord::transaction, place);
  r.config_.log->touch(number, r.epoch_, r.config_.job.rank, writes);
  if (writes) r.blur(number);
}

uint32_t TransactionAccesses::begin_turn() const {
  const std::lock_guard<SignalSafeLock> guard(recorder_.lock_);
  const uint64_t event = log().events;
  if (event == RankLog::most_events) return log().too_many_events = true, RankLog::most_events;
  log().event[log().events++] = {SyncEvent::acquire, SyncEvent::transactions, 0};
  return static_cast<uint32_t>(event);
}

void TransactionAccesses::end_turn(uint32_t event, uint32_t ticket) const {
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
