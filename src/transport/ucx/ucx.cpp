#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "transport/ucx/ucx_wire.hpp"

namespace hiroba {

// ---- start ---------------------------------------------------------------------------------------------------------

Status UcxWire::open(const Start& start) {
  hooks_ = start.hooks;
  largest_frame = most_in_frame;
  const SignalsBlocked blocked;
  return_signals();
  rendezvous_ = start.rendezvous;
  if (rendezvous_ == nullptr) {
    HIROBA_TRY(join_pmix(pmix_));
    rendezvous_ = pmix_.get();
  }
  rank_ = rendezvous_->rank(), size_ = rendezvous_->size();
  std::vector<Introduction> all;
  HIROBA_TRY(introduce(*rendezvous_, all));
  keys_ = Keys(all[0].secret, rank_, size_);
  const auto is_here = [&all](const Introduction& other) { return other.machine == all[0].machine; };
  const bool one_machine = std::all_of(all.begin(), all.end(), is_here);
  HIROBA_TRY(open_ucx(one_machine ? size_ : 0, ucx_));
  remote_memory_ = ucx_.has_rdma() || (one_machine && ucx_.has("cma") && ucx_.has_remote_access());
  watching_ = one_machine && (ucx_.has("sysv") || ucx_.has("posix"));
  const std::vector<int> others = listening_sockets();
  HIROBA_TRY(start_worker());
  if (const Status closed = keep_strangers_out(others, all); !closed.ok())
    warning = closed.message() + ", so that hosts without part in the job can connect to UCX: docs/security.md";
  return exchange_addresses();
}

Status UcxWire::start_worker() {
  ucp_worker_params_t params = {};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const ucs_status_t status = ucp_worker_create(ucx_.handle, &params, &worker_); status != UCS_OK) {
    const char* const ports = std::getenv("UCX_TCP_PORT_RANGE");
    return Status::error(
        "UCX cannot open the network (%s; the variables UCX_TLS and UCX_NET_DEVICES choose, UCX_TLS=tcp is the "
        "simplest): %s%s%s",
        ucx_.transports.c_str(), ucs_status_string(status),
        ports == nullptr ? "" : "; are the ports in use that it may take? UCX_TCP_PORT_RANGE=",
        ports == nullptr ? "" : ports);
  }
  if (const ucs_status_t status = ucp_worker_get_efd(worker_, &event_); status != UCS_OK) event_ = -1;
  const auto receive = [this](Message message, ucp_am_recv_callback_t callback) {
    ucp_am_handler_param_t handler = {};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = message;
    handler.cb = callback;
    handler.arg = this;
    return ucp_worker_set_am_recv_handler(worker_, &handler) == UCS_OK;
  };
  if (receive(frame_message, on_frame) && receive(leave_message, on_leave)) return {};
  return Status::error("UCX does not take handlers of messages");
}

// Address sizes differ, so addresses are sent padded to the longest.
Status UcxWire::exchange_addresses() {
  ucp_address_t* own = nullptr;
  size_t own_size = 0;
  if (const ucs_status_t status = ucp_worker_get_address(worker_, &own, &own_size); status != UCS_OK)
    return Status::error("UCX does not tell its address: %s", ucs_status_string(status));
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
  for (int r = 0; r < size_; ++r) peers_[r] = {this, r, nullptr};
  return {};
}

// Connects at the first use; returns null on failure.
ucp_ep_h UcxWire::endpoint(int to) {
  Peer& peer = peers_[to];
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
  fail(format("process %d cannot be reached by UCX over %s (%s); are UCX_TLS and UCX_NET_DEVICES right on all hosts?",
              to, ucx_.transports.c_str(), ucs_status_string(status)));
  return nullptr;
}

// ---- failure -------------------------------------------------------------------------------------------------------

void UcxWire::fail(std::string what) {
  if (closing_) someone_left_ = true;
  else if (!broken()) failure_ = std::move(what);
  ring();
}

// Wakes a thread that may sleep until there is something to report.
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
  ucp_request_param_t params;
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  const Keys::Sender header = keys_.sender(to);
  ucs_status_ptr_t result = ucp_am_send_nbx(endpoint, frame_message, &header, sizeof header, bytes, size, &params);
  if (UCS_PTR_STATUS(result) == UCS_ERR_NO_RESOURCE) result = send_copy(endpoint, to, bytes, size);
  if (UCS_PTR_IS_ERR(result)) lost(to, UCS_PTR_STATUS(result));
  return true;
}

// A frame that UCX does not send at once must outlive the call.
ucs_status_ptr_t UcxWire::send_copy(ucp_ep_h endpoint, int to, const void* bytes, size_t size) {
  Frame* const copy = frames_.take();
  copy->wire = this, copy->to = to, copy->header = keys_.sender(to);
  std::memcpy(copy->bytes, bytes, size);
  ucp_request_param_t params;
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = on_frame_sent;
  params.user_data = copy;
  const ucs_status_ptr_t result =
      ucp_am_send_nbx(endpoint, frame_message, &copy->header, sizeof copy->header, copy->bytes, size, &params);
  if (!UCS_PTR_IS_PTR(result)) frames_.give(copy);
  return result;
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
  UcxWire& wire = *static_cast<UcxWire*>(self);
  Keys::Sender sender;
  const bool here = (parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;  // frames are sent eagerly
  if (wire.closing_ || wire.broken()) return UCS_OK;
  if (!here || !wire.keys_.know(header, header_size, sender)) return wire.hooks_.stranger(wire.hooks_.context), UCS_OK;
  wire.hooks_.frame(wire.hooks_.context, sender.rank, data, size);
  return UCS_OK;
}

// ---- bulk data -----------------------------------------------------------------------------------------------------

UcxWire::Transfer* UcxWire::begin(int peer, uint64_t ticket) {
  Transfer* const transfer = transfers_.take();
  *transfer = {this, peer, ticket};
  return transfer;
}

// `result` is UCX's: a pending request, which will call back, or a final status.
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

void UcxWire::send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) {
  if (broken()) return;
  const ucp_ep_h endpoint = this->endpoint(to);
  if (endpoint == nullptr) return;
  ucp_request_param_t params = {};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = on_sent;
  params.user_data = begin(to, ticket);
  started(ucp_tag_send_nbx(endpoint, data, bytes, keys_.tag(rank_, to, tag), &params),
          static_cast<Transfer*>(params.user_data));
}

// Connects, too: only our own connection reports the sender's death.
void UcxWire::recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) {
  if (broken() || endpoint(from) == nullptr) return;
  ucp_request_param_t params = {};
  // The callback also reports data that has arrived already, with its size.
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  params.cb.recv = on_received;
  params.user_data = begin(from, ticket);
  started(ucp_tag_recv_nbx(worker_, data, bytes, keys_.tag(from, rank_, tag), ~ucp_tag_t{0}, &params),
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

HIROBA_WIRE_PLUGIN(UcxWire, WirePlugin::with_rdma)

}  // namespace hiroba
