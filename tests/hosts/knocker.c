/* Somebody who knocks at doors very often: makes connections to TCP ports, or sends datagrams, with random bytes or
 * mutated messages; takes what comes back.
 *
 *     knocker MOST SECONDS SEED random|mutated|datagrams ADDRESS:PORT...
 *
 * Prints how many connections were tried and made, and how many bytes were sent. 64 are open at a time; the first ones
 * are silent until others take their places. A mutated message is one that a port has sent, or the begin of UCX's
 * protocol over TCP, with some bytes changed. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TARGETS = 64, OPEN = 64, LONGEST = 20000, REMEMBERED = 32, MESSAGE = 512 };

static uint64_t state;
static uint64_t chance(void) { /* splitmix64 */
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static struct sockaddr_in targets[MOST_TARGETS];
static int target_count;
static int mutates;
static struct {
  size_t length;
  char text[MESSAGE];
} heard[REMEMBERED];
static long made, bytes;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t message(char* out) {
  static const size_t sizes[] = {1, 7, 8, 64, 500, LONGEST};
  const size_t known = chance() % REMEMBERED, length = heard[known].length;
  if (mutates && chance() % 2 == 0 && length > 0) {
    memcpy(out, heard[known].text, length);
    for (int changes = (int)(chance() % 4); changes > 0; changes--) out[chance() % length] = (char)chance();
    return length;
  }
  const size_t size = sizes[chance() % 6];
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t word = chance();
    memcpy(out + i, &word, 8);
  }
  return size;
}

static void talk(int connection) {
  static char out[LONGEST + 8];
  for (int messages = (int)(chance() % 4); messages > 0; messages--) {
    const ssize_t sent = send(connection, out, message(out), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return;
    bytes += sent;
  }
  const int slot = (int)(chance() % REMEMBERED);
  const ssize_t got = recv(connection, out, MESSAGE, MSG_DONTWAIT);
  if (got > 0) memcpy(heard[slot].text, out, (size_t)got), heard[slot].length = (size_t)got;
}

/* Waits for a port that is slow; not for those that have not answered for long. */
static void finish(int connection) {
  enum { MILLISECONDS = 10, FAILURES = 200 };
  static int failures = 0;
  struct pollfd one = {.fd = connection, .events = POLLOUT};
  int problem = 0;
  socklen_t size = sizeof problem;
  failures++;
  if (poll(&one, 1, failures < FAILURES ? MILLISECONDS : 0) == 1 &&
      getsockopt(connection, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 && problem == 0)
    made++, failures = 0, talk(connection);
  const struct linger reset = {1, 0};
  if (chance() % 2 == 0) setsockopt(connection, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  close(connection);
}

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const long most = atol(argv[1]);
  const double end = now() + atof(argv[2]);
  state = strtoull(argv[3], NULL, 10);
  const int kind = strcmp(argv[4], "datagrams") == 0 ? SOCK_DGRAM : SOCK_STREAM;
  mutates = strcmp(argv[4], "random") != 0;
  for (int i = 5; i < argc && target_count < MOST_TARGETS; i++) {
    char* const colon = strrchr(argv[i], ':');
    if (colon == NULL) return 2;
    *colon = '\0';
    struct sockaddr_in* const t = &targets[target_count++];
    t->sin_family = AF_INET, t->sin_port = htons((uint16_t)atoi(colon + 1));
    if (inet_pton(AF_INET, argv[i], &t->sin_addr) != 1) return 2;
  }
  /* The magic number by which a connection of UCX over TCP begins, then a request to connect. */
  static const unsigned char ucx[] = {0x43, 0x50, 0x43, 0x41, 0x46, 0x45, 0xca, 0xfe, 0, 0, 0, 40, 0, 0, 0, 0};
  memcpy(heard[0].text, ucx, sizeof ucx), heard[0].length = 64;
  int open[OPEN];
  long tried = 0;
  for (int i = 0; i < OPEN; i++) open[i] = -1;
  for (; tried < most && now() < end; tried++) {
    int* const slot = &open[tried % OPEN];
    if (*slot >= 0) finish(*slot);
    const struct sockaddr_in* const target = &targets[chance() % (uint64_t)target_count];
    *slot = socket(AF_INET, kind | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*slot < 0) break;
    if (connect(*slot, (const struct sockaddr*)target, sizeof *target) != 0 && errno != EINPROGRESS)
      close(*slot), *slot = -1;
  }
  printf("%ld %ld %ld\n", tried, made, bytes);
  return 0;
}
