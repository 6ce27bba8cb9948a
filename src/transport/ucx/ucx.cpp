// The wire over UCX: frames are active messages, bulk data tagged messages, one-sided access is UCX's own. Processes
// find each other by the launcher's board (one machine) or by PMIx.
//
// All calls are made under the engine's lock, so one worker without locks of its own is enough. UCX reports what has
// ended only while it is polled; what ends at once, inside a call, waits in `finished_` for the next poll.
//
// A lost connection is a failure unless this process is closing, and in close() nobody lets go of a connection before
// all have come there (take_leave). So a connection that breaks earlier means that its process has died.
#include <poll.h>
#include <signal.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>

#include "transport/net/wire.hpp"
#include "transport/ucx/context.hpp"
#include "transport/ucx/pmix.hpp"

namespace hiroba {

namespace {

// Things under way, which UCX keeps pointers to.
template <typename T>
class Pool {
 public:
  T* take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<T>());
      free_.push_back(all_.back().get());
    }
    T* const one = free_.back();
    free_.pop_back();
    return one;
  }
  void give(T* one) { free_.push_back(one); }
  size_t taken() const { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::vector<T*> free_;
};

// Signals are for the program's threads, not for those that libraries start.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class UcxWire final : public Wire {
 public:
  std::string describe() const override {
    const std::string name = std::string("UCX ") + ucp_get_version_string();
    return ucx_.transports.empty() ? name : name + " (" + ucx_.transports + ")";
  }
  Status open(const Start& start) override;
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Status allgather(const void* mine, void* all, size_t bytes) override {
    return rendezvous_->allgather(mine, all, bytes);
  }
  void close(bool orderly) override;

  bool send(int to, const void* frame, size_t size) override;
  void send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) override;
  void recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) override;
  bool poll() override;
  int event() const override { return event_; }
  bool arm() override;

  // Only where it does not need the owner's help; over other networks UCX would send messages, as we do.
  bool has_remote_memory() const override { return remote_memory_; }
  Status expose(void* memory, size_t bytes, std::vector<char>& key) override;
  int import(int owner, uint64_t address, const std::vector<char>& key) override;
  void forget(int handle) override;
  void put(int handle, uint64_t offset, const void* from, size_t bytes, uint64_t ticket) override;
  void get(int handle, uint64_t offset, void* to, size_t bytes, uint64_t ticket) override;

 private:
  struct Peer {
    UcxWire* wire = nullptr;
    int rank = 0;
    ucp_ep_h endpoint = nullptr;
  };
  struct Frame {
    UcxWire* wire;
    int to;
    size_t size;  // used for frames to oneself only
    char bytes[max_frame];
  };
  struct Transfer {
    UcxWire* wire;
    int peer;
    uint64_t ticket;
  };
  struct Imported {
    int owner = -1;  // -1: free
    uint64_t address = 0;
    std::vector<char> key;
    ucp_rkey_h rkey = nullptr;  // made when it is used first
  };
  enum Message : unsigned { frame_message, leave_message };
  static constexpr size_t most_in_flight = 1024;
  static constexpr double leave_seconds = 60;  // for all others to come to close() as well

  Status start_worker();
  Status exchange_addresses();
  ucp_ep_h endpoint(int peer);
  void fail(std::string what);
  void lost(int peer, ucs_status_t status);
  void ring();
  bool broken() const { return !failure_.empty(); }

  Transfer* begin(int peer, uint64_t ticket);
  void started(ucs_status_ptr_t result, Transfer* transfer);
  void end(Transfer* transfer, ucs_status_t status);
  ucp_rkey_h key_of(Imported& memory, ucp_ep_h endpoint);

  template <typename Done>
  void drive_until(const Done& done, double limit);
  void take_leave();
  void settle(ucs_status_ptr_t request);
  void close_endpoints();

  static ucs_status_t on_frame(void* self, const void* header, size_t header_size, void* data, size_t size,
                               const ucp_am_recv_param_t* parameters);
  static ucs_status_t on_leave(void* self, const void* header, size_t header_size, void* data, size_t size,
                               const ucp_am_recv_param_t* parameters);
  static void on_lost(void* peer, ucp_ep_h endpoint, ucs_status_t status);
  static void on_frame_sent(void* request, ucs_status_t status, void* frame);
  static void on_sent(void* request, ucs_status_t status, void* transfer);
  static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* transfer);
  static void on_forgotten(void* request, ucs_status_t, void*) { ucp_request_free(request); }

  Hooks hooks_ = {};
  int rank_ = 0, size_ = 1, event_ = -1;
  Rendezvous* rendezvous_ = nullptr;
  std::unique_ptr<PmixRendezvous> pmix_;
  UcxContext ucx_;
  bool remote_memory_ = false;
  bool watching_ = false;
  ucp_worker_h worker_ = nullptr;
  std::vector<char> addresses_;
  size_t address_size_ = 0;
  std::vector<Peer> peers_;

  Pool<Frame> frames_;
  Pool<Transfer> transfers_;
  // Waiting for poll() to call hooks: UCX would deliver frames to oneself from within send(). The second of each is what
  // poll() works on.
  std::vector<Frame*> to_self_, arriving_;
  std::vector<uint64_t> finished_, reporting_;  // tickets
  bool armed_ = false;

  std::vector<ucp_mem_h> exposed_;
  std::vector<Imported> imported_;

  std::string failure_;
  bool reported_ = false;
  bool closing_ = false, someone_left_ = false;
  std::array<uint32_t, 32> rounds_ = {};  // of taking leave, being sent
  uint32_t leave_rounds_ = 0;             // of which we have been told, a bit each
};

