#include "transport/wire/channel.hpp"

#include <cassert>

namespace hiroba {

namespace {
constexpr size_t most_queued = 4096;  // frames that wait for room before their senders block
}

void Channel::start(Wire* wire, const PairKeys* keys, const std::vector<int>* wire_ranks) {
  wire_ = wire, wire_ranks_ = wire_ranks;
  outbox_.start(wire, keys, wire_ranks);
}

void Channel::push(int rank, const Head& head, const void* payload, size_t bytes) {
  outbox_.gather(rank, head, payload, bytes);
  outbox_.send();
}

void Channel::send(int rank, const Head& head, const void* payload, size_t bytes) {
  engine_.with_wire([&] { push(rank, head, payload, bytes); });
  await_room();
}

void Channel::send(int rank, const Head& head, std::span<const char> payload, std::span<const char> rest) {
  engine_.with_wire([&] { outbox_.send_alone(rank, head, payload, rest); });
  await_room();
}

void Channel::send_later(int rank, const Head& head, const void* payload, size_t bytes) {
  engine_.with_wire([&] { outbox_.gather(rank, head, payload, bytes); });
  await_room();
}

void Channel::send_gathered() {
  engine_.with_wire([this] { outbox_.send(); });
}

// A thread that sends much waits for the network; a thread that answers others must not.
void Channel::await_room() {
  if (outbox_.queued() < most_queued || engine_.inside()) return;
  engine_.wait([this] { return outbox_.queued() < most_queued / 2; });
}

void Channel::await_slot() {
  engine_.wait([this] { return !transfers_.full(); });
}

void Channel::await(Completion& completion) {
  engine_.wait([&] { return completion.left.load(std::memory_order_acquire) == 0; });
}

void Channel::send_bulk_as(int rank, uint32_t tag, const void* data, size_t bytes, uint64_t ticket) {
  outbox_.count(bytes);
  wire_->send_bulk(wire_rank(rank), tag, data, bytes, ticket);
}

void Channel::receive_bulk(int rank, uint32_t tag, void* into, size_t bytes, uint64_t ticket) {
  wire_->recv_bulk(wire_rank(rank), tag, into, bytes, ticket);
}

void Channel::send_bulk(int rank, Head head, const void* data, size_t bytes, Completion& sent) {
  assert(bytes <= Wire::max_bulk);
  sent.left.fetch_add(1, std::memory_order_relaxed);
  await_slot();
  engine_.with_wire([&] {
    head.tag = next_tag(false);
    head.bytes = static_cast<uint32_t>(bytes);
    outbox_.gather(rank, head, nullptr, 0);
    if (!transfers_.moving()) outbox_.send();  // else the next poll sends it, which the moving data causes
    send_bulk_as(rank, head.tag, data, bytes, transfers_.add(sent));
  });
}

void Channel::request_bulk(int rank, Head head, const void* payload, size_t payload_bytes, void* into, size_t bytes,
                           Completion& completion, bool deferred) {
  completion.left.fetch_add(1, std::memory_order_relaxed);
  await_slot();
  engine_.with_wire([&] {
    if (deferred) transfers_.defer();
    head.tag = next_tag(true);
    receive_bulk(rank, head.tag, into, bytes, transfers_.add(completion));
    outbox_.gather(rank, head, payload, payload_bytes);
    if (!deferred) outbox_.send();
  });
  await_room();
}

uint64_t Channel::ask(int rank, Head head) {
  Answer answer;
  head.completion = reinterpret_cast<uint64_t>(&answer);
  send(rank, head, nullptr, 0);
  engine_.wait([&] { return answer.here.load(std::memory_order_acquire) != 0; });
  return answer.value;
}

void Channel::answer(int source, const Head& asked, uint64_t value) {
  Head reply = head_of(Frame::result);
  reply.completion = asked.completion;
  reply.operand = value;
  push(source, reply, nullptr, 0);
}

void Channel::take_answer(const Head& head, uint64_t value) {
  auto& answer = *reinterpret_cast<Answer*>(head.completion);
  answer.value = value;
  answer.here.store(1, std::memory_order_release);
}

}  // namespace hiroba
