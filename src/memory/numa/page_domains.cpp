#include "memory/numa/page_domains.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/addresses.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "memory/layout.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

namespace {

constexpr size_t pages_at_once = 128;   // small enough for the stack of a signal handler
constexpr int madv_populate_read = 22;  // the headers of old systems do not define it (Linux 5.14)

}  // namespace

Status MemoryPlace::parse(const std::string& text, MemoryPlace& out) {
  static constexpr const char* names[] = {"owner", "interleave", "touch"};
  for (size_t i = 0; i < std::size(names); ++i)
    if (text == names[i]) return out = {static_cast<Kind>(i), 0}, Status();
  constexpr std::string_view prefix = "domain:";
  const char* const end = text.data() + text.size();
  if (text.starts_with(prefix)) {
    const auto [after, error] = std::from_chars(text.data() + prefix.size(), end, out.domain);
    out.kind = Kind::domain;
    if (error == std::errc() && after == end && out.domain >= 0) return {};
  }
  return Status::error("'%s' is not one of owner, interleave, touch, nor a domain such as domain:1", text.c_str());
}

bool PageDomains::exists(int domain) const {
  return std::find(config_.domains.begin(), config_.domains.end(), domain) != config_.domains.end();
}

// Uses a mapping for this call only: the policy is kept with the file. In the mappings of arrays each change would cut
// off one of the 65,530 mappings that a process may have.
Status PageDomains::set_policy(uint64_t offset, uint64_t bytes, NumaCalls::Policy policy,
                               std::vector<int> domains) const {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, config_.fd, static_cast<off_t>(offset));
  if (at == MAP_FAILED)
    return Status::error("cannot map %s to place it (%s)", show_bytes(bytes).c_str(), explain_error(errno).c_str());
  const int error = config_.calls->set_policy(at, bytes, policy, domains);
  munmap(at, bytes);
  if (error == 0) return {};
  std::string names;
  for (const int domain : domains) names += (names.empty() ? "" : ",") + std::to_string(domain);
  return Status::error("the kernel refuses to place %s on NUMA domain %s (mbind: %s)", show_bytes(bytes).c_str(),
                       names.c_str(), explain_error(error).c_str());
}

// A huge page lies on one domain, so large arrays that become huge pages are interleaved by huge pages.
Status PageDomains::set_place(uint64_t offset, uint64_t bytes, const MemoryPlace& place, int owner) const {
  using Policy = NumaCalls::Policy;
  switch (place.kind) {
    case MemoryPlace::Kind::touch: return set_policy(offset, bytes, Policy::standard, {});
    case MemoryPlace::Kind::domain: return set_policy(offset, bytes, Policy::preferred, {place.domain});
    case MemoryPlace::Kind::owner:
      return owner < 0 ? set_policy(offset, bytes, Policy::standard, {})
                       : set_policy(offset, bytes, Policy::preferred, {owner});
    case MemoryPlace::Kind::interleave: break;
  }
  const size_t n = config_.domains.size();
  constexpr uint64_t least_units = 2;  // huge pages per domain; below, interleaving by pages is more even
  if (!config_.huge || bytes < least_units * n * huge_page_bytes)
    return set_policy(offset, bytes, Policy::interleave, config_.domains);
  for (uint64_t at = offset; at < offset + bytes;) {
    const uint64_t unit = at / huge_page_bytes, end = std::min(offset + bytes, (unit + 1) * huge_page_bytes);
    HIROBA_TRY(set_policy(at, end - at, Policy::preferred, {config_.domains[unit % n]}));
    at = end;
  }
  return {};
}

void PageDomains::for_each_in_use(uint64_t first_page, uint64_t pages,
                                  const std::function<void(uint64_t, uint64_t)>& visit) const {
  for_each_data(config_.fd, first_page << page_shift, (first_page + pages) << page_shift,
                [&](uint64_t begin, uint64_t end) { visit(begin >> page_shift, (end - begin) >> page_shift); });
}

// Uses a mapping for this call only: the program's may be closed, and must not count as another mapping of the pages.
int PageDomains::with_mapping(uint64_t first_page, uint64_t pages, const std::function<int(char*)>& visit) const {
  const uint64_t bytes = pages << page_shift;
  void* const at =
      mmap(nullptr, bytes, PROT_READ, MAP_SHARED, config_.fd, static_cast<off_t>(first_page << page_shift));
  if (at == MAP_FAILED) return errno;
  const int error = visit(static_cast<char*>(at));
  munmap(at, bytes);
  return error;
}

MovedPages PageDomains::move(uint64_t first_page, uint64_t pages, int to) const {
  MovedPages moved;
  for_each_in_use(first_page, pages, [&](uint64_t first, uint64_t n) {
    const int error = with_mapping(first, n, [&](char* at) { return moved += move_mapped(at, n, to), 0; });
    if (error != 0) moved += {0, n, error};
  });
  return moved;
}

MovedPages PageDomains::move_touched(uint64_t first_page, uint64_t pages, int to) const {
  return move_mapped(config_.base + (first_page << page_shift), pages, to);
}

// The kernel may be using a page for a moment, so refused pages are tried again.
MovedPages PageDomains::move_mapped(char* mapped, uint64_t pages, int to) const {
  constexpr int attempts = 3;
  std::array<void*, pages_at_once> at;
  std::array<int, pages_at_once> where;
  // Moves the pages on other domains to the front, and returns their number.
  const auto keep_others = [&](size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; ++i)
      if (where[i] != to && where[i] != absent) at[kept] = at[i], where[kept++] = where[i];
    return kept;
  };
  MovedPages moved;
  for (uint64_t done = 0; done < pages; done += pages_at_once) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(pages_at_once, pages - done));
    for (size_t i = 0; i < n; ++i) at[i] = mapped + ((done + i) << page_shift);
    madvise(at[0], n << page_shift, madv_populate_read);
    int error = config_.calls->query({at.data(), n}, {where.data(), n});
    const size_t elsewhere = error == 0 ? keep_others(n) : n;
    size_t left = elsewhere;
    for (int i = 0; i < attempts && left > 0 && error == 0; ++i) {
      error = config_.calls->move({at.data(), left}, to, {where.data(), left});
      if (error == 0) left = keep_others(left);
    }
    moved += {elsewhere - left, left, left == 0 ? 0 : error != 0 ? error : -where[0]};
  }
  return moved;
}

int PageDomains::locate_mapped(char* mapped, uint64_t pages, int* out) const {
  std::array<void*, pages_at_once> at;
  int error = 0;
  for (uint64_t done = 0; done < pages && error == 0; done += pages_at_once) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(pages_at_once, pages - done));
    for (size_t i = 0; i < n; ++i) at[i] = mapped + ((done + i) << page_shift);
    madvise(at[0], n << page_shift, madv_populate_read);
    error = config_.calls->query({at.data(), n}, {out + done, n});
  }
  return error;
}

Status PageDomains::locate(uint64_t first_page, uint64_t pages, int* out) const {
  std::fill_n(out, pages, absent);
  int error = 0;
  for_each_in_use(first_page, pages, [&](uint64_t first, uint64_t n) {
    int* const its = out + (first - first_page);
    if (error == 0) error = with_mapping(first, n, [&](char* at) { return locate_mapped(at, n, its); });
  });
  if (error == 0) return {};
  return Status::error("the kernel does not say where pages are (move_pages: %s)", explain_error(error).c_str());
}

void PageDomains::unmap(uint64_t first_page, uint64_t pages) const {
  madvise(config_.base + (first_page << page_shift), pages << page_shift, MADV_DONTNEED);
}

}  // namespace hiroba
