#include "memory/cache/writeback.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory/cache/fetches.hpp"
#include "memory/notices/home_writes.hpp"
#include "memory/record/array_record.hpp"

namespace hiroba {

namespace {

// Returns whether no other piece lies in the chunk.
bool whole_chunk(const Copies::Piece& piece) {
  return piece.first % chunk_pages == 0 && piece.end - piece.first == chunk_pages;
}

}  // namespace

// Sends the changes in pages of one array to their homes. It collects differences and sends them when there are enough;
// consecutive pages that have changed in every byte are sent whole. Under the flush lock.
class Writeback::Packer {
 public:
  Packer(Writeback& owner, Array& array)
      : owner_(owner), copies_(owner.copies_), transport_(*owner.config_.transport), array_(array) {}

  // Requires that the caller holds the page busy, or that no other thread can change its state. Returns false if
  // nothing had changed.
  bool add(uint64_t page) {
    const HomeRun& run = array_.home(page);
    if (run.rank != rank_) send();
    else if (run.first != run_first_) send_whole();  // a put does not cross attached ranges
    rank_ = run.rank, run_first_ = run.first;
    uint64_t* const out = room();
    const UsingPage using_page(copies_.at_work, page);
    const char* const now = array_.tracker->content(copies_.view(page));
    const size_t words = diff_page(now, twin(page), page << page_shift, array_.scalar, out);
    ++compared_;
    if (words == 0) {
      owner_.config_.unchanged->add(page);
      return false;
    }
    ++changed_;
    if (recording()) note_page(&ArrayRecord::writes, array_, page);
    if (words == whole_page) add_whole(page);
    else used_ += words;
    if (++owner_.since_progress_ % progress_pages == 0 && owner_.sending()) transport_.progress();
    owner_.config_.notices->add(page, 1, owner_.config_.job.node_of(run.rank));
    return true;
  }

  void send() {
    send_whole();
    send_packed();
    count(array_.counters.diffed, std::exchange(compared_, 0));
    count(array_.counters.notices, std::exchange(changed_, 0));
  }

  // Sends and waits until the changes are at the homes, so that a page fetched from now on has them.
  void send_and_fence() {
    send();
    if (sent_) transport_.fence();
  }

 private:
  // From `many` consecutive pages on, whole pages are faster than packed ones in one message; at most `most` at once.
  static constexpr uint64_t many = 16, most = 1024;
  // If the processor itself sends, more pages at once are faster.
  static constexpr uint32_t progress_pages = 2048;

  Outgoing& outgoing() { return owner_.outgoing_[owner_.outgoing_turn_ % outgoings]; }
  char* twin(uint64_t page) const { return copies_.twin(array_, page); }

  // Returns room for the differences of a page.
  uint64_t* room() {
    if (used_ + max_diff_words > packed_words) send_packed();
    if (used_ == 0) transport_.one_sided().await(outgoing().sent);
    return outgoing().words + used_;
  }

  void add_whole(uint64_t page) {
    if (page != whole_.first + whole_.pages || whole_.pages == most) send_whole();
    if (whole_.pages++ == 0) whole_.first = page;
  }

  void send_whole() {
    const uint64_t offset = whole_.first << page_shift, bytes = whole_.pages << page_shift;
    if (whole_.pages >= many) {
      transport_.one_sided().start_put(rank_, offset, twin(whole_.first), bytes, owner_.whole_sent_);
      count(array_.counters.bytes_sent, bytes);
      if (recording()) note_moved(run_record->sent_to, rank_, bytes);
      sent_ = true;
    } else {
      for (uint64_t done = 0; done < bytes; done += page_bytes) {
        uint64_t* const out = room();
        out[0] = Packed::head(offset + done, page_bytes);
        std::memcpy(out + 1, twin(whole_.first) + done, page_bytes);
        used_ += 1 + page_bytes / sizeof *out;
      }
    }
    whole_.pages = 0;
  }

  void send_packed() {
    if (used_ == 0) return;
    transport_.one_sided().start_put_packed(rank_, {outgoing().words, used_}, outgoing().sent);
    ++owner_.outgoing_turn_;
    count(array_.counters.bytes_sent, used_ * sizeof(uint64_t));
    if (recording()) note_moved(run_record->sent_to, rank_, used_ * sizeof(uint64_t));
    used_ = 0;
    sent_ = true;
  }

