// One-sided puts and gets of bulk data, over wires that need no help of the owner for them. What an exchange promises
// is kept by fencing before it (count_puts).
#include "base/log.hpp"
#include "transport/net/net_transport.hpp"

namespace hiroba {

// A small piece in a frame is one message, too.
bool Net::put_remote(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent) {
  if (bytes <= max_inline || !remote_.usable()) return false;
  const RemoteMemory::Place place = remote_place(rank, to, bytes);
  if (place.handle < 0) return false;
  sent.left.fetch_add(1, std::memory_order_relaxed);
  remote_puts_.fetch_add(1, std::memory_order_relaxed);
  await_slot();
  engine_.with_wire([&] {
    count(bytes);
    joined_.wire->put(place.handle, place.offset, from, bytes, ticket(Transfer::remote_put, &sent));
  });
  return true;
}

bool Net::get_remote(void* to, int rank, uint64_t from, size_t bytes, Completion& completion) {
  if (bytes <= max_inline || !remote_.usable()) return false;
  const RemoteMemory::Place place = remote_place(rank, from, bytes);
  if (place.handle < 0) return false;
  completion.left.fetch_add(1, std::memory_order_relaxed);
  await_slot();
  engine_.with_wire(
      [&] { joined_.wire->get(place.handle, place.offset, to, bytes, ticket(Transfer::completion, &completion)); });
  return true;
}

// Asks the owner the first time. A handle of -1: the piece is not within one range.
RemoteMemory::Place Net::remote_place(int rank, uint64_t offset, size_t bytes) {
  RemoteMemory::Place place = {-1, 0}, any;
  bool known = false;
  const auto look = [&] {
    known = remote_.find(offset, 1, any);
    if (!remote_.find(offset, bytes, place)) place.handle = -1;
  };
  engine_.with_wire(look);
  if (known) return place;
  Answer answer;
  Head h = head(Frame::ask_key);
  h.offset = offset;
  h.completion = reinterpret_cast<uint64_t>(&answer);
  send_frame(rank, h, nullptr, 0);
  engine_.wait([&] { return answer.here.load(std::memory_order_acquire) != 0; });
  engine_.with_wire(look);
  return place;
}

void Net::await_remote_puts() {
  engine_.wait([this] { return remote_puts_.load(std::memory_order_acquire) == 0; });
}

// Not in the hook that has brought the question: there the network library is in the middle of something.
bool Net::answer_keys() {
  if (askers_.empty()) return false;
  std::vector<Asker> askers;
  std::swap(askers, askers_);
  for (const Asker& asker : askers) {
    std::vector<char> told;
    const Status status = remote_.tell(asker.offset, told);
    if (!status.ok()) end_job(1, "%s", status.message().c_str());
    Head h = head(Frame::key);
    h.completion = asker.completion;
    push(asker.source, h, told.data(), told.size());
  }
  return true;
}

}  // namespace hiroba
