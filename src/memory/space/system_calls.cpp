// System calls on shared memory. The kernel takes no page fault for this library: a read() into absent pages moves
// nothing, or a part, and returns EFAULT. So these functions replace the C library's in programs that link the shared
// library: they fetch the pages, and call the original. Addresses elsewhere cost two comparisons.
//
// Calls that reach the kernel in another way (syscall(), a static program, a statically linked library) are not
// covered.
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>

#include "base/effects.hpp"
#include "base/log.hpp"
#include "memory/check/code_place.hpp"
#include "memory/parts.hpp"
#include "memory/space/faults.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))
// The same function by another name.
#define EXPORT_AS(name, same) EXPORT __attribute__((alias(#same))) decltype(::name) name

namespace hiroba {

namespace {

// Returns the C library's function of the same name.
#define NEXT(name)                                                                         \
  [] {                                                                                     \
    static const auto next = reinterpret_cast<decltype(&::name)>(dlsym(RTLD_NEXT, #name)); \
    return next;                                                                           \
  }()

// At the begin of each of these functions.
#define REPORT(name) report_effect(#name, __builtin_return_address(0))

enum class Access { from_memory, to_memory };

bool is_shared(const void* address, size_t bytes) {
  const MemoryParts* const parts = served_memory();
  return parts != nullptr && parts->system_access.may_need(address, bytes);
}

bool is_shared(const iovec* parts, int count) {
  return parts != nullptr && std::any_of(parts, parts + std::max(count, 0),
                                         [](const iovec& part) { return is_shared(part.iov_base, part.iov_len); });
}

// Decides whether a transfer continues after a part: a file has the rest at once, while a pipe or a socket may have no
// more data. Writing always continues.
enum class Rest { wanted, if_there };

Rest rest_of(int fd, Access access) {
  struct stat about;
  const bool there = fstat(fd, &about) == 0 && (S_ISREG(about.st_mode) || S_ISBLK(about.st_mode));
  return there || access == Access::from_memory ? Rest::wanted : Rest::if_there;
}

bool is_byte_stream(int fd) {
  int type = 0;
  socklen_t length = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

// Calls on a range of bytes that may be larger than the cache. After EFAULT, or a short transfer, it fetches the rest
// again: another thread's fetches have evicted it.
template <typename Call>
ssize_t in_pieces(Rest rest, void* address, size_t bytes, Access access, const Call& call) {
  SystemAccess& pages = served_memory()->system_access;
  constexpr int tries = 100;
  size_t done = 0;
  for (int tried = 0; done < bytes;) {
    char* const at = static_cast<char*>(address) + done;
    const size_t piece = pages.bring(at, bytes - done, access == Access::to_memory);
    const ssize_t moved = call(at, piece);
    if (moved < 0 && errno == EFAULT && ++tried < tries) continue;
    if (moved < 0) return done > 0 ? static_cast<ssize_t>(done) : moved;
    done += static_cast<size_t>(moved);
    if (moved == 0 || rest == Rest::if_there) break;
  }
  return static_cast<ssize_t>(done);
}

// Makes a call that moves all or nothing, such as a message. Ends the job if the cache has no room for the bytes.
template <typename Call>
ssize_t at_once(std::span<const iovec> parts, Access access, const char* name, const Call& call) {
  SystemAccess& pages = served_memory()->system_access;
  constexpr int tries = 100;
  for (int tried = 0;; ++tried) {
    bool brought = false;
    for (const iovec& part : parts) {
      if (!is_shared(part.iov_base, part.iov_len)) continue;
      const Status status = pages.bring_all(part.iov_base, part.iov_len, access == Access::to_memory);
      if (!status.ok()) end_job(1, "%s: %s", name, status.message().c_str());
      brought = true;
    }
    const ssize_t moved = call();
    if (moved >= 0 || errno != EFAULT || !brought || tried == tries) return moved;
  }
}

std::span<const iovec> parts_of(const iovec* parts, int count) {
  return {parts, parts == nullptr ? 0 : static_cast<size_t>(std::max(count, 0))};
}

std::span<const iovec> parts_of(const msghdr* message) {
  if (message == nullptr || message->msg_iov == nullptr) return {};
  return {message->msg_iov, message->msg_iovlen};
}

// Moves one part after the other by `call`, until one moves less than its size; `at` is the number of bytes moved
// before.
template <typename Call>
ssize_t in_parts(int fd, const iovec* parts, int count, Access access, const Call& call) {
  const Rest rest = rest_of(fd, access);
  ssize_t done = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t before = done;
    const char* const begin = static_cast<const char*>(parts[i].iov_base);
    const ssize_t moved = in_pieces(rest, parts[i].iov_base, parts[i].iov_len, access, [&](void* at, size_t n) {
      return call(at, n, before + (static_cast<const char*>(at) - begin));
    });
    if (moved < 0) return done > 0 ? done : moved;
    done += moved;
    if (moved < static_cast<ssize_t>(parts[i].iov_len) || rest == Rest::if_there) break;
  }
  return done;
}

}  // namespace

EXPORT ssize_t read(int fd, void* to, size_t bytes) {
  REPORT(read);
  if (!is_shared(to, bytes)) return NEXT(read)(fd, to, bytes);
  return in_pieces(rest_of(fd, Access::to_memory), to, bytes, Access::to_memory,
                   [&](void* at, size_t n) { return NEXT(read)(fd, at, n); });
}
EXPORT ssize_t write(int fd, const void* from, size_t bytes) {
  REPORT(write);
  if (!is_shared(from, bytes)) return NEXT(write)(fd, from, bytes);
  return in_pieces(Rest::wanted, const_cast<void*>(from), bytes, Access::from_memory,
                   [&](void* at, size_t n) { return NEXT(write)(fd, at, n); });
}
EXPORT ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  REPORT(pread);
  if (!is_shared(to, bytes)) return NEXT(pread)(fd, to, bytes, offset);
  return in_pieces(Rest::wanted, to, bytes, Access::to_memory, [&](void* at, size_t n) {
    return NEXT(pread)(fd, at, n, offset + (static_cast<char*>(at) - static_cast<char*>(to)));
  });
}
EXPORT ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  REPORT(pwrite);
  if (!is_shared(from, bytes)) return NEXT(pwrite)(fd, from, bytes, offset);
  return in_pieces(Rest::wanted, const_cast<void*>(from), bytes, Access::from_memory, [&](void* at, size_t n) {
    return NEXT(pwrite)(fd, at, n, offset + (static_cast<char*>(at) - static_cast<const char*>(from)));
  });
}
EXPORT_AS(pread64, pread);
EXPORT_AS(pwrite64, pwrite);

EXPORT ssize_t readv(int fd, const iovec* parts, int count) {
  REPORT(readv);
  if (!is_shared(parts, count)) return NEXT(readv)(fd, parts, count);
  return in_parts(fd, parts, count, Access::to_memory,
                  [&](void* at, size_t n, ssize_t) { return NEXT(read)(fd, at, n); });
}
EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  REPORT(writev);
  if (!is_shared(parts, count)) return NEXT(writev)(fd, parts, count);
  return in_parts(fd, parts, count, Access::from_memory,
                  [&](void* at, size_t n, ssize_t) { return NEXT(write)(fd, at, n); });
}
EXPORT ssize_t preadv(int fd, const iovec* parts, int count, off_t offset) {
  REPORT(preadv);
  if (!is_shared(parts, count)) return NEXT(preadv)(fd, parts, count, offset);
  return in_parts(fd, parts, count, Access::to_memory,
                  [&](void* at, size_t n, ssize_t done) { return NEXT(pread)(fd, at, n, offset + done); });
}
EXPORT ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
  REPORT(pwritev);
  if (!is_shared(parts, count)) return NEXT(pwritev)(fd, parts, count, offset);
  return in_parts(fd, parts, count, Access::from_memory,
                  [&](void* at, size_t n, ssize_t done) { return NEXT(pwrite)(fd, at, n, offset + done); });
}
EXPORT_AS(preadv64, preadv);
EXPORT_AS(pwritev64, pwritev);
EXPORT ssize_t preadv2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  return at_once(parts_of(parts, count), Access::to_memory, "preadv2",
                 [&] { return NEXT(preadv2)(fd, parts, count, offset, flags); });
}
EXPORT ssize_t pwritev2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  return at_once(parts_of(parts, count), Access::from_memory, "pwritev2",
                 [&] { return NEXT(pwritev2)(fd, parts, count, offset, flags); });
}
EXPORT_AS(preadv64v2, preadv2);
EXPORT_AS(pwritev64v2, pwritev2);

