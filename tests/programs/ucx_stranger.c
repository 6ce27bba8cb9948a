/* A process without part in a job that knows the port of one of its ranks and speaks plain UCX to it.
 *
 *   ucx_stranger put|get|message IP PORT ADDRESS
 *
 * put writes 8 bytes of 0x5a at the address there, get prints what it reads, message sends a few active messages. What
 * the other side does not serve is given up after a second: then it prints "none". */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <ucp/api/ucp.h>

static ucp_context_h context;
static ucp_worker_h worker;

static void require(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  printf("failed: %s: %s\n", what, ucs_status_string(status));
  exit(0);
}

static void start(void) {
  ucp_config_t* config;
  require(ucp_config_read(NULL, NULL, &config), "settings");
  ucp_config_modify(config, "TLS", "tcp");
  ucp_config_modify(config, "NET_DEVICES", "lo");
  ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA | UCP_FEATURE_AM};
  require(ucp_init(&params, config, &context), "start");
  ucp_worker_params_t how = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
  require(ucp_worker_create(context, &how, &worker), "worker");
}

/* The port that this process listens to. */
static uint16_t own_port(void) {
  for (int fd = 3; fd < 100; fd++) {
    int listens = 0;
    socklen_t size = sizeof listens;
    struct sockaddr_in name;
    socklen_t bytes = sizeof name;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0 &&
        getsockname(fd, (struct sockaddr*)&name, &bytes) == 0 && name.sin_family == AF_INET)
      return name.sin_port;
  }
  return 0;
}

/* Its own address, with the other's port in place of its own. */
static ucp_ep_h connect_to(uint16_t port) {
  ucp_address_t* address;
  size_t bytes;
  require(ucp_worker_get_address(worker, &address, &bytes), "address");
  const uint16_t mine = own_port();
  int found = 0;
  for (size_t i = 0; i + sizeof mine <= bytes; i++) {
    char* const at = (char*)address + i;
    if (memcmp(at, &mine, sizeof mine) == 0) memcpy(at, &port, sizeof port), found++;
  }
  if (found != 1) printf("failed: %d ports in the address\n", found), exit(0);
  ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
  ucp_ep_h endpoint;
  require(ucp_ep_create(worker, &params, &endpoint), "endpoint");
  return endpoint;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int completes(ucs_status_ptr_t request) {
  const double limit = now() + 1;
  if (UCS_PTR_IS_ERR(request)) return 0;
  while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS)
    if (ucp_worker_progress(worker) == 0 && now() > limit) return 0;
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  start();
  const ucp_ep_h endpoint = connect_to(htons((uint16_t)atoi(argv[3])));
  const uint64_t address = strtoull(argv[4], NULL, 0);
  static uint64_t word = UINT64_C(0x5a5a5a5a5a5a5a5a);
  const ucp_request_param_t none = {.op_attr_mask = 0};
  if (strcmp(argv[1], "message") == 0) {
    for (int i = 0; i < 5; i++) completes(ucp_am_send_nbx(endpoint, 0, &i, sizeof i, &word, sizeof word, &none));
    puts(completes(ucp_worker_flush_nbx(worker, &none)) ? "done" : "none");
    return fflush(stdout), _Exit(0), 0;
  }
  ucp_mem_map_params_t area = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                               .address = &word,
                               .length = sizeof word};
  ucp_mem_h memory;
  void* packed;
  size_t bytes;
  ucp_rkey_h key;
  require(ucp_mem_map(context, &area, &memory), "memory");
  require(ucp_rkey_pack(context, memory, &packed, &bytes), "key");
  require(ucp_ep_rkey_unpack(endpoint, packed, &key), "key");
  const int put = strcmp(argv[1], "put") == 0;
  if (!put) word = 0;
  const int served = completes(put ? ucp_put_nbx(endpoint, &word, sizeof word, address, key, &none)
                                   : ucp_get_nbx(endpoint, &word, sizeof word, address, key, &none)) &&
                     completes(ucp_worker_flush_nbx(worker, &none));
  if (served && !put) printf("read %" PRIx64 "\n", word);
  else puts(served ? "done" : "none");
  fflush(stdout);
  _Exit(0);
}
