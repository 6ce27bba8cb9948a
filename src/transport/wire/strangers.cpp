#include "transport/wire/strangers.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/limits.hpp"
#include "base/machine/host.hpp"
#include "base/machine/host_addresses.hpp"

namespace hiroba {

namespace {

constexpr uint32_t let_in = UINT32_MAX, drop = 0;
constexpr uint32_t loopback_begin = 127U << 24, loopback_end = (128U << 24) - 1;
// The kernel limits the memory of a socket's filter, to 20 KiB unless told otherwise: 8 bytes an instruction.
constexpr size_t most_ranges = 400, most_ipv6 = 64;

struct Range {
  uint32_t first, last;
};

uint32_t word_of(const in6_addr& address, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, address.s6_addr + at, sizeof word);
  return ntohl(word);
}

// The ranges that have all these addresses, few enough.
std::vector<Range> ranges_of(const std::vector<in6_addr>& hosts) {
  std::vector<Range> ranges = {{loopback_begin, loopback_end}};
  for (const in6_addr& host : hosts)
    if (IN6_IS_ADDR_V4MAPPED(&host)) ranges.push_back({word_of(host, 12), word_of(host, 12)});
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  // Ranges whose gap is at most this one become one.
  for (uint64_t gap = 1;; gap *= 2) {
    std::vector<Range> joined;
    for (const Range& range : ranges)
      if (!joined.empty() && range.first <= uint64_t{joined.back().last} + gap)
        joined.back().last = std::max(joined.back().last, range.last);
      else joined.push_back(range);
    if (joined.size() <= most_ranges) return joined;
  }
}

using Program = std::vector<sock_filter>;

void load(Program& out, uint16_t size, int at) {
  out.push_back(BPF_STMT(static_cast<uint16_t>(BPF_LD | size | BPF_ABS), static_cast<uint32_t>(SKF_NET_OFF + at)));
}
void end(Program& out, uint32_t verdict) { out.push_back(BPF_STMT(BPF_RET | BPF_K, verdict)); }
void jump(Program& out, uint16_t how, uint32_t value, uint8_t if_true, uint8_t if_false) {
  out.push_back(BPF_JUMP(static_cast<uint16_t>(BPF_JMP | how | BPF_K), value, if_true, if_false));
}

// The sender is in the accumulator.
void let_in_ipv4(Program& out, const std::vector<Range>& ranges) {
  for (const Range& range : ranges) {
    jump(out, BPF_JGE, range.first, 0, 2);
    jump(out, BPF_JGT, range.last, 1, 0);
    end(out, let_in);
  }
  end(out, drop);
}

void let_in_ipv6(Program& out, const std::vector<in6_addr>& hosts) {
  constexpr int sender = 8, words = 4;
  for (const in6_addr& host : hosts) {
    for (int word = 0; word < words; ++word) {
      load(out, BPF_W, sender + 4 * word);
      jump(out, BPF_JEQ, word_of(host, static_cast<size_t>(4 * word)), 0,
           static_cast<uint8_t>(2 * (words - 1 - word) + 1));
    }
    end(out, let_in);
  }
  end(out, drop);
}

Program program_for(const std::vector<in6_addr>& hosts) {
  std::vector<in6_addr> six = {in6addr_loopback};
  for (const in6_addr& host : hosts)
    if (!IN6_IS_ADDR_V4MAPPED(&host)) six.push_back(host);
  Program out, four;
  let_in_ipv4(four, ranges_of(hosts));
  load(out, BPF_B, 0);
  out.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0));
  jump(out, BPF_JEQ, 0x40, 0, 1);
  out.push_back(BPF_STMT(BPF_JMP | BPF_JA, 1));  // over the next one: conditional jumps are short
  out.push_back(BPF_STMT(BPF_JMP | BPF_JA, static_cast<uint32_t>(four.size() + 1)));
  load(out, BPF_W, 12);
  out.insert(out.end(), four.begin(), four.end());
  if (six.size() > most_ipv6) end(out, let_in);
  else let_in_ipv6(out, six);
  return out;
}

}  // namespace

bool Keys::know(const void* header, size_t header_size, Sender& out) const {
  if (header_size != sizeof out) return false;
  std::memcpy(&out, header, sizeof out);
  constexpr uint32_t rounds = 1 << 16;
  if (out.rank < 0 || out.rank >= pairs_.size() || out.round >= rounds) return false;
  return out.key == (out.round == 0 ? pairs_.from(out.rank) : pairs_.key(out.rank, rank_, out.round));
}

uint64_t Keys::tag(int from, int to, uint32_t tag) const {
  constexpr int tag_bits = 14, rank_bits = 17;
  constexpr uint32_t of_tags = 1 << 20;  // no round of a leave message
  static_assert(Wire::tags == 1 << tag_bits);
  return pairs_.key(from, to, of_tags) << (tag_bits + rank_bits) | static_cast<uint64_t>(from) << tag_bits | tag;
}

Status introduce(Rendezvous& rendezvous, std::vector<Introduction>& all) {
  Introduction mine = {};
  mine.machine = machine_key(host_name().c_str());
  HIROBA_TRY(draw(mine.secret));
  const std::vector<in6_addr> addresses = own_addresses(mine.addresses.size());
  std::copy(addresses.begin(), addresses.end(), mine.addresses.begin());
  all.resize(static_cast<size_t>(rendezvous.size()));
  return rendezvous.allgather(&mine, all.data(), sizeof mine);
}

Status keep_strangers_out(const std::vector<int>& others, const std::vector<Introduction>& all) {
  std::vector<in6_addr> hosts;
  bool known = true;  // all addresses of the job's hosts
  for (const Introduction& one : all) {
    known = known && IN6_IS_ADDR_UNSPECIFIED(&one.addresses.back());
    std::copy_if(one.addresses.begin(), one.addresses.end(), std::back_inserter(hosts),
                 [](const in6_addr& address) { return !IN6_IS_ADDR_UNSPECIFIED(&address); });
  }
  for (const int socket : listening_sockets()) {
    if (std::binary_search(others.begin(), others.end(), socket)) continue;
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    if (known) HIROBA_TRY(accept_only_from(socket, hosts));
  }
  return {};
}

std::vector<int> listening_sockets() {
  std::vector<int> out;
  DIR* const files = opendir("/proc/self/fd");
  if (files == nullptr) return out;
  for (const dirent* file; (file = readdir(files)) != nullptr;) {
    const int fd = std::atoi(file->d_name);
    int listens = 0, protocol = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) continue;
    if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 && protocol == IPPROTO_TCP) out.push_back(fd);
  }
  closedir(files);
  std::sort(out.begin(), out.end());
  return out;
}

Status accept_only_from(int socket, const std::vector<in6_addr>& hosts) {
  Program program = program_for(hosts);
  const sock_fprog given = {static_cast<uint16_t>(program.size()), program.data()};
  if (setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &given, sizeof given) == 0) return {};
  return Status::error("the system does not let this user close ports to other hosts (SO_ATTACH_FILTER: %s)",
                       explain_error(errno).c_str());
}

}  // namespace hiroba