// ---- start ---------------------------------------------------------------------------------------------------------

Status UcxWire::open(const Start& start) {
  hooks_ = start.hooks;
  const SignalsBlocked blocked;
  return_signals();
  rendezvous_ = start.rendezvous;
  if (rendezvous_ == nullptr) {
    HIROBA_TRY(join_pmix(pmix_));
    rendezvous_ = pmix_.get();
  }
  rank_ = rendezvous_->rank(), size_ = rendezvous_->size();
  HIROBA_TRY(open_ucx(ucx_));
  remote_memory_ = start.rendezvous != nullptr && ucx_.has("cma");  // among processes of one machine
  for (const char* const transport : {"rc_verbs", "rc_mlx5", "dc_mlx5"})
    remote_memory_ = remote_memory_ || ucx_.has(transport);
  watching_ = start.rendezvous != nullptr && (ucx_.has("sysv") || ucx_.has("posix"));
  if(getenv("WATCH")) watching_=atoi(getenv("WATCH"));
  HIROBA_TRY(start_worker());
  return exchange_addresses();
}

Status UcxWire::start_worker() {
  ucp_worker_params_t params = {};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const ucs_status_t status = ucp_worker_create(ucx_.handle, &params, &worker_); status != UCS_OK)
    return Status::error(format("UCX cannot open the network (%s): %s", ucx_.transports.c_str(),
                                ucs_status_string(status)));
  if (const ucs_status_t status = ucp_worker_get_efd(worker_, &event_); status != UCS_OK) event_ = -1;
  const auto receive = [this](Message message, ucp_am_recv_callback_t callback) {
    ucp_am_handler_param_t handler = {};
    handler.field_mask =
        UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = message;
    handler.cb = callback;
    handler.arg = this;
    return ucp_worker_set_am_recv_handler(worker_, &handler) == UCS_OK;
  };
  if (receive(frame_message, on_frame) && receive(leave_message, on_leave)) return {};
  return Status::error("UCX does not take handlers of messages");
}

// The addresses differ in size, so they are sent padded to the longest.
Status UcxWire::exchange_addresses() {
  ucp_address_t* own = nullptr;
  size_t own_size = 0;
  if (const ucs_status_t status = ucp_worker_get_address(worker_, &own, &own_size); status != UCS_OK)
    return Status::error(format("UCX does not tell its address: %s", ucs_status_string(status)));
  const size_t n = static_cast<size_t>(size_);
  std::vector<uint64_t> sizes(n);
  const uint64_t mine = own_size;
  HIROBA_TRY(allgather(&mine, sizes.data(), sizeof mine));
  address_size_ = *std::max_element(sizes.begin(), sizes.end());
  std::vector<char> padded(address_size_);
  std::memcpy(padded.data(), own, own_size);
  ucp_worker_release_address(worker_, own);
  addresses_.resize(n * address_size_);
  HIROBA_TRY(allgather(padded.data(), addresses_.data(), address_size_));
  peers_.resize(n);
  for (int r = 0; r < size_; ++r) peers_[static_cast<size_t>(r)] = {this, r, nullptr};
  return {};
}

