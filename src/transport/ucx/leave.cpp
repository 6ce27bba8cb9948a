// The end of a wire: a barrier of all, then the close of all connections.
#include <poll.h>

#include <cstring>

#include "base/wait.hpp"
#include "transport/ucx/ucx_wire.hpp"

namespace hiroba {

template <typename Done>
void UcxWire::drive_until(const Done& done, double limit) {
  const double deadline = seconds_now() + limit;
  while (!done() && seconds_now() < deadline) {
    if (ucp_worker_progress(worker_) != 0 || ucp_worker_arm(worker_) != UCS_OK) continue;
    pollfd source = {event_, POLLIN, 0};
    ::poll(&source, 1, 10);
  }
}

// A barrier: in round k, a process sends to the process 2^k after it and receives from the one 2^k before it. A process
// that has closed a connection has seen the end of the barrier, so then it is over for us as well.
void UcxWire::take_leave() {
  ucp_request_param_t params = {};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = on_forgotten;
  uint32_t round = 0;
  for (int64_t distance = 1; distance < size_ && !someone_left_; distance *= 2, ++round) {
    const ucp_ep_h next = endpoint(static_cast<int>((rank_ + distance) % size_));
    rounds_[round] = keys_.sender(static_cast<int>((rank_ + distance) % size_), round);
    if (next != nullptr)
      (void)ucp_am_send_nbx(next, leave_message, &rounds_[round], sizeof rounds_[round], nullptr, 0, &params);
    drive_until([&] { return someone_left_ || (leave_rounds_ >> round & 1) != 0; }, leave_seconds);
  }
  params.op_attr_mask = 0;
  settle(ucp_worker_flush_nbx(worker_, &params));
}

ucs_status_t UcxWire::on_leave(void* self, const void* header, size_t header_size, void*, size_t,
                               const ucp_am_recv_param_t*) {
  auto& wire = *static_cast<UcxWire*>(self);
  if (Keys::Sender sender; wire.keys_.know(header, header_size, sender))
    wire.leave_rounds_ |= uint32_t{1} << (sender.round & 31);
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

void UcxWire::close(bool) {
  closing_ = true;
  someone_left_ = broken();
  if (worker_ == nullptr) return;
  take_leave();
  for (const Imported& memory : imported_)
    if (memory.rkey != nullptr) ucp_rkey_destroy(memory.rkey);
  close_endpoints();
  for (const auto& [address, memory] : exposed_) (void)ucp_mem_unmap(ucx_.handle, memory);
  ucp_worker_destroy(worker_);
  worker_ = nullptr;
  ucp_cleanup(ucx_.handle);
  if (pmix_ != nullptr) pmix_->leave();
}

}  // namespace hiroba
