#include "transport/net/one_sided.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/net/net_transport.hpp"
#include "transport/net/node_memory.hpp"
#include "transport/net/plugin.hpp"
#include "transport/strided.hpp"

namespace hiroba {

namespace {

size_t size_of(Number type) { return type == Number::int32 || type == Number::float32 ? 4 : 8; }

std::vector<Capability> with_layer(std::vector<Capability> rows, bool one_sided, bool accumulates) {
  for (Capability& row : rows) {
    if (std::strcmp(row.name, "one-sided operations") == 0) row.native = one_sided;
    if (std::strcmp(row.name, "accumulate") == 0) row.native = accumulates;
  }
  return rows;
}

class OneSided final : public Wrapper {
 public:
  OneSided(std::unique_ptr<Net> net, NodeMemory& memory) : Wrapper(std::move(net)), memory_(memory) {}

  std::vector<Capability> capabilities() const override {
    return with_layer(inner().capabilities(), true, memory_.accumulates());
  }

  Status start(const Config& config) override {
    HIROBA_TRY(Wrapper::start(config));
    Status status;
    net().with_wire([&] { status = memory_.cover(net().window(), config.extent); });
    return status;
  }

  void put(int rank, uint64_t to, const void* from, size_t bytes) override {
    if (near(rank)) return Wrapper::put(rank, to, from, bytes);
    const char* at = static_cast<const char*>(from);
    in_pieces(bytes,
              [&](size_t done, size_t part) { memory_.write(net().wire_rank(rank), to + done, at + done, part); });
  }
  void start_put(int rank, uint64_t to, const void* from, size_t bytes, Completion&) override {
    put(rank, to, from, bytes);
  }
  void get(void* to, int rank, uint64_t from, size_t bytes) override {
    if (near(rank)) return Wrapper::get(to, rank, from, bytes);
    char* const at = static_cast<char*>(to);
    in_pieces(bytes,
              [&](size_t done, size_t part) { memory_.read(at + done, net().wire_rank(rank), from + done, part); });
  }
  void start_get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Note* note) override {
    if (note != nullptr || near(rank)) Wrapper::start_get(to, rank, from, bytes, completion, note);
    else get(to, rank, from, bytes);
  }

  void put_strided(int rank, uint64_t to, const void* from, const Strided& box) override {
    if (near(rank)) return Wrapper::put_strided(rank, to, from, box);
    for_each_part(box, NodeMemory::max_bytes, [&](const Strided& part, ptrdiff_t local, ptrdiff_t remote) {
      const uint64_t there = to + static_cast<uint64_t>(remote);
      const char* const here = static_cast<const char*>(from) + local;
      if (bytes_of(part) > NodeMemory::max_bytes) return put(rank, there, here, part.block_bytes);  // a single block
      operate(bytes_of(part), [&] { memory_.write_strided(net().wire_rank(rank), there, here, part); });
    });
  }
  void get_strided(void* to, int rank, uint64_t from, const Strided& box) override {
    if (near(rank)) return Wrapper::get_strided(to, rank, from, box);
    for_each_part(box, NodeMemory::max_bytes, [&](const Strided& part, ptrdiff_t local, ptrdiff_t remote) {
      const uint64_t there = from + static_cast<uint64_t>(remote);
      char* const here = static_cast<char*>(to) + local;
      if (bytes_of(part) > NodeMemory::max_bytes) return get(here, rank, there, part.block_bytes);
      operate(bytes_of(part), [&] { memory_.read_strided(here, net().wire_rank(rank), there, part); });
    });
  }

  // By the library also where this process could reach the memory: additions of two kinds would lose each other.
  bool accumulate(int rank, uint64_t to, const void* from, Number type, size_t count) override {
    if (!memory_.accumulates()) return false;
    const char* at = static_cast<const char*>(from);
    const size_t size = size_of(type);
    in_pieces(count * size, [&](size_t done, size_t part) {
      memory_.accumulate(net().wire_rank(rank), to + done, at + done, type, part / size);
    });
    return true;
  }

  void fence() override {
    complete();
    Wrapper::fence();
  }
  // A get by messages waits at its home for what was put before the exchange; the library's gets do not, so everything
  // has to be there before.
  Status exchange(uint64_t tag, uint64_t word, std::span<uint64_t> words) override {
    fence();
    return Wrapper::exchange(tag, word, words);
  }

  Traffic traffic() const override {
    const Traffic messages = inner().traffic();
    return {messages.messages + operations_.load(), messages.bytes + bytes_.load()};
  }

 private:
  Net& net() const { return static_cast<Net&>(inner()); }
  bool near(int rank) const { return inner().reach(rank, 0) != nullptr; }

  template <typename Work>
  void operate(size_t bytes, const Work& work) {
    net().with_wire([&] {
      work();
      incomplete_.store(true, std::memory_order_relaxed);
    });
    operations_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  // The wire is free for others in between.
  template <typename Work>
  void in_pieces(size_t bytes, const Work& work) {
    for (size_t done = 0; done < bytes;) {
      const size_t part = std::min(bytes - done, NodeMemory::max_bytes);
      operate(part, [&] { work(done, part); });
      done += part;
    }
  }
  // Changed with the wire only; a thread that finds it false has nothing of its own to wait for.
  void complete() {
    if (!incomplete_.load(std::memory_order_acquire)) return;
    net().with_wire([this] {
      memory_.complete();
      incomplete_.store(false, std::memory_order_release);
    });
  }

  NodeMemory& memory_;
  std::atomic<bool> incomplete_{false};  // there may be puts that have not been waited for
  std::atomic<uint64_t> operations_{0}, bytes_{0};
};

}  // namespace

std::unique_ptr<Transport> with_one_sided(std::unique_ptr<Net> net) {
  NodeMemory* const memory = net->wire().node_memory();
  if (memory == nullptr) return net;
  return std::make_unique<OneSided>(std::move(net), *memory);
}

std::vector<Capability> capabilities_over(const char* transport) {
  bool one_sided = false, accumulates = false;
  for (const WireEntry& wire : known_wires()) {
    if (std::strcmp(wire.transport, transport) != 0) continue;
    one_sided = one_sided || wire.node_memory;
    accumulates = accumulates || wire.accumulates;
  }
  return with_layer(net_capabilities(), one_sided, accumulates);
}

}  // namespace hiroba