// Connections are made when they are needed first; null if that fails.
ucp_ep_h UcxWire::endpoint(int to) {
  Peer& peer = peers_[static_cast<size_t>(to)];
  if (peer.endpoint != nullptr) return peer.endpoint;
  ucp_ep_params_t params = {};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(&addresses_[static_cast<size_t>(to) * address_size_]);
  params.err_mode = watching_ && to != rank_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  params.err_handler.cb = on_lost;
  params.err_handler.arg = &peer;
  const ucs_status_t status = ucp_ep_create(worker_, &params, &peer.endpoint);
  if (status == UCS_OK) return peer.endpoint;
  peer.endpoint = nullptr;
  fail(format("process %d cannot be reached by UCX over %s (%s)", to, ucx_.transports.c_str(),
              ucs_status_string(status)));
  return nullptr;
}

// ---- failure -------------------------------------------------------------------------------------------------------

void UcxWire::fail(std::string what) {
  if (closing_) someone_left_ = true;
  else if (!broken()) failure_ = std::move(what);
  ring();
}

// There is something to report, and somebody may sleep until there is.
void UcxWire::ring() {
  if (armed_) (void)ucp_worker_signal(worker_);
  armed_ = false;
}

void UcxWire::lost(int peer, ucs_status_t status) {
  fail(format("connection to process %d was lost (%s)", peer, ucs_status_string(status)));
}

void UcxWire::on_lost(void* peer, ucp_ep_h, ucs_status_t status) {
  const Peer& who = *static_cast<Peer*>(peer);
  who.wire->lost(who.rank, status);
}

// ---- frames --------------------------------------------------------------------------------------------------------

bool UcxWire::send(int to, const void* bytes, size_t size) {
  if (broken()) return true;
  if (frames_.taken() >= most_in_flight) return false;
  if (to == rank_) {
    to_self_.push_back(frames_.take());
    to_self_.back()->size = size;
    std::memcpy(to_self_.back()->bytes, bytes, size);
    ring();
    return true;
  }
  const ucp_ep_h endpoint = this->endpoint(to);
  if (endpoint == nullptr) return true;
  Frame* const copy = frames_.take();
  copy->wire = this, copy->to = to;
  std::memcpy(copy->bytes, bytes, size);
  ucp_request_param_t params = {};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = on_frame_sent;
  params.user_data = copy;
  const ucs_status_ptr_t result = ucp_am_send_nbx(endpoint, frame_message, &rank_, sizeof rank_, copy->bytes, size, &params);
  if (UCS_PTR_IS_PTR(result)) return true;
  frames_.give(copy);
  if (UCS_PTR_IS_ERR(result)) lost(to, UCS_PTR_STATUS(result));
  return true;
}

void UcxWire::on_frame_sent(void* request, ucs_status_t status, void* frame) {
  auto* const sent = static_cast<Frame*>(frame);
  UcxWire& wire = *sent->wire;
  if (status != UCS_OK) wire.lost(sent->to, status);
  wire.frames_.give(sent);
  ucp_request_free(request);
}

ucs_status_t UcxWire::on_frame(void* self, const void* header, size_t header_size, void* data, size_t size,
                               const ucp_am_recv_param_t* parameters) {
  const UcxWire& wire = *static_cast<UcxWire*>(self);
  int source = -1;
  if (header_size == sizeof source) std::memcpy(&source, header, sizeof source);
  const bool here = (parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;  // frames are sent so that they are
  if (source < 0 || source >= wire.size_ || !here || wire.closing_ || wire.broken()) return UCS_OK;
  wire.hooks_.frame(wire.hooks_.context, source, data, size);
  return UCS_OK;
}

// ---- bulk data -----------------------------------------------------------------------------------------------------

UcxWire::Transfer* UcxWire::begin(int peer, uint64_t ticket) {
  Transfer* const transfer = transfers_.take();
  *transfer = {this, peer, ticket};
  return transfer;
}

// `result` is what UCX returns: a request, which will call back, or that it has ended already.
void UcxWire::started(ucs_status_ptr_t result, Transfer* transfer) {
  if (!UCS_PTR_IS_PTR(result)) end(transfer, UCS_PTR_STATUS(result));
}

void UcxWire::end(Transfer* transfer, ucs_status_t status) {
  if (status == UCS_OK) finished_.push_back(transfer->ticket);
  else lost(transfer->peer, status);
  transfers_.give(transfer);
  ring();
}

void UcxWire::on_sent(void* request, ucs_status_t status, void* transfer) {
  auto* const sent = static_cast<Transfer*>(transfer);
  sent->wire->end(sent, status);
  ucp_request_free(request);
}

void UcxWire::on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t*, void* transfer) {
  on_sent(request, status, transfer);
}

ucp_tag_t full_tag(int sender, uint32_t tag) { return static_cast<uint64_t>(sender) << 32 | tag; }

