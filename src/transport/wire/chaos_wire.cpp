#include "transport/wire/chaos_wire.hpp"

#include <cstring>
#include <random>
#include <utility>

#include "transport/transport.hpp"

namespace hiroba {

namespace {

class ChaosWire final : public Wire {
 public:
  ChaosWire(std::unique_ptr<Wire> inner, uint64_t seed) : inner_(std::move(inner)), random_(seed) {}

  std::string describe() const override { return inner_->describe(); }
  Status open(const Start& start) override {
    hooks_ = start.hooks;
    Start ours = start;
    ours.hooks = {this, on_frame, on_done, on_failed, on_stranger};
    HIROBA_TRY(inner_->open(ours));
    largest_frame = inner_->largest_frame, warning = inner_->warning;
    random_.seed(random_() + static_cast<uint64_t>(inner_->rank()));
    return {};
  }
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  Status allgather(const void* mine, void* all, size_t bytes) override { return inner_->allgather(mine, all, bytes); }
  void close(bool silent) override { inner_->close(silent); }
  size_t make_communicator(int rank, void* out, size_t room) override {
    return inner_->make_communicator(rank, out, room);
  }
  bool send(int to, const void* frame, size_t size) override { return inner_->send(to, frame, size); }
  size_t get_piece(size_t bytes, bool deferred) const override { return inner_->get_piece(bytes, deferred); }
  void send_bulk(int to, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) override {
    inner_->send_bulk(to, tag, data, bytes, ticket);
  }
  void recv_bulk(int from, uint32_t tag, void* data, size_t bytes, uint64_t ticket) override {
    inner_->recv_bulk(from, tag, data, bytes, ticket);
  }
  int event() const override { return inner_->event(); }
  bool arm() override { return held_.empty() && inner_->arm(); }
  Remote remote() const override { return inner_->remote(); }
  Status expose(void* memory, size_t bytes, std::vector<char>& key) override {
    return inner_->expose(memory, bytes, key);
  }
  void conceal(void* memory) override { inner_->conceal(memory); }
  int import(int owner, uint64_t address, const std::vector<char>& key) override {
    return inner_->import(owner, address, key);
  }
  void forget(int handle) override { inner_->forget(handle); }
  void put(int handle, uint64_t offset, const void* from, size_t bytes, uint64_t ticket) override {
    inner_->put(handle, offset, from, bytes, ticket);
  }
  void get(int handle, uint64_t offset, void* to, size_t bytes, uint64_t ticket) override {
    inner_->get(handle, offset, to, bytes, ticket);
  }
  bool has_remote_strided(const Walk& walk) const override { return inner_->has_remote_strided(walk); }
  void put_strided(int handle, uint64_t offset, const void* from, const Walk& walk, uint64_t ticket) override {
    inner_->put_strided(handle, offset, from, walk, ticket);
  }
  void get_strided(int handle, uint64_t offset, void* to, const Walk& walk, uint64_t ticket) override {
    inner_->get_strided(handle, offset, to, walk, ticket);
  }
  void accumulate(int handle, uint64_t offset, const void* from, Number type, size_t count, uint64_t ticket) override {
    inner_->accumulate(handle, offset, from, type, count, ticket);
  }

  // Returns true while frames are held, so that no thread sleeps.
  bool poll() override {
    const bool any = inner_->poll() || !held_.empty();
    for (size_t tries = held_.size(); tries > 0; --tries) {
      const size_t chosen = random_() % held_.size();
      if (random_() % 2 == 0) continue;
      std::swap(held_[chosen], held_.back());
      const Held held = std::move(held_.back());
      held_.pop_back();
      if (held.source < 0) hooks_.done(hooks_.context, held.ticket);
      else hooks_.frame(hooks_.context, held.source, held.frame.data(), held.size);
    }
    return any;
  }

 private:
  struct Held {
    int source;  // of a frame; -1: the end of a transfer
    uint64_t ticket;
    std::vector<uint64_t> frame;  // aligned, as wires deliver them
    size_t size;
  };

  static void on_frame(void* self, int source, const void* bytes, size_t size) {
    Held held = {source, 0, std::vector<uint64_t>((size + 7) / 8), size};
    std::memcpy(held.frame.data(), bytes, size);
    static_cast<ChaosWire*>(self)->held_.push_back(std::move(held));
  }
  static void on_done(void* self, uint64_t ticket) {
    static_cast<ChaosWire*>(self)->held_.push_back({-1, ticket, {}, 0});
  }
  static void on_stranger(void* self) {
    auto& wire = *static_cast<ChaosWire*>(self);
    wire.hooks_.stranger(wire.hooks_.context);
  }
  static void on_failed(void* self, const char* what) {
    const Hooks& hooks = static_cast<ChaosWire*>(self)->hooks_;
    hooks.failed(hooks.context, what);
  }

  std::unique_ptr<Wire> inner_;
  std::mt19937_64 random_;
  Hooks hooks_ = {};
  std::vector<Held> held_;
};

}  // namespace

std::unique_ptr<Wire> make_chaos_wire(std::unique_ptr<Wire> inner, uint64_t seed) {
  return std::make_unique<ChaosWire>(std::move(inner), seed);
}

}  // namespace hiroba
