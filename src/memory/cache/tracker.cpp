#include "memory/cache/tracker.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "base/limits.hpp"
#include "base/log.hpp"
#include "memory/cache/diff.hpp"

namespace hiroba {

namespace {

Status cannot_map(size_t bytes) {
  return Status::error("cannot map %zu bytes of shared array (%s)", bytes, explain_error(errno).c_str());
}

// Takes pages out of the view. The kernel flushes up to 33 translations one by one, and beyond that all of them. A
// stencil that drops its halo in every step then walks the tables of all the memory that it computes with: 100 us for
// 16 MiB in a virtual machine. Beyond 1 MiB that costs less than the steps.
void unmap(char* view, size_t bytes) {
  constexpr size_t step = 32 * page_bytes, many = size_t{1} << 20;
  if (bytes > many) {
    madvise(view, bytes, MADV_DONTNEED);
    return;
  }
  for (size_t done = 0; done < bytes; done += step) madvise(view + done, std::min(step, bytes - done), MADV_DONTNEED);
}

// The view is a shared mapping of the cache file; the kernel records first writes (userfaultfd WP_ASYNC).
class SharedTracker final : public Tracker {
 public:
  explicit SharedTracker(const TrackerParts& parts) : parts_(parts) {}
  bool twin_at_fetch() const override { return true; }

  Status map(char* view, size_t bytes, uint64_t offset) override {
    if (mmap(view, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, parts_.cache.fd(),
             static_cast<off_t>(offset)) == MAP_FAILED)
      return cannot_map(bytes);
    madvise(view, bytes, MADV_DONTDUMP);
    return parts_.uffd.watch(view, bytes, Userfaultfd::missing | Userfaultfd::minor | Userfaultfd::write_protect);
  }

  void install(char* view, size_t bytes) override { parts_.uffd.install(view, bytes, true); }
  void collect(char* view, size_t pages, PageBits& out) override { parts_.pagemap.written(view, pages, out); }
  const char* content(const char* view) const override { return parts_.cache.data() + (view - parts_.base); }
  // Unmapping stops writes. The written pages stay known, because protected ones leave a marker.
  void freeze(char* view, size_t bytes, bool) override { unmap(view, bytes); }
  void discard(char*, size_t, bool) override {}
  void drop_private(char*, size_t) override {}

 private:
  TrackerParts parts_;
};

// The view is a private mapping of the cache file; the kernel copies a page at its first write, and the cache file
// keeps the twin. Absent pages fault by userfaultfd if it is open, else by protection.
class PrivateTracker final : public Tracker {
 public:
  explicit PrivateTracker(const TrackerParts& parts) : parts_(parts) {}
  Status start() override { return unwatched_.create("hiroba-unwatched", parts_.extent / huge_page_bytes + 1); }
  bool twin_at_fetch() const override { return false; }

  Status map(char* view, size_t bytes, uint64_t offset) override {
    const int protection = parts_.uffd.is_open() ? PROT_READ | PROT_WRITE : PROT_NONE;
    if (mmap(view, bytes, protection, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, parts_.cache.fd(),
             static_cast<off_t>(offset)) == MAP_FAILED)
      return cannot_map(bytes);
    madvise(view, bytes, MADV_DONTDUMP);
    return parts_.uffd.is_open() ? parts_.uffd.watch(view, bytes, absent_modes) : Status();
  }

  void install(char* view, size_t bytes) override {
    if (!parts_.uffd.is_open()) return protect(view, bytes, PROT_READ | PROT_WRITE);
    // Whole huge pages become visible by two system calls, without a table entry per page.
    const size_t before = std::min<size_t>(bytes, -reinterpret_cast<uintptr_t>(view) % huge_page_bytes);
    const size_t whole = (bytes - before) / huge_page_bytes * huge_page_bytes, after = bytes - before - whole;
    if (before > 0) parts_.uffd.install(view, before, false);
    if (whole > 0) parts_.uffd.install_unwatched(view + before, whole);
    for (size_t done = 0; done < whole; done += huge_page_bytes) *unwatched(view + before + done) = true;
    if (after > 0) parts_.uffd.install(view + before + whole, after, false);
  }

  void collect(char* view, size_t pages, PageBits& out) override { parts_.pagemap.copied(view, pages, out); }
  const char* content(const char* view) const override { return view; }

  void freeze(char* view, size_t bytes, bool alone) override {
    if (!alone) protect(view, bytes, PROT_READ);
  }

  void discard(char* view, size_t bytes, bool alone) override {
    if (parts_.uffd.is_open()) watch_again(view, bytes);
    else protect(view, bytes, PROT_NONE);
    unmap(view, bytes);
    if (parts_.uffd.is_open() && !alone) protect(view, bytes, PROT_READ | PROT_WRITE);
  }

  void drop_private(char* view, size_t bytes) override {
    unmap(view, bytes);
    if (parts_.uffd.is_open()) parts_.uffd.install(view, bytes, false);
  }

  bool close(char* view, size_t bytes) override {
    if (!parts_.uffd.faults_on_writes() || *unwatched(view) || *unwatched(view + bytes - 1)) return false;
    if (!parts_.uffd.watch(view, bytes, absent_modes | Userfaultfd::write_protect).ok()) return false;
    parts_.uffd.protect(view, bytes);
    return true;
  }

  void open(char* view, size_t bytes) override {
    if (parts_.uffd.faults_on_writes() && !*unwatched(view)) parts_.uffd.unprotect(view, bytes);
  }

 private:
  static constexpr uint64_t absent_modes = Userfaultfd::missing | Userfaultfd::minor;

  // Returns the flag that install_unwatched() made this huge page visible.
  bool* unwatched(const char* view) const {
    return unwatched_.as<bool>() + static_cast<size_t>(view - parts_.base) / huge_page_bytes;
  }

  void watch_again(char* view, size_t bytes) {
    bool any = false;
    for (size_t done = 0; done < bytes; done += std::min<size_t>(bytes - done, huge_page_bytes))
      any = any || *unwatched(view + done);
    if (!any && !*unwatched(view + bytes - 1)) return;
    const Status status = parts_.uffd.watch(view, bytes, absent_modes);
    if (!status.ok()) end_job(1, "%s; use --tracking mprotect", status.message().c_str());
    if (bytes == huge_page_bytes) *unwatched(view) = false;  // parts of one may be discarded one by one
  }
  static void protect(char* view, size_t bytes, int protection) {
    if (mprotect(view, bytes, protection) != 0)
      end_job(1,
              "cannot change the protection of %zu cached bytes (%s): scattered pages need a mapping each, at most "
              "/proc/sys/vm/max_map_count; use --tracking uffd, a smaller --cache, or raise that limit",
              bytes, explain_error(errno).c_str());
  }

  TrackerParts parts_;
  SparseFile unwatched_;
};

}  // namespace

std::unique_ptr<Tracker> make_shared_tracker(const TrackerParts& parts) {
  return std::make_unique<SharedTracker>(parts);
}
std::unique_ptr<Tracker> make_private_tracker(const TrackerParts& parts) {
  return std::make_unique<PrivateTracker>(parts);
}

}  // namespace hiroba