void UcxWire::send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) {
  if (broken()) return;
  const ucp_ep_h endpoint = this->endpoint(to);
  if (endpoint == nullptr) return;
  ucp_request_param_t params = {};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = on_sent;
  params.user_data = begin(to, ticket);
  started(ucp_tag_send_nbx(endpoint, data, bytes, full_tag(rank_, tag), &params),
          static_cast<Transfer*>(params.user_data));
}

// Connects, too: only over a connection of our own do we learn that the sender has died.
void UcxWire::recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) {
  if (broken() || endpoint(from) == nullptr) return;
  ucp_request_param_t params = {};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.recv = on_received;
  params.user_data = begin(from, ticket);
  started(ucp_tag_recv_nbx(worker_, data, bytes, full_tag(from, tag), ~ucp_tag_t{0}, &params),
          static_cast<Transfer*>(params.user_data));
}

// ---- progress ------------------------------------------------------------------------------------------------------

bool UcxWire::poll() {
  if (reported_) return false;
  armed_ = false;
  bool any = ucp_worker_progress(worker_) != 0;
  if (!to_self_.empty()) {
    any = true;
    arriving_.swap(to_self_);
    for (Frame* const frame : arriving_) {
      hooks_.frame(hooks_.context, rank_, frame->bytes, frame->size);
      frames_.give(frame);
    }
    arriving_.clear();
  }
  if (!finished_.empty()) {
    any = true;
    reporting_.swap(finished_);
    for (const uint64_t ticket : reporting_) hooks_.done(hooks_.context, ticket);
    reporting_.clear();
  }
  if (broken()) {
    reported_ = true;
    hooks_.failed(hooks_.context, failure_.c_str());
  }
  return any;
}

bool UcxWire::arm() {
  if (!finished_.empty() || !to_self_.empty() || (broken() && !reported_)) return false;
  armed_ = ucp_worker_arm(worker_) == UCS_OK;
  return armed_;
}

// ---- one-sided access ----------------------------------------------------------------------------------------------

Status UcxWire::expose(void* memory, size_t bytes, std::vector<char>& key) {
  ucp_mem_map_params_t params = {};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory;
  params.length = bytes;
  ucp_mem_h mapped = nullptr;
  void* packed = nullptr;
  size_t size = 0;
  ucs_status_t status = ucp_mem_map(ucx_.handle, &params, &mapped);
  if (status == UCS_OK) exposed_.push_back(mapped);
  if (status == UCS_OK) status = ucp_rkey_pack(ucx_.handle, mapped, &packed, &size);
  if (status != UCS_OK)
    return Status::error(format("UCX cannot make %zu bytes of memory accessible to other processes (%s); is the limit "
                                "on locked memory (ulimit -l) too low?",
                                bytes, ucs_status_string(status)));
  key.assign(static_cast<char*>(packed), static_cast<char*>(packed) + size);
  ucp_rkey_buffer_release(packed);
  return {};
}

int UcxWire::import(int owner, uint64_t address, const std::vector<char>& key) {
  const auto unused = std::find_if(imported_.begin(), imported_.end(), [](const Imported& i) { return i.owner < 0; });
  const auto at = unused != imported_.end() ? unused : imported_.insert(unused, Imported());
  *at = {owner, address, key, nullptr};
  return static_cast<int>(at - imported_.begin());
}

void UcxWire::forget(int handle) {
  Imported& memory = imported_[static_cast<size_t>(handle)];
  if (memory.rkey != nullptr) ucp_rkey_destroy(memory.rkey);
  memory = Imported();
}

ucp_rkey_h UcxWire::key_of(Imported& memory, ucp_ep_h endpoint) {
  if (memory.rkey != nullptr) return memory.rkey;
  const ucs_status_t status = ucp_ep_rkey_unpack(endpoint, memory.key.data(), &memory.rkey);
  if (status == UCS_OK) return memory.rkey;
  memory.rkey = nullptr;
  fail(format("memory of process %d cannot be accessed (%s)", memory.owner, ucs_status_string(status)));
  return nullptr;
}

// The flush that follows ends when the data is visible at its owner.
void UcxWire::put(int handle, uint64_t offset, const void* from, size_t bytes, uint64_t ticket) {
  Imported& memory = imported_[static_cast<size_t>(handle)];
  const ucp_ep_h endpoint = broken() ? nullptr : this->endpoint(memory.owner);
  const ucp_rkey_h rkey = endpoint == nullptr ? nullptr : key_of(memory, endpoint);
  if (rkey == nullptr) return;
  ucp_request_param_t params = {};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
  params.cb.send = on_forgotten;
  const ucs_status_ptr_t result = ucp_put_nbx(endpoint, from, bytes, memory.address + offset, rkey, &params);
  if (UCS_PTR_IS_ERR(result)) return lost(memory.owner, UCS_PTR_STATUS(result));
  params.op_attr_mask |= UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = on_sent;
  params.user_data = begin(memory.owner, ticket);
  started(ucp_ep_flush_nbx(endpoint, &params), static_cast<Transfer*>(params.user_data));
}

