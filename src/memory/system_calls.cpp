// System calls on shared memory. The kernel takes no page fault on behalf of this library: a read() into pages that are
// not here moves nothing, or a part, and says EFAULT. So these functions of the C library stand before its own in
// programs that link the shared library: they bring the pages, and call on. Addresses elsewhere cost two comparisons.
//
// What reaches the kernel another way (syscall(), a static program, a library that was linked statically) is not seen.
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "memory/code_place.hpp"
#include "memory/memory.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

namespace {

// The C library's function of the same name.
#define NEXT(name)                                                                         \
  [] {                                                                                     \
    static const auto next = reinterpret_cast<decltype(&::name)>(dlsym(RTLD_NEXT, #name)); \
    return next;                                                                           \
  }()

enum class Access { from_memory, to_memory };

void bring(const void* address, size_t bytes, Access access) {
  Memory* const memory = served_memory();
  if (memory != nullptr && memory->may_need_pages(address, bytes))
    memory->bring_pages(static_cast<const char*>(address), bytes, access == Access::to_memory);
}

// A call on a range of bytes that may be larger than the cache. EFAULT: another thread's fetches have made room of what
// had been brought.
template <typename Call>
ssize_t in_pieces(void* address, size_t bytes, Access access, const Call& call) {
  Memory* const memory = served_memory();
  if (memory == nullptr || !memory->may_need_pages(address, bytes)) return call(address, bytes);
  constexpr int tries = 100;
  size_t done = 0;
  for (int tried = 0; done < bytes || bytes == 0;) {
    char* const at = static_cast<char*>(address) + done;
    const size_t piece = std::min(bytes - done, memory->most_to_bring());
    memory->bring_pages(at, piece, access == Access::to_memory);
    const ssize_t moved = call(at, piece);
    if (moved < 0 && errno == EFAULT && ++tried < tries) continue;
    if (moved < 0) return done > 0 ? static_cast<ssize_t>(done) : moved;
    done += static_cast<size_t>(moved);
    if (moved < static_cast<ssize_t>(piece) || bytes == 0) break;
  }
  return static_cast<ssize_t>(done);
}

void bring_all(const iovec* parts, size_t count, Access access) {
  for (size_t i = 0; i < count && parts != nullptr; ++i) bring(parts[i].iov_base, parts[i].iov_len, access);
}

bool is_shared(const iovec* parts, int count) {
  Memory* const memory = served_memory();
  if (memory == nullptr || parts == nullptr) return false;
  return std::any_of(parts, parts + std::max(count, 0),
                     [&](const iovec& part) { return memory->may_need_pages(part.iov_base, part.iov_len); });
}

// One part after the other, as `call` moves them, until one moves less than it was to; `at` is what has been moved.
template <typename Call>
ssize_t in_parts(const iovec* parts, int count, Access access, const Call& call) {
  ssize_t done = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t before = done;
    const char* const begin = static_cast<const char*>(parts[i].iov_base);
    const ssize_t moved = in_pieces(parts[i].iov_base, parts[i].iov_len, access, [&](void* at, size_t n) {
      return call(at, n, before + (static_cast<const char*>(at) - begin));
    });
    if (moved < 0) return done > 0 ? done : moved;
    done += moved;
    if (moved < static_cast<ssize_t>(parts[i].iov_len)) break;
  }
  return done;
}

// What one call may move of a range that is larger than the cache, where a part is a proper answer.
size_t one_piece(const void* address, size_t bytes) {
  Memory* const memory = served_memory();
  return memory != nullptr && memory->may_need_pages(address, bytes) ? std::min(bytes, memory->most_to_bring()) : bytes;
}

void bring_all(const msghdr* message, Access access) {
  if (message != nullptr) bring_all(message->msg_iov, message->msg_iovlen, access);
}

}  // namespace

}  // namespace hiroba

using hiroba::Access;
using hiroba::bring;
using hiroba::bring_all;
using hiroba::in_parts;
using hiroba::in_pieces;
using hiroba::is_shared;
using hiroba::one_piece;

