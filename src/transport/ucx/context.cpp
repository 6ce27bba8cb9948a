#include "transport/ucx/context.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <ucs/debug/debug.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "transport/wire/ucx_transports.hpp"

namespace hiroba {

namespace {

bool always(const UcxContext&) { return true; }
bool sysv(const UcxContext& ucx) { return ucx.has("sysv"); }
bool posix(const UcxContext& ucx) { return ucx.has("posix"); }
bool cma(const UcxContext& ucx) { return ucx.has("cma"); }
bool tcp(const UcxContext& ucx) { return ucx.has("tcp"); }
bool no_rdma(const UcxContext& ucx) { return !ucx.has_rdma(); }

struct Setting {
  const char* key;
  const char* value;
  bool (*applies)(const UcxContext&);  // UCX warns about settings of transports that it does not use
  const char* variable;                // the user's variable
};
constexpr Setting settings[] = {
    {"KEEPALIVE_INTERVAL", "1s", always, "UCX_KEEPALIVE_INTERVAL"},
    {"RNDV_THRESH", "128k", no_rdma, "UCX_RNDV_THRESH"},
    {"MM_ERROR_HANDLING", "y", sysv, "UCX_SYSV_ERROR_HANDLING"},
    {"MM_ERROR_HANDLING", "y", posix, "UCX_POSIX_ERROR_HANDLING"},
    {"MM_FIFO_ELEM_SIZE", "8256", sysv, "UCX_SYSV_FIFO_ELEM_SIZE"},
    {"MM_FIFO_ELEM_SIZE", "8256", posix, "UCX_POSIX_FIFO_ELEM_SIZE"},
    {"MEMORY_INVALIDATE", "y", cma, "UCX_CMA_MEMORY_INVALIDATE"},
    {"KEEPIDLE", "2s", tcp, "UCX_TCP_KEEPIDLE"},
    {"KEEPINTVL", "1s", tcp, "UCX_TCP_KEEPINTVL"},
    {"KEEPCNT", "4", tcp, "UCX_TCP_KEEPCNT"},
    {"RX_SEG_SIZE", "128k", tcp, "UCX_TCP_RX_SEG_SIZE"},
};

Status check(ucs_status_t status, const char* doing) {
  if (status == UCS_OK) return {};
  return Status::error("UCX failed in %s: %s", doing, ucs_status_string(status));
}

// `ranks`: those of a job on one machine, else 0. Between machines shared memory is Hiroba's own.
void choose_transports(int ranks, ucp_config_t& config) {
  UcxTransports chosen;
  if (ranks > 0) chosen = ucx_transports_here(ranks);
  else if (std::getenv("UCX_TLS") == nullptr) chosen.transports = "^sysv,posix";
  if (chosen.transports != nullptr) (void)ucp_config_modify(&config, "TLS", chosen.transports);
  if (chosen.devices != nullptr) (void)ucp_config_modify(&config, "NET_DEVICES", chosen.devices);
}

Status create(const UcxContext& known, int ranks, ucp_context_h& out) {
  ucp_config_t* config = nullptr;
  HIROBA_TRY(check(ucp_config_read(nullptr, nullptr, &config), "reading its settings"));
  choose_transports(ranks, *config);
  for (const Setting& setting : settings) {
    if (std::getenv(setting.variable) != nullptr || !setting.applies(known)) continue;
    (void)ucp_config_modify(config, setting.key, setting.value);
  }
  ucp_params_t params = {};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
  if (!known.transports.empty() && known.has_remote_access()) params.features |= UCP_FEATURE_RMA;
  const ucs_status_t status = ucp_init(&params, config, &out);
  ucp_config_release(config);
  if (status == UCS_ERR_NO_DEVICE)
    return Status::error(
        "UCX has found no network or transport to use; look at UCX_TLS (now: %s) and UCX_NET_DEVICES (now: %s)",
        std::getenv("UCX_TLS") != nullptr ? std::getenv("UCX_TLS") : "not set",
        std::getenv("UCX_NET_DEVICES") != nullptr ? std::getenv("UCX_NET_DEVICES") : "not set");
  return check(status, "its start");
}

// UCX lists its transports only by printing: "# resource 1 : md 1 dev 1 flags -- tcp/eth0".
std::string list_transports(ucp_context_h context) {
  char* text = nullptr;
  size_t size = 0;
  FILE* const stream = open_memstream(&text, &size);
  if (stream == nullptr) return "";
  ucp_context_print_info(context, stream);
  std::fclose(stream);
  UcxContext found;
  char* rest = nullptr;
  for (char* line = strtok_r(text, "\n", &rest); line != nullptr; line = strtok_r(nullptr, "\n", &rest)) {
    const char* const blank = std::strrchr(line, ' ');
    const char* const slash = std::strrchr(line, '/');
    if (std::strstr(line, "resource") == nullptr || blank == nullptr || slash == nullptr || slash < blank) continue;
    const std::string name(blank + 1, slash);
    if (found.has(name.c_str())) continue;
    if (!found.transports.empty()) found.transports += ", ";
    found.transports += name;
  }
  std::free(text);
  return found.transports;
}

}  // namespace

bool UcxContext::has(const char* transport) const {
  const std::string all = ", " + transports + ",";
  return all.find(format(", %s,", transport)) != std::string::npos;
}

// Opens UCX twice, because the applicable settings depend on the transports that it finds.
Status open_ucx(int ranks, UcxContext& out) {
  UcxContext trial;
  HIROBA_TRY(create(trial, ranks, trial.handle));
  trial.transports = list_transports(trial.handle);
  ucp_cleanup(trial.handle);
  HIROBA_TRY(create(trial, ranks, out.handle));
  out.transports = trial.transports;
  return {};
}

void return_signals() {
  if (std::getenv("UCX_HANDLE_ERRORS") != nullptr) return;
  Dl_info ucx, handler;
  if (dladdr(reinterpret_cast<const void*>(&ucs_debug_disable_signal), &ucx) == 0) return;
  bool any = false;
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGHUP}) {
    struct sigaction now;
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) continue;
    if (dladdr(reinterpret_cast<const void*>(now.sa_sigaction), &handler) == 0) continue;
    if (handler.dli_fbase != ucx.dli_fbase) continue;
    ucs_debug_disable_signal(number);
    any = any || number == SIGSEGV;
  }
  const stack_t none = {nullptr, SS_DISABLE, 0};
  if (any) (void)sigaltstack(&none, nullptr);
}

}  // namespace hiroba