void UcxWire::get(int handle, uint64_t offset, void* to, size_t bytes, uint64_t ticket) {
  Imported& memory = imported_[static_cast<size_t>(handle)];
  const ucp_ep_h endpoint = broken() ? nullptr : this->endpoint(memory.owner);
  const ucp_rkey_h rkey = endpoint == nullptr ? nullptr : key_of(memory, endpoint);
  if (rkey == nullptr) return;
  ucp_request_param_t params = {};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = on_sent;
  params.user_data = begin(memory.owner, ticket);
  started(ucp_get_nbx(endpoint, to, bytes, memory.address + offset, rkey, &params),
          static_cast<Transfer*>(params.user_data));
}

// ---- end -----------------------------------------------------------------------------------------------------------

template <typename Done>
void UcxWire::drive_until(const Done& done, double limit) {
  const double deadline = seconds() + limit;
  while (!done() && seconds() < deadline) {
    if (ucp_worker_progress(worker_) != 0 || ucp_worker_arm(worker_) != UCS_OK) continue;
    pollfd source = {event_, POLLIN, 0};
    ::poll(&source, 1, 10);
  }
}

// A barrier: in round k, one tells the process 2^k after it and hears of the one 2^k before it. Whoever has let go of a
// connection has seen the end of the barrier, so then it is over for us as well.
void UcxWire::take_leave() {
  ucp_request_param_t params = {};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = on_forgotten;
  uint32_t round = 0;
  for (int64_t distance = 1; distance < size_ && !someone_left_; distance *= 2, ++round) {
    const ucp_ep_h next = endpoint(static_cast<int>((rank_ + distance) % size_));
    rounds_[round] = round;
    if (next != nullptr) (void)ucp_am_send_nbx(next, leave_message, &rounds_[round], sizeof round, nullptr, 0, &params);
    drive_until([&] { return someone_left_ || (leave_rounds_ >> round & 1) != 0; }, leave_seconds);
  }
  params.op_attr_mask = 0;
  settle(ucp_worker_flush_nbx(worker_, &params));
}

ucs_status_t UcxWire::on_leave(void* self, const void* header, size_t header_size, void*, size_t,
                               const ucp_am_recv_param_t*) {
  uint32_t round = 0;
  if (header_size == sizeof round) std::memcpy(&round, header, sizeof round);
  static_cast<UcxWire*>(self)->leave_rounds_ |= uint32_t{1} << (round & 31);
  return UCS_OK;
}

void UcxWire::settle(ucs_status_ptr_t request) {
  if (!UCS_PTR_IS_PTR(request)) return;
  drive_until([&] { return ucp_request_check_status(request) != UCS_INPROGRESS; }, 5);
  ucp_request_free(request);
}

void UcxWire::close_endpoints() {
  const ucp_request_param_t params = {};
  std::vector<ucs_status_ptr_t> requests;
  for (Peer& peer : peers_)
    if (peer.endpoint != nullptr) requests.push_back(ucp_ep_close_nbx(peer.endpoint, &params));
  for (const ucs_status_ptr_t request : requests) settle(request);
}

// After an error there is nothing to wait for and nobody to wait with, and what is under way cannot be undone: the end of
// the process closes everything. The launcher is not told of an orderly end, so it takes the other processes down.
void UcxWire::close(bool orderly) {
  closing_ = true;
  if (!orderly || worker_ == nullptr) return;
  take_leave();
  for (const Imported& memory : imported_)
    if (memory.rkey != nullptr) ucp_rkey_destroy(memory.rkey);
  close_endpoints();
  for (const ucp_mem_h memory : exposed_) (void)ucp_mem_unmap(ucx_.handle, memory);
  ucp_worker_destroy(worker_);
  worker_ = nullptr;
  ucp_cleanup(ucx_.handle);
  if (pmix_ != nullptr) pmix_->leave();
}

Wire* make() { return new UcxWire; }

constexpr WirePlugin plugin = {HIROBA_VERSION, "ucx", make};

}  // namespace
}  // namespace hiroba

extern "C" __attribute__((visibility("default"))) const hiroba::WirePlugin* HIROBA_WIRE_PLUGIN() {
  return &hiroba::plugin;
}
