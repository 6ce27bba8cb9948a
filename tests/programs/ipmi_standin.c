/* A stand-in of a board's controller, for LD_PRELOAD: /dev/ipmi77 answers requests for its power (DCMI) as the kernel's
 * driver does. IPMI_STANDIN: the watts; or "silent"; or "denied", which is what the driver's file says to a user. An
 * answer to a request that nobody made, which was given up, comes before each one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int device = -1;
static long asked;    /* the number of the request that is to be answered; 0: none */
static int old_comes; /* the answer to another one is still there */

static const char* says(void) {
  const char* const text = getenv("IPMI_STANDIN");
  return text != NULL ? text : "";
}

int open(const char* file, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  int (*const next)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  if (strcmp(file, "/dev/ipmi77") != 0) return next(file, flags, mode);
  if (strcmp(says(), "denied") == 0) return errno = EACCES, -1;
  return device = next("/dev/null", O_RDWR | O_CLOEXEC);
}

int poll(struct pollfd* waits, nfds_t count, int limit_ms) {
  int (*const next)(struct pollfd*, nfds_t, int) = (int (*)(struct pollfd*, nfds_t, int))dlsym(RTLD_NEXT, "poll");
  if (count != 1 || waits[0].fd != device) return next(waits, count, limit_ms);
  if (asked == 0 || strcmp(says(), "silent") == 0) return 0;
  waits[0].revents = POLLIN;
  return 1;
}

static int send_command(const struct ipmi_req* request) {
  const struct ipmi_system_interface_addr* const to = (const void*)request->addr;
  const unsigned char power_now[] = {0xdc, 1, 0, 0};
  if (to->addr_type != IPMI_SYSTEM_INTERFACE_ADDR_TYPE || to->channel != IPMI_BMC_CHANNEL ||
      request->msg.netfn != 0x2c || request->msg.cmd != 2 || request->msg.data_len != sizeof power_now ||
      memcmp(request->msg.data, power_now, sizeof power_now) != 0)
    return errno = EINVAL, -1;
  asked = request->msgid, old_comes = 1;
  return 0;
}

static int receive(struct ipmi_recv* received) {
  const unsigned watts = old_comes ? 1 : (unsigned)atoi(says());
  const unsigned char answer[] = {0, 0xdc, watts & 255, watts >> 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40};
  if (received->msg.data_len < sizeof answer) return errno = EMSGSIZE, -1;
  memcpy(received->msg.data, answer, sizeof answer);
  received->msg.data_len = sizeof answer;
  received->msgid = old_comes ? asked + 1000 : asked;
  if (!old_comes) asked = 0;
  old_comes = 0;
  return 0;
}

int ioctl(int fd, unsigned long request, ...) {
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  if (fd == device && request == IPMICTL_SEND_COMMAND) return send_command(argument);
  if (fd == device && request == IPMICTL_RECEIVE_MSG_TRUNC) return receive(argument);
  int (*const next)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
  return next(fd, request, argument);
}