  Writeback& owner_;
  Copies& copies_;
  Transport& transport_;
  Array& array_;
  int rank_ = -1;
  uint64_t run_first_ = 0;
  size_t used_ = 0;         // words of the collected differences
  PageRun whole_ = {0, 0};  // pages that have changed in every byte
  uint64_t compared_ = 0, changed_ = 0;
  bool sent_ = false;
};

bool Writeback::sending() const {
  const auto under_way = [](const Completion& sent) { return sent.left.load(std::memory_order_relaxed) > 0; };
  return under_way(whole_sent_) ||
         std::any_of(std::begin(outgoing_), std::end(outgoing_), [&](const Outgoing& o) { return under_way(o.sent); });
}

// Under the flush lock, before it is released: no message is under way afterwards.
void Writeback::await_outgoing() {
  for (Outgoing& outgoing : outgoing_) config_.transport->one_sided().await(outgoing.sent);
  config_.transport->one_sided().await(whole_sent_);
}

// ---- making room -------------------------------------------------------------------------------------------------

void Writeback::make_room(uint64_t pages) {
  const uint64_t now = copies_.reserve(pages), limit = config_.limit_pages;
  if (now <= limit) return;
  copies_.become_full();
  evict(std::max(now - limit, std::min<uint64_t>(64, limit / 8)));
}

// Drops the oldest pages, whole runs at a time. It skips pages that another fetch uses, so in the worst case it drops
// fewer than `pages`, and the cache exceeds its limit by what is in flight.
void Writeback::evict(uint64_t pages) {
  flush_lock_.lock();
  uint64_t run = 0, length = 0;  // taken, not yet dropped
  bool run_valid = false;
  for (uint64_t attempts = copies_.queued(); attempts > 0 && pages > 0; --attempts) {
    uint64_t page;
    if (!copies_.pop_oldest(page)) break;
    const bool valid = config_.states->take(page, PageState::valid);
    if (!valid && !config_.states->take(page, PageState::stale)) {
      copies_.push_newest(page);  // busy
      continue;
    }
    if (length > 0 && (page != run + length || page % chunk_pages == 0 || valid != run_valid)) {
      evict_run(run, length, run_valid);
      length = 0;
    }
    if (length++ == 0) run = page, run_valid = valid;
    --pages;
  }
  if (length > 0) evict_run(run, length, run_valid);
  await_outgoing();
  flush_lock_.unlock();
}

// Requires that the caller holds these pages of one chunk busy. It sends written ones home first. It does not freeze
// stale ones, because that would let another thread read them.
void Writeback::evict_run(uint64_t page, uint64_t pages, bool valid) {
  Array& array = *config_.arrays->live(page);
  if (valid) {
    PageBits written;
    array.tracker->freeze(copies_.view(page), pages << page_shift, false);
    array.tracker->collect(copies_.view(page), pages, written);
    Packer packer(*this, array);
    for (uint64_t p = 0; p < pages; ++p)
      if (written.test(p) && !copies_.closed.is_closed(page + p)) packer.add(page + p);
    packer.send_and_fence();
    array.tracker->discard(copies_.view(page), pages << page_shift, false);
  } else {
    for (uint64_t p = page; p < page + pages; ++p)
      if (config_.states->flag(p, PageStates::in_view)) copies_.hide(array, p);
  }
  copies_.evicted(array, page, pages);
}

// ---- sending writes home -----------------------------------------------------------------------------------------

// Takes the page if it is valid; waits if another thread holds it busy.
bool Writeback::take_valid(uint64_t page) {
  while (!config_.states->take(page, PageState::valid)) {
    if (config_.states->state(page) != PageState::busy) return false;
    fetches_.wait_while_busy(page);
  }
  return true;
}

// Returns the piece from the first to the last page that may have been written: others are stale or closed.
Writeback::Piece Writeback::in_use(const Piece& piece) const {
  const auto used = [this](uint64_t page) {
    const PageState state = config_.states->state(page);
    return state == PageState::busy || (state == PageState::valid && !copies_.closed.is_closed(page));
  };
  uint64_t first = piece.first, end = piece.end;
  while (first < end && !used(first)) ++first;
  while (end > first && !used(end - 1)) --end;
  return {piece.array, piece.run, first, end};
}

void Writeback::flush_piece(const Piece& whole, bool alone) {
  if (copies_.closed.all_closed(whole.first)) return;
  copies_.closed.set_all_closed(whole.first, whole_chunk(whole));
  const Piece piece = in_use(whole);
  const uint64_t pages = piece.end - piece.first;
  if (pages == 0) return;
  PageBits written, unchanged;
  piece.array.tracker->collect(copies_.view(piece.first), pages, written);
  // Takes all pages before it compares any: an atomic operation after each comparison would wait until the twin's bytes
  // are stored.
  for (uint64_t i = 0; i < pages; ++i) {
    if (!written.test(i)) continue;
    const uint64_t page = piece.first + i;
    if (!copies_.closed.is_closed(page) && take_valid(page)) config_.states->set_flag(page, PageStates::copied);
    else written.clear(i);  // closed, or a marker of an absent page
  }
  Packer packer(*this, piece.array);
  for (uint64_t i = 0; i < pages; ++i) {
    if (!written.test(i)) continue;
    if (!packer.add(piece.first + i)) unchanged.set(i);
  }
  packer.send();
  // A page that stays in the view may be written in the next epoch but one; then a copy costs more than comparing it.
  if (alone && !copies_.stays(piece.array)) discard_unchanged(piece, unchanged);
  bool quiet = true;
  const bool may_close = !copies_.stays(piece.array);
  PageBits quiet_pages;
  for (uint64_t i = 0; i < pages; ++i) {
    if (!written.test(i)) continue;
    if (!unchanged.test(i)) config_.states->set_flag(piece.first + i, PageStates::active), quiet = false;
    if (!alone && may_close && copies_.closed.is_quiet_page(piece.first + i, !unchanged.test(i))) quiet_pages.set(i);
    config_.states->release(piece.first + i, PageState::valid);
  }
  const bool closes = copies_.closed.is_quiet(piece.first, !quiet, alone) && may_close;
  if (!closes || !close_pages(piece)) copies_.closed.set_all_closed(piece.first, false);
  quiet_pages.for_each_run(pages, [&](uint64_t i, uint64_t n) {
    (void)close_pages({piece.array, piece.run, piece.first + i, piece.first + i + n});
  });
  if (copies_.full()) copies_.forget_mappings(piece.array, piece.first, pages);
}

// Makes writes to these copies fault. It finds writes between the comparison and the protection, and opens those pages
// at once. Returns true if all are closed.
bool Writeback::close_pages(const Piece& piece) {
  bool all = true;
  const auto is_open = [&](uint64_t page) { return !copies_.closed.is_closed(page); };
  for (uint64_t page = piece.first, n = 0; page < piece.end; page += n + 1, n = 0) {
    while (page + n < piece.end && is_open(page + n) && config_.states->take(page + n, PageState::valid)) ++n;
    if (n == 0) {
      all = all && (!is_open(page) || config_.states->state(page) < PageState::valid);
      continue;
    }
    PageBits copied;
    if (!copies_.closed.close(piece.array, page, n)) all = false;
    else piece.array.tracker->collect(copies_.view(page), n, copied);
    Packer packer(*this, piece.array);
    for (uint64_t i = 0; i < n; ++i) {
      if (copied.test(i)) {
        config_.states->set_flag(page + i, PageStates::copied);
        if (packer.add(page + i)) copies_.closed.open(piece.array, page + i);
        all = all && !is_open(page + i);  // a fault of the comparison opens it, too
      }
    }
    packer.send();
    for (uint64_t i = 0; i < n; ++i) config_.states->release(page + i, PageState::valid);
    if (page + n < piece.end) all = all && (!is_open(page + n) || config_.states->state(page + n) < PageState::valid);
  }
  return all;
}

// Drops private copies that equal their twins.
void Writeback::discard_unchanged(const Piece& piece, const PageBits& unchanged) {
  unchanged.for_each_run(piece.end - piece.first, [&](uint64_t first, uint64_t pages) {
    piece.array.tracker->drop_private(copies_.view(piece.first + first), pages << page_shift);
    for (uint64_t i = first; i < first + pages; ++i) config_.states->clear_flag(piece.first + i, PageStates::copied);
  });
}

// `written`: there may be writes that no flush has seen.
void Writeback::drop_piece(const Piece& piece, bool alone, bool written) {
  PageBits taken;
  uint64_t dropped = 0, first = piece.end, end = piece.first;
  for (uint64_t page = piece.first; page < piece.end; ++page) {
    if (!take_valid(page) && !copies_.take_stale_in_view(page)) continue;
    taken.set(page - piece.first);
    if (dropped++ == 0) first = page;
    end = page + 1;
  }
  if (dropped == 0) return;
  // When alone, only taken pages are mapped, so all from the first to the last go at once; else run by run.
  const auto for_each_run = [&](const auto& visit) {
    if (alone) return visit(first, end - first);
    taken.for_each_run(piece.end - piece.first, [&](uint64_t i, uint64_t pages) { visit(piece.first + i, pages); });
  };
  // No thread writes closed pages while they are busy, so they need no freeze: two system calls less.
  const auto are_closed = [&](uint64_t page, uint64_t pages) {
    while (pages > 0 && copies_.closed.is_closed(page)) ++page, --pages;
    return pages == 0;
  };
  Tracker& tracker = *piece.array.tracker;
  Packer packer(*this, piece.array);
  for_each_run([&](uint64_t page, uint64_t pages) {
    const bool closed = !alone && are_closed(page, pages);
    tracker.freeze(copies_.view(page), pages << page_shift, alone || closed);
    if (!written || closed) return;
    PageBits bits;
    tracker.collect(copies_.view(page), pages, bits);
    for (uint64_t i = 0; i < pages; ++i)
      if (bits.test(i) && taken.test(page + i - piece.first) && !copies_.closed.is_closed(page + i))
        packer.add(page + i);
  });
  if (alone) packer.send();  // no rank fetches before the barrier that follows
  else packer.send_and_fence();
  if (written && copies_.full()) copies_.forget_mappings(piece.array, piece.first, piece.end - piece.first);
  for_each_run([&](uint64_t page, uint64_t pages) {
    tracker.discard(copies_.view(page), pages << page_shift, alone || are_closed(page, pages));
  });
  for (uint64_t page = piece.first; page < piece.end; ++page) {
    if (!taken.test(page - piece.first)) continue;
    copies_.closed.forget(page);
    config_.states->clear_flag(page, PageStates::in_view | PageStates::copied | PageStates::active);
    config_.states->release(page, PageState::stale);
  }
  count(piece.array.counters.invalidated, dropped);
}

// Skips groups of chunks whose copies are all closed.
void Writeback::flush_pieces(Array& array, bool alone) {
  constexpr uint64_t group = ClosedCopies::group_pages;
  if (alone)
    return copies_.for_each_piece(array, array.first_page, array.end_page,
                                  [&](const Piece& piece) { flush_piece(piece, alone); });
  const uint64_t low = array.cached_low.load(std::memory_order_relaxed),
                 high = array.cached_high.load(std::memory_order_relaxed);
  uint64_t page = std::max(array.first_page, low / group * group);
  for (uint64_t end = page; page < std::min(array.end_page, high); page = end) {
    end = std::min(array.end_page, (page / group + 1) * group);
    const bool whole = end - page == group;  // no other array has chunks in it
    if (whole && copies_.closed.group_closed(page)) continue;
    if (whole) copies_.closed.set_group_closed(page, true);
    bool all = true;
    copies_.for_each_piece(array, page, end, [&](const Piece& piece) {
      flush_piece(piece, alone);
      all = all && copies_.closed.all_closed(piece.first);
    });
    if (!all) copies_.closed.set_group_closed(page, false);
  }
}

void Writeback::flush_all(bool alone) {
  config_.arrays->for_each_live([&](Array& array) { flush_pieces(array, alone); });
  if (!alone) config_.transport->fence();
  await_outgoing();
}

void Writeback::flush(bool alone) {
  flush_lock_.lock();
  flush_all(alone);
  flush_lock_.unlock();
}

bool Writeback::release(HomeWrites& home_writes, std::vector<Notice>& out) {
  flush_lock_.lock();
  flush_all(false);
  const bool known = home_writes.collect(*config_.notices, false);
  const std::span<const Notice> pending = config_.notices->pending();
  out.insert(out.end(), pending.begin(), pending.end());
  config_.notices->logged();
  flush_lock_.unlock();
  return known;
}

void Writeback::flush(Array& array) {
  flush_lock_.lock();
  flush_pieces(array, false);
  config_.transport->fence();
  await_outgoing();
  flush_lock_.unlock();
}

void Writeback::flush(Array& array, uint64_t page) {
  if (config_.states->state(page) < PageState::valid) return;
  flush_lock_.lock();
  copies_.for_each_piece(array, page, page + 1, [&](const Piece& piece) { flush_piece(piece, false); });
  config_.transport->fence();
  await_outgoing();
  flush_lock_.unlock();
}

void Writeback::flush_and_drop(bool alone) {
  flush_lock_.lock();
  config_.arrays->for_each_live([&](Array& array) {
    copies_.for_each_piece(array, array.first_page, array.end_page, [&](const Piece& piece) {
      if (!alone || !copies_.stays(array)) return drop_piece(piece, alone, true);
      flush_piece(piece, true);
      mark_piece_stale(piece);
    });
  });
  await_outgoing();
  flush_lock_.unlock();
}

void Writeback::flush_and_drop(Array& array, uint64_t page) {
  flush_lock_.lock();
  copies_.for_each_piece(array, page, page + 1, [&](const Piece& piece) { drop_piece(piece, false, true); });
  await_outgoing();
  flush_lock_.unlock();
}

// ---- what others have written ------------------------------------------------------------------------------------

// The fence is needed because a home that lacks differences of this rank would undo its writes in a refreshed page.
void Writeback::update(std::span<const Notice> written) {
  flush_lock_.lock();
  config_.transport->fence();
  uint64_t pages = 0;
  for (const Notice run : written) pages += run.pages();
  const bool few = pages <= Refreshes::most;
  for (const Notice run : written) {
    Array* const array = config_.arrays->live(run.page());
    if (array == nullptr) continue;
    const uint64_t end = std::min(array->end_page, run.page() + run.pages());
    copies_.for_each_piece(*array, run.page(), end, [&](const Piece& piece) {
      for (uint64_t page = piece.first, n = 0; page < piece.end; page += n + 1, n = 0) {
        while (page + n < piece.end && !refreshes_.worth_it(*array, page + n, few)) ++n;
        if (n > 0) drop_piece({*array, piece.run, page, page + n}, false, true);
        if (page + n < piece.end && take_valid(page + n)) refreshes_.start(*array, piece.run.rank, page + n);
      }
    });
  }
  refreshes_.finish();
  await_outgoing();
  flush_lock_.unlock();
}

void Writeback::mark_stale() {
  config_.arrays->for_each_live([&](Array& array) {
    copies_.for_each_piece(array, array.first_page, array.end_page,
                           [this](const Piece& piece) { mark_piece_stale(piece); });
  });
}

void Writeback::mark_piece_stale(const Piece& piece) {
  for (uint64_t page = piece.first; page < piece.end; ++page) {
    if (!take_valid(page)) continue;
    config_.states->set_flag(page, PageStates::in_view);
    config_.states->release(page, PageState::stale);
    count(piece.array.counters.invalidated, 1);
  }
}

void Writeback::invalidate(uint64_t page, uint64_t pages) {
  const uint64_t end = page + pages;
  while (page < end) {
    Array* const array = config_.arrays->live(page);
    if (array == nullptr) return;
    const uint64_t array_end = std::min(end, array->end_page);
    copies_.for_each_piece(*array, page, array_end, [&](const Piece& piece) {
      drop_piece(piece, true, false);
      copies_.registered.remove(config_.job.node_of(piece.run.rank), piece.first, piece.end);
    });
    page = array_end;
  }
}

void Writeback::note(uint64_t page) {
  flush_lock_.lock();
  config_.notices->add(page, 1, config_.job.node_of(config_.arrays->live(page)->home(page).rank));
  flush_lock_.unlock();
}

bool Writeback::note(std::span<const PageRun> runs) {
  flush_lock_.lock();
  const bool room = config_.notices->count() + runs.size() < Layout::notice_log_bytes / sizeof(Notice) / 2;
  if (room)
    for (const PageRun& run : runs)
      config_.notices->add(run.first, run.pages,
                           config_.job.node_of(config_.arrays->live(run.first)->home(run.first).rank));
  flush_lock_.unlock();
  return room;
}

}  // namespace hiroba
