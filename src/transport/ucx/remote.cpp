// One-sided access: memory of this process for others, and theirs for this one.
#include <algorithm>

#include "base/limits.hpp"
#include "transport/ucx/ucx_wire.hpp"

namespace hiroba {

Status UcxWire::expose(void* memory, size_t bytes, std::vector<char>& key) {
  ucp_mem_map_params_t params = {};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.flags = UCP_MEM_MAP_NONBLOCK;  // pages are pinned when they are used
  params.address = memory;
  params.length = bytes;
  ucp_mem_h mapped = nullptr;
  void* packed = nullptr;
  size_t size = 0;
  ucs_status_t status = ucp_mem_map(ucx_.handle, &params, &mapped);
  if (status == UCS_OK) exposed_[memory] = mapped;
  if (status == UCS_OK) status = ucp_rkey_pack(ucx_.handle, mapped, &packed, &size);
  if (status != UCS_OK)
    return Status::error(
        "UCX cannot make %zu bytes of memory accessible to other processes (%s); is ulimit -l, the limit of locked "
        "memory, which is %s, too low?",
        bytes, ucs_status_string(status), locked_memory_limit().c_str());
  key.assign(static_cast<char*>(packed), static_cast<char*>(packed) + size);
  ucp_rkey_buffer_release(packed);
  return {};
}

void UcxWire::conceal(void* memory) {
  (void)ucp_mem_unmap(ucx_.handle, exposed_.at(memory));
  exposed_.erase(memory);
}

int UcxWire::import(int owner, uint64_t address, const std::vector<char>& key) {
  const auto unused = std::find_if(imported_.begin(), imported_.end(), [](const Imported& i) { return i.owner < 0; });
  const auto at = unused != imported_.end() ? unused : imported_.insert(unused, Imported());
  *at = {owner, address, key, nullptr};
  return static_cast<int>(at - imported_.begin());
}

void UcxWire::forget(int handle) {
  Imported& memory = imported_[handle];
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

// The flush after the put ends when the data is visible at its owner.
void UcxWire::put(int handle, uint64_t offset, const void* from, size_t bytes, uint64_t ticket) {
  Imported& memory = imported_[handle];
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
  Imported& memory = imported_[handle];
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

}  // namespace hiroba
