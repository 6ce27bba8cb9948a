/* Files, pipes and sockets into and out of shared memory that lives on another rank, from its first touch: the same
 * bytes must come and go as with private memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "programs.h"

enum { BYTES = 300 * PAGE + 123 };

static unsigned char* far;      /* on the last rank */
static unsigned char* expected; /* private */

static unsigned char value_of(int round, int byte) { return (unsigned char)mix2((uint64_t)round, (uint64_t)byte); }

static void fill(unsigned char* to, int round) {
  for (int b = 0; b < BYTES; ++b) to[b] = value_of(round, b);
}

/* Rank 0 has just moved something into `far`, or out of it to `copy`. */
static void compare(const char* what, const unsigned char* with, int round) {
  for (int b = 0; b < BYTES; ++b)
    if (with[b] != value_of(round, b))
      fail("system_calls, %s: byte %d is %u, expected %u, on rank %d", what, b, with[b], value_of(round, b), sms_rank);
}

enum way { READ, PREAD, READV, PREADV, FREAD, UNLOCKED, GETDELIM, RECV, RECVFROM, RECVMSG, WAYS };
static const char* const names[] = {"read, write",         "pread, pwrite", "readv, writev",
                                    "preadv64, pwritev64", "fread, fwrite", "fread_unlocked, fwrite_unlocked",
                                    "fgets, fputs",        "recv, send",    "recvfrom, sendto",
                                    "recvmsg, sendmsg"};

static void need(ssize_t moved, const char* what) {
  if (moved != BYTES) fail("system_calls, %s: moved %ld of %d bytes, errno %d", what, (long)moved, (int)BYTES, errno);
}

/* All of a stream socket, which may come in parts. */
static ssize_t all_of(int way, int fd, unsigned char* to) {
  size_t done = 0;
  while (done < BYTES) {
    struct iovec part = {to + done, BYTES - done};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    const ssize_t got = way == RECV       ? recv(fd, to + done, BYTES - done, 0)
                        : way == RECVFROM ? recvfrom(fd, to + done, BYTES - done, MSG_WAITALL, NULL, NULL)
                                          : recvmsg(fd, &message, 0);
    if (got <= 0) return got;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

/* All of a file by fgets: of each line but the last byte, which ends the string, so it comes with the next. */
static ssize_t lines_in(FILE* stream) {
  ssize_t done = 0;
  for (char* at = (char*)far; done < BYTES; at = (char*)far + done) {
    const long before = ftell(stream);
    if (done == BYTES - 1) return fread(at, 1, 1, stream) == 1 ? BYTES : -1;
    if (fgets(at, BYTES - (int)done, stream) == NULL) return -1;
    done += ftell(stream) - before;
  }
  return done;
}

/* A pipe with less than is wanted: what is there comes, and nobody waits for more. */
static void part_of_a_pipe(void) {
  enum { THERE = 16 * 1024, WANTED = 15 * THERE };
  int pipe_ends[2];
  fill(expected, WAYS + 1);
  if (sms_rank == 0) {
    if (pipe(pipe_ends) != 0 || write(pipe_ends[1], expected, THERE) != THERE) fail("system_calls: no pipe");
    ssize_t done = 0;
    while (done < THERE) done += read(pipe_ends[0], far + done, WANTED - (size_t)done);
    if (done != THERE) fail("system_calls, a pipe: moved %ld of %d bytes", (long)done, THERE);
    if (memcmp(far, expected, THERE) != 0) fail("system_calls, a pipe: other bytes");
  }
  sms_sync_drop();
}

static void move_in(enum way way, int file, const int* pair) {
  struct iovec parts[] = {{far, BYTES / 3}, {far + BYTES / 3, BYTES - BYTES / 3}};
  if (way == READ) need(lseek(file, 0, SEEK_SET) == 0 ? read(file, far, BYTES) : -1, names[way]);
  if (way == PREAD) need(pread(file, far, BYTES, 0), names[way]);
  if (way == READV) need(lseek(file, 0, SEEK_SET) == 0 ? readv(file, parts, 2) : -1, names[way]);
  if (way == PREADV) need(preadv64(file, parts, 2, 0), names[way]);
  if (way >= FREAD && way <= GETDELIM) {
    FILE* stream = fdopen(dup(file), "r");
    rewind(stream);
    if (way == FREAD) need((ssize_t)fread(far, 1, BYTES, stream), names[way]);
    if (way == UNLOCKED) need((ssize_t)fread_unlocked(far, 1, BYTES, stream), names[way]);
    if (way == GETDELIM) need(lines_in(stream), names[way]);
    fclose(stream);
  }
  if (way >= RECV) need(all_of(way, pair[1], far), names[way]);
}

static void move_out(enum way way, int file, const int* pair) {
  struct iovec parts[] = {{far, BYTES / 3}, {far + BYTES / 3, BYTES - BYTES / 3}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  if (way == READ) need(lseek(file, 0, SEEK_SET) == 0 ? write(file, far, BYTES) : -1, names[way]);
  if (way == PREAD) need(pwrite(file, far, BYTES, 0), names[way]);
  if (way == READV) need(lseek(file, 0, SEEK_SET) == 0 ? writev(file, parts, 2) : -1, names[way]);
  if (way == PREADV) need(pwritev64(file, parts, 2, 0), names[way]);
  if (way >= FREAD && way <= GETDELIM) {
    FILE* stream = fdopen(dup(file), "r+");
    rewind(stream);
    if (way == UNLOCKED) need((ssize_t)fwrite_unlocked(far, 1, BYTES, stream), names[way]);
    else need((ssize_t)fwrite(far, 1, BYTES, stream), names[way]);
    fclose(stream);
  }
  if (way == RECV) need(send(pair[0], far, BYTES, 0), names[way]);
  if (way == RECVFROM) need(sendto(pair[0], far, BYTES, 0, NULL, 0), names[way]);
  if (way == RECVMSG) need(sendmsg(pair[0], &message, 0), names[way]);
}

/* Into far and out of it again, each time all of it absent on rank 0. */
static void there_and_back(enum way way, int file, const int* pair) {
  const int round = (int)way + 1;
  fill(expected, round);
  if (sms_rank == 0) {
    if (pwrite(file, expected, BYTES, 0) != BYTES) fail("system_calls: cannot write the file");
    if (way >= RECV && send(pair[0], expected, BYTES, 0) != BYTES) fail("system_calls: cannot send");
    move_in(way, file, pair);
  }
  sms_sync_drop();
  compare(names[way], far, round);
  sms_sync_drop();
  if (sms_rank == 0) {
    if (ftruncate(file, 0) != 0) fail("system_calls: cannot truncate");
    move_out(way, file, pair);
    memset(expected, 0, BYTES);
    if (way >= RECV) need(all_of(way, pair[1], expected), names[way]);
    else need(pread(file, expected, BYTES, 0), names[way]);
    compare(names[way], expected, round);
  }
  sms_sync_drop();
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  far = sms_alloc(1, BYTES, sms_nprocs - 1);
  expected = malloc(BYTES);
  const int file = memfd_create("system-calls", MFD_CLOEXEC);
  int pair[2], room = 4 * BYTES;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) fail("system_calls: no socket pair");
  setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  setsockopt(pair[1], SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  /* One message from and into more than the cache has room for cannot be. */
  const int ways = argc > 1 ? RECVMSG : WAYS;
  for (int way = 0; way < ways; ++way) there_and_back((enum way)way, file, pair);
  part_of_a_pipe();
  free(expected);
  if (sms_rank == 0) puts("done");
  sms_shutdown();
  return 0;
}
