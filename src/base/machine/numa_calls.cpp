#include "base/machine/numa_calls.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace hiroba {

namespace {

// The kernel's header linux/mempolicy.h lacks these on old systems.
constexpr int mpol_default = 0, mpol_preferred = 1, mpol_interleave = 3;
constexpr int mpol_mf_move = 2;
constexpr unsigned long most_domains = 1024;
constexpr size_t word_bits = sizeof(unsigned long) * CHAR_BIT;

int errno_of(long result) { return result < 0 ? errno : 0; }

// The errno of an absent page depends on the kernel's version.
void name_absent(std::span<int> domains) {
  for (int& domain : domains)
    if (domain == -ENOENT || domain == -EFAULT) domain = NumaCalls::absent;
}

class SystemCalls : public NumaCalls {
 public:
  int set_policy(void* address, size_t bytes, Policy policy, std::span<const int> domains) override {
    std::array<unsigned long, most_domains / word_bits> mask{};
    for (const int domain : domains) {
      const auto bit = static_cast<unsigned long>(domain);
      if (bit >= most_domains) return EINVAL;
      mask[bit / word_bits] |= 1UL << bit % word_bits;
    }
    static constexpr int modes[] = {mpol_default, mpol_preferred, mpol_interleave};
    const bool standard = policy == Policy::standard;
    return errno_of(syscall(SYS_mbind, address, bytes, modes[static_cast<int>(policy)],
                            standard ? nullptr : mask.data(), standard ? 0 : most_domains, 0));
  }

  int query(std::span<void* const> pages, std::span<int> domains) override { return query_pages(0, pages, domains); }

  int move(std::span<void* const> pages, int to, std::span<int> domains) override {
    constexpr size_t at_once = 128;
    std::array<int, at_once> target;
    target.fill(to);
    int error = 0;
    for (size_t i = 0; i < pages.size() && error == 0; i += at_once) {
      const size_t n = std::min(at_once, pages.size() - i);
      error =
          errno_of(syscall(SYS_move_pages, 0, n, pages.data() + i, target.data(), domains.data() + i, mpol_mf_move));
    }
    name_absent(domains);
    return error;
  }
};

}  // namespace

NumaCalls& NumaCalls::system() {
  static SystemCalls calls;
  return calls;
}

int query_pages(int process, std::span<void* const> pages, std::span<int> domains) {
  const int error = errno_of(syscall(SYS_move_pages, process, pages.size(), pages.data(), nullptr, domains.data(), 0));
  name_absent(domains);
  return error;
}

}  // namespace hiroba