EXPORT ssize_t recvfrom(int fd, void* to, size_t bytes, int flags, sockaddr* source, socklen_t* length) {
  REPORT(recvfrom);
  if (!is_shared(to, bytes)) return NEXT(recvfrom)(fd, to, bytes, flags, source, length);
  const auto call = [&](void* at, size_t n) { return NEXT(recvfrom)(fd, at, n, flags, source, length); };
  const iovec part = {to, bytes};
  if (!is_byte_stream(fd)) return at_once({&part, 1}, Access::to_memory, "recvfrom", [&] { return call(to, bytes); });
  const bool all = (flags & MSG_WAITALL) != 0 && (flags & MSG_PEEK) == 0;
  return in_pieces(all ? Rest::wanted : Rest::if_there, to, bytes, Access::to_memory, call);
}
EXPORT ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  REPORT(recv);
  if (!is_shared(to, bytes)) return NEXT(recv)(fd, to, bytes, flags);
  return recvfrom(fd, to, bytes, flags, nullptr, nullptr);
}
EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  REPORT(recvmsg);
  return at_once(parts_of(message), Access::to_memory, "recvmsg", [&] { return NEXT(recvmsg)(fd, message, flags); });
}
EXPORT ssize_t sendto(int fd, const void* from, size_t bytes, int flags, const sockaddr* target, socklen_t length) {
  REPORT(sendto);
  if (!is_shared(from, bytes)) return NEXT(sendto)(fd, from, bytes, flags, target, length);
  const auto call = [&](const void* at, size_t n) { return NEXT(sendto)(fd, at, n, flags, target, length); };
  const iovec part = {const_cast<void*>(from), bytes};
  if (!is_byte_stream(fd)) return at_once({&part, 1}, Access::from_memory, "sendto", [&] { return call(from, bytes); });
  return in_pieces(Rest::wanted, const_cast<void*>(from), bytes, Access::from_memory, call);
}
EXPORT ssize_t send(int fd, const void* from, size_t bytes, int flags) {
  REPORT(send);
  if (!is_shared(from, bytes)) return NEXT(send)(fd, from, bytes, flags);
  return sendto(fd, from, bytes, flags, nullptr, 0);
}
EXPORT ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  REPORT(sendmsg);
  return at_once(parts_of(message), Access::from_memory, "sendmsg", [&] { return NEXT(sendmsg)(fd, message, flags); });
}

