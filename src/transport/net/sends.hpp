// Two-sided messages: eager ones in one frame, which may be larger than batched frames; data by rendezvous as bulk
// data, with its number as tag.
//
// Owner: Net. Any thread may call.
#pragma once

#include "transport/two_sided.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class Sends final : public TwoSided {
 public:
  void start(Channel* channel) { channel_ = channel; }

  size_t eager_limit() const override { return channel_->wire().largest_frame - sizeof(Head); }
  void send(int rank, int handler, std::span<const char> head, std::span<const char> data) override;
  std::optional<uint32_t> start_send(int rank, const void* from, size_t bytes, Completion& sent) override;
  void start_receive(int rank, uint32_t number, void* to, size_t bytes, Completion& received) override;

 private:
  Channel* channel_ = nullptr;
};

}  // namespace hiroba
