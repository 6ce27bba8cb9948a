#include "coarray/parts.hpp"

#include <atomic>

namespace hiroba {

Status CoarrayParts::locate(const CoarraySection& section, RemoteAddress& out) const {
  out.rank = section.rank;
  if (section.coarray == nullptr) {
    out.rank = world->rank;
    out.here = section.section.address;
    return {};
  }
  const Coarray& c = *section.coarray;
  if (memory->times().shown && section.rank != world->rank) {
    std::atomic_ref(c.accesses).fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(c.accessed).fetch_add(section.section.total(), std::memory_order_relaxed);
  }
  const auto [low, high] = section.section.bounds();
  const int64_t at = section.section.address - c.data, bytes = static_cast<int64_t>(c.bytes);
  if (at < -bytes || at > 2 * bytes)
    return Status::error(
        "the address of a section of %s lies in another array: give one in this image's part of the same coarray",
        c.name.c_str());
  if (at + low < 0 || at + high > bytes || at > bytes) {
    const auto size = static_cast<int64_t>(c.element);
    return Status::error(
        "%s%s of %s is out of bounds: it reaches from element %ld to element %ld, and an image has elements 0 to %ld",
        section.section.dims == 0 ? "" : "a section ", section.section.shape().c_str(), c.name.c_str(),
        (at + low - (at + low < 0 ? size - 1 : 0)) / size, (at + high - 1) / size, bytes / size - 1);
  }
  out.offset = c.offset + static_cast<uint64_t>(section.rank) * c.stride + static_cast<uint64_t>(at);
  out.here = world->near(section.rank) ? world->base + out.offset : nullptr;
  return {};
}

// Atomics order nothing by themselves, but programs may build an order with them, so they count as synchronisations.
void CoarrayParts::pass_clock(const RemoteAddress& word, bool release, bool acquire) {
  Transport& transport = *world->transport;
  const uint64_t at = control.clock(word.rank, word.offset);
  while (transport.words().compare_swap32(word.rank, at, 0, 1) != 0) transport.progress();
  Checker::Stamp there(static_cast<size_t>(world->nranks) + 1);
  transport.get(there.data(), word.rank, at + sizeof(uint32_t), there.size() * sizeof there[0]);
  if (acquire) checker.acquire(there);
  if (release) {
    Checker::Stamp stamp = checker.release();
    Checker::join(stamp, there);
    transport.put(word.rank, at + sizeof(uint32_t), stamp.data(), stamp.size() * sizeof stamp[0]);
    transport.fence();
  }
  transport.words().compare_swap32(word.rank, at, 1, 0);
}

}  // namespace hiroba
