// The wire over UCX: frames are active messages, bulk data tagged messages, one-sided access is UCX's own. Processes
// find each other by the launcher's board (one machine) or by PMIx. Three files: start and messages (ucx.cpp),
// one-sided access (remote.cpp), the end (leave.cpp).
//
// The engine's lock serializes all calls, so one worker without locks is enough. UCX reports completions only in polls;
// operations that end at once, inside a call, wait in `finished_` for the next poll.
//
// Each message says who has sent it, with a key (strangers.hpp) that only the job's processes can make; messages
// without are dropped and counted.
//
// A lost connection is a failure unless this process is closing: in close() no process closes a connection before all
// have reached it. So a connection that breaks earlier means that its process has died.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/ucx/context.hpp"
#include "transport/ucx/pmix.hpp"
#include "transport/wire/strangers.hpp"
#include "transport/wire/wire.hpp"

namespace hiroba {

// A pool of objects in flight, whose addresses UCX holds.
template <typename T>
class Pool {
 public:
  T* take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique_for_overwrite<T>());
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
  void close(bool silent) override;

  bool send(int to, const void* frame, size_t size) override;
  size_t get_piece(size_t bytes, bool deferred) const override {
    return tcp_get_piece(bytes, deferred, !ucx_.has_rdma());  // RNDV_THRESH exceeds small pieces
  }
  void send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) override;
  void recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) override;
  bool poll() override;
  int event() const override { return event_; }
  bool arm() override;

  // Offers only access without the owner's help; over other networks UCX would send messages, as we do.
  Remote remote() const override { return {.memory = remote_memory_}; }
  Status expose(void* memory, size_t bytes, std::vector<char>& key) override;
  void conceal(void* memory) override;
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
    Keys::Sender header;
    size_t size;  // used for frames to this process only
    char bytes[most_in_frame];
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
    ucp_rkey_h rkey = nullptr;  // unpacked at the first use
  };
  enum Message : unsigned { frame_message, leave_message };
  static constexpr size_t most_in_flight = 1024;
  static constexpr double leave_seconds = 60;  // for all others to reach close()

  Status start_worker();
  Status exchange_addresses();
  ucp_ep_h endpoint(int peer);
  ucs_status_ptr_t send_copy(ucp_ep_h endpoint, int to, const void* bytes, size_t size);
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
  // UCX probes silent peers. Shared memory needs it, else UCX would never report a dead peer; a network reports by
  // itself, and would lose its fastest protocols for bulk data.
  bool watching_ = false;
  ucp_worker_h worker_ = nullptr;
  std::vector<char> addresses_;
  size_t address_size_ = 0;
  std::vector<Peer> peers_;

  Pool<Frame> frames_;
  Pool<Transfer> transfers_;
  // Events that wait for poll() to call hooks: UCX would deliver frames to this process from within send(). poll()
  // works on the second of each pair.
  std::vector<Frame*> to_self_, arriving_;
  std::vector<uint64_t> finished_, reporting_;  // tickets
  bool armed_ = false;

  std::map<void*, ucp_mem_h> exposed_;
  std::vector<Imported> imported_;

  Keys keys_;
  std::string failure_;
  bool reported_ = false;
  bool closing_ = false, someone_left_ = false;
  std::array<Keys::Sender, 32> rounds_ = {};  // leave messages being sent
  uint32_t leave_rounds_ = 0;                 // one bit for each round of which a message has arrived
};

}  // namespace hiroba
