#include "memory/notices/sharers.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "base/debug/peek.hpp"
#include "memory/notices/notices.hpp"

namespace hiroba {

void Sharers::start(const Config& config) {
  config_ = config;
  mine_ = reinterpret_cast<std::atomic<uint8_t>*>(config.base + config.layout.directory(config.job.rank));
  peers_ = std::make_unique<Peer[]>(static_cast<size_t>(config.job.nranks));
  if (config.uffd == nullptr || !config.uffd->tracks_writes()) return;
  if (config.job.ranks_here() > 1) let_others_peek();
  auto& mine = *reinterpret_cast<Tracking*>(config.base + config.layout.tracking(config.job.rank));
  mine.descriptor = static_cast<uint64_t>(config.uffd->descriptor());
  mine.base = reinterpret_cast<uint64_t>(config.base);
  mine.process = static_cast<uint64_t>(getpid());
}

SignalSafeLock& Sharers::lock(int node) const {
  const int keeper = config_.job.first_rank_of(node);
  return *reinterpret_cast<SignalSafeLock*>(reach(keeper, config_.layout.registration_lock(keeper)));
}

uint64_t Sharers::count() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const int keeper = config_.job.first_rank_of(config_.job.node);
  return word(config_.layout.registrations(keeper), keeper).load();
}

PageRun Sharers::registration(uint64_t number) const {
  const int keeper = config_.job.first_rank_of(config_.job.node);
  const Notice notice = {word(config_.layout.registration_slot(keeper, number), keeper).load()};
  return {notice.page(), notice.pages()};
}

// Returns true if all ranks of the node know of copies of these pages, and have none of these flags.
bool Sharers::all_know(int node, uint64_t page, uint64_t pages, uint8_t but_not) const {
  for (int r = config_.job.first_rank_of(node); r < config_.job.first_rank_of(node + 1); ++r) {
    const std::atomic<uint8_t>* const bytes = &byte(r, page);
    for (uint64_t i = 0; i < pages; ++i) {
      const uint8_t flags = bytes[i].load(std::memory_order_acquire);
      if ((flags & (tracked | unarmed)) == 0 || (flags & but_not) != 0) return false;
    }
  }
  return true;
}

// The fence is for pages that another registration has just announced: the home must see that, or the copy its writes.
void Sharers::add(int node, uint64_t page, uint64_t pages) {
  if (!all_know(node, page, pages, idle)) {
    const std::lock_guard guard(lock(node));
    if (!all_know(node, page, pages, 0)) announce(node, page, pages);
    for (int r = config_.job.first_rank_of(node); r < config_.job.first_rank_of(node + 1); ++r) add_for(r, page, pages);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Before the bytes change: who finds them changed without the lock relies on the announcement.
void Sharers::announce(int node, uint64_t page, uint64_t pages) const {
  const int keeper = config_.job.first_rank_of(node);
  std::atomic<uint64_t>& count = word(config_.layout.registrations(keeper), keeper);
  const uint64_t number = count.load(std::memory_order_relaxed);
  word(config_.layout.registration_slot(keeper, number), keeper).store(Notice::make(page, pages).word);
  count.store(number + 1);
}

void Sharers::add_for(int rank, uint64_t page, uint64_t pages) {
  std::atomic<uint8_t>* const bytes = &byte(rank, page);
  const auto is_known = [bytes](uint64_t i) { return (bytes[i].load() & (tracked | unarmed)) != 0; };
  for (uint64_t i = 0, n = 0; i < pages; i += n + 1, n = 0) {
    while (i + n < pages && !is_known(i + n)) ++n;
    const bool armed = n == 0 || arm(rank, page + i, n);
    for (uint64_t k = i; k < i + n; ++k) {
      const unsigned now = armed ? (bytes[k].load() & unsigned{again}) | tracked : unsigned{unarmed};
      bytes[k].store(static_cast<uint8_t>(now));
    }
    if (i + n < pages && (bytes[i + n].load() & idle) != 0) bytes[i + n].fetch_and(static_cast<uint8_t>(~idle));
  }
}

bool Sharers::arm(int rank, uint64_t page, uint64_t pages) {
  char* base = nullptr;
  Userfaultfd* const uffd = uffd_of(rank, base);
  if (uffd == nullptr) return false;
  const auto protect = [&] { return uffd->protect(base + (page << page_shift), pages << page_shift); };
  return protect() || (watch(*uffd, base, config_.job.node_of(rank), page, pages) && protect());
}

// Only chunks with tracked pages are given to userfaultfd: the rest may use huge pages.
bool Sharers::watch(Userfaultfd& uffd, char* base, int node, uint64_t page, uint64_t pages) const {
  const Array* const array = config_.arrays->live(page);
  if (array == nullptr) return false;  // it is just being freed
  const uint64_t chunk = page / PageBits::pages * PageBits::pages;
  const uint64_t chunks_end = (page + pages + PageBits::pages - 1) / PageBits::pages * PageBits::pages;
  bool all = true;
  array->for_each_run_of(
      [&](int rank) { return config_.job.node_of(rank) == node; },
      [&](uint64_t first, uint64_t count) {
        const uint64_t begin = std::max(first, chunk), end = std::min(first + count, chunks_end);
        if (begin >= end) return;
        all = uffd.watch(base + (begin << page_shift), (end - begin) << page_shift, Userfaultfd::write_protect).ok() &&
              all;
      });
  return all;
}

// Another rank's descriptor is taken from its process once.
Userfaultfd* Sharers::uffd_of(int rank, char*& base) {
  if (rank == config_.job.rank) {
    base = config_.base;
    return config_.uffd != nullptr && config_.uffd->tracks_writes() ? config_.uffd : nullptr;
  }
  Peer& peer = peers_[static_cast<size_t>(rank)];
  if (!peer.tried) {
    peer.tried = true;
    const auto& tracking = *reinterpret_cast<Tracking*>(reach(rank, config_.layout.tracking(rank)));
    const auto process = static_cast<pid_t>(tracking.process.load());
    const int taken = process == 0 ? -1 : take_descriptor(process, static_cast<int>(tracking.descriptor.load()));
    if (taken >= 0) peer.uffd.adopt(taken), peer.base = reinterpret_cast<char*>(tracking.base.load());
  }
  base = peer.base;
  return peer.uffd.is_open() ? &peer.uffd : nullptr;
}

}  // namespace hiroba