EXPORT ssize_t read(int fd, void* to, size_t bytes) {
  return in_pieces(to, bytes, Access::to_memory, [&](void* at, size_t n) { return NEXT(read)(fd, at, n); });
}
EXPORT ssize_t write(int fd, const void* from, size_t bytes) {
  return in_pieces(const_cast<void*>(from), bytes, Access::from_memory,
                   [&](void* at, size_t n) { return NEXT(write)(fd, at, n); });
}
EXPORT ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  return in_pieces(to, bytes, Access::to_memory, [&](void* at, size_t n) {
    return NEXT(pread)(fd, at, n, offset + (static_cast<char*>(at) - static_cast<char*>(to)));
  });
}
EXPORT ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  return in_pieces(const_cast<void*>(from), bytes, Access::from_memory, [&](void* at, size_t n) {
    return NEXT(pwrite)(fd, at, n, offset + (static_cast<char*>(at) - static_cast<const char*>(from)));
  });
}
EXPORT ssize_t pread64(int fd, void* to, size_t bytes, off64_t offset) { return pread(fd, to, bytes, offset); }
EXPORT ssize_t pwrite64(int fd, const void* from, size_t bytes, off64_t offset) {
  return pwrite(fd, from, bytes, offset);
}

EXPORT ssize_t readv(int fd, const iovec* parts, int count) {
  if (!is_shared(parts, count)) return NEXT(readv)(fd, parts, count);
  return in_parts(parts, count, Access::to_memory, [&](void* at, size_t n, ssize_t) { return NEXT(read)(fd, at, n); });
}
EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  if (!is_shared(parts, count)) return NEXT(writev)(fd, parts, count);
  return in_parts(parts, count, Access::from_memory,
                  [&](void* at, size_t n, ssize_t) { return NEXT(write)(fd, at, n); });
}
EXPORT ssize_t preadv(int fd, const iovec* parts, int count, off_t offset) {
  if (!is_shared(parts, count)) return NEXT(preadv)(fd, parts, count, offset);
  return in_parts(parts, count, Access::to_memory,
                  [&](void* at, size_t n, ssize_t done) { return NEXT(pread)(fd, at, n, offset + done); });
}
EXPORT ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
  if (!is_shared(parts, count)) return NEXT(pwritev)(fd, parts, count, offset);
  return in_parts(parts, count, Access::from_memory,
                  [&](void* at, size_t n, ssize_t done) { return NEXT(pwrite)(fd, at, n, offset + done); });
}

EXPORT ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  if ((flags & MSG_WAITALL) == 0) bytes = one_piece(to, bytes);
  bring(to, bytes, Access::to_memory);
  return NEXT(recv)(fd, to, bytes, flags);
}
EXPORT ssize_t recvfrom(int fd, void* to, size_t bytes, int flags, sockaddr* source, socklen_t* length) {
  bring(to, bytes, Access::to_memory);
  return NEXT(recvfrom)(fd, to, bytes, flags, source, length);
}
EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  bring_all(message, Access::to_memory);
  return NEXT(recvmsg)(fd, message, flags);
}
EXPORT ssize_t send(int fd, const void* from, size_t bytes, int flags) {
  return in_pieces(const_cast<void*>(from), bytes, Access::from_memory,
                   [&](void* at, size_t n) { return NEXT(send)(fd, at, n, flags); });
}
EXPORT ssize_t sendto(int fd, const void* from, size_t bytes, int flags, const sockaddr* target, socklen_t length) {
  bring(from, bytes, Access::from_memory);
  return NEXT(sendto)(fd, from, bytes, flags, target, length);
}
EXPORT ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  bring_all(message, Access::from_memory);
  return NEXT(sendmsg)(fd, message, flags);
}

// Large ones go past the stream's buffer, by a system call that is the C library's own.
EXPORT size_t fread(void* to, size_t size, size_t count, FILE* stream) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes == 0) return NEXT(fread)(to, size, count, stream);
  return static_cast<size_t>(
             in_pieces(to, bytes, Access::to_memory,
                       [&](void* at, size_t n) { return static_cast<ssize_t>(NEXT(fread)(at, 1, n, stream)); })) /
         size;
}
EXPORT size_t fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes == 0) return NEXT(fwrite)(from, size, count, stream);
  return static_cast<size_t>(
             in_pieces(const_cast<void*>(from), bytes, Access::from_memory,
                       [&](void* at, size_t n) { return static_cast<ssize_t>(NEXT(fwrite)(at, 1, n, stream)); })) /
         size;
}