// Large transfers bypass the stream's buffer, by a system call inside the C library.
namespace {

// These functions return the number of elements moved, never -1; the stream notes EFAULT.
template <typename Call>
size_t on_stream(void* address, size_t size, size_t count, FILE* stream, Access access, const Call& call) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || !is_shared(address, bytes)) return call(address, size, count);
  const ssize_t moved = in_pieces(Rest::wanted, address, bytes, access, [&](void* at, size_t n) -> ssize_t {
    const bool failed_before = ferror(stream) != 0;
    const size_t here = call(at, 1, n);
    if (here == n || failed_before || ferror(stream) == 0 || errno != EFAULT) return static_cast<ssize_t>(here);
    clearerr(stream);
    return here > 0 ? static_cast<ssize_t>(here) : -1;
  });
  return static_cast<size_t>(std::max<ssize_t>(moved, 0)) / size;
}

}  // namespace

EXPORT size_t fread(void* to, size_t size, size_t count, FILE* stream) {
  REPORT(fread);
  return on_stream(to, size, count, stream, Access::to_memory,
                   [&](void* at, size_t s, size_t n) { return NEXT(fread)(at, s, n, stream); });
}
EXPORT size_t fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  REPORT(fwrite);
  return on_stream(const_cast<void*>(from), size, count, stream, Access::from_memory,
                   [&](void* at, size_t s, size_t n) { return NEXT(fwrite)(at, s, n, stream); });
}
EXPORT size_t fread_unlocked(void* to, size_t size, size_t count, FILE* stream) {
  REPORT(fread_unlocked);
  return on_stream(to, size, count, stream, Access::to_memory,
                   [&](void* at, size_t s, size_t n) { return NEXT(fread_unlocked)(at, s, n, stream); });
}
EXPORT size_t fwrite_unlocked(const void* from, size_t size, size_t count, FILE* stream) {
  REPORT(fwrite_unlocked);
  return on_stream(const_cast<void*>(from), size, count, stream, Access::from_memory,
                   [&](void* at, size_t s, size_t n) { return NEXT(fwrite_unlocked)(at, s, n, stream); });
}

}  // namespace hiroba
