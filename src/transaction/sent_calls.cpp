#include "transaction/sent_calls.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <mutex>

#include "base/thread.hpp"
#include "transaction/process_part.hpp"

namespace hiroba {

namespace {

char* program_begin() {
  static char* const begin = [] {
    Dl_info info;
    const auto entry = reinterpret_cast<void*>(getauxval(AT_ENTRY));  // NOLINT(performance-no-int-to-ptr)
    return dladdr(entry, &info) == 0 ? nullptr : static_cast<char*>(info.dli_fbase);
  }();
  return begin;
}

uint64_t code_at(const char* function) {
  uint64_t code = 0;
  std::memcpy(&code, function, sizeof code);
  return code;
}

bool is_of_program(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fbase == program_begin();
}

}  // namespace

void SentCalls::listen(Transport& transport) { handler_ = add_handler<&SentCalls::receive>(transport, this); }

void SentCalls::stop() {
  if (has_thread_) {
    ends_ = true;
    ++arrived_;
    futex_wake_all(arrived_);
    pthread_join(thread_, nullptr);
    has_thread_ = false, ends_ = false;
  }
  memory_ = nullptr;
}

Status SentCalls::find(void (*function)(void* argument), Function& out) {
  char* const at = reinterpret_cast<char*>(function);
  if (at == nullptr || !is_of_program(at))
    return Status::error(
        "the function is not one of the program itself: those of shared libraries are elsewhere on "
        "other ranks; write a function of the program that calls it");
  out = {static_cast<uint64_t>(at - program_begin()), code_at(at)};
  return {};
}

Status SentCalls::call(int rank, const Function& function, void* argument, size_t bytes, int& value) {
  Pending pending{.argument = argument};
  Message message;
  message.kind = Kind::request, message.value = 0, message.pending = &pending, message.function = function;
  message.bytes = bytes;
  std::memcpy(message.argument, argument, bytes);
  process_.far_homes().count_message();
  // The program's own stores come first, as before a transaction of its own.
  memory_->transport().send_after_puts(rank, handler_, &message, message.size());
  ++waiting_;
  const auto answered = [&] { return pending.state.load(std::memory_order_acquire) != Kind::request; };
  Status waited = process_.await([&] { return answered() || (serve_one() && answered()); },
                                 [&] { return "the answer of rank " + std::to_string(rank) + " to hiroba_atomic_on"; });
  --waiting_;
  wake();  // calls that have arrived since serve_one() found none
  if (!waited.ok()) return waited;
  if (pending.state == Kind::unknown_function)
    return Status::error("rank %d runs another program, which has not this function", rank);
  value = pending.value;
  return {};
}

// The handler may run in any thread, also in one that is in a transaction, so a thread of its own runs the function.
void SentCalls::receive(int source, const void* payload, size_t bytes) {
  Request request;
  request.source = source;
  std::memcpy(&request.message, payload, bytes);
  Message& message = request.message;
  if (message.kind != Kind::request) {
    std::memcpy(message.pending->argument, message.argument, message.bytes);
    message.pending->value = message.value;
    message.pending->state.store(message.kind, std::memory_order_release);
    return;
  }
  {
    const std::lock_guard guard(lock_);
    requests_.push_back(request);
  }
  if (waiting_ == 0) wake();  // else such a thread looks here, or wakes the other one
}

void SentCalls::wake() {
  const std::lock_guard guard(lock_);
  if (requests_.empty()) return;
  if (!has_thread_) {
    const auto run = [](void* self) -> void* { return static_cast<SentCalls*>(self)->work(), nullptr; };
    process_.require(start_thread(thread_, "hiroba-calls", run, this));
    has_thread_ = true;
  }
  ++arrived_;
  futex_wake_one(arrived_);
}

bool SentCalls::take(Request& out) {
  const std::lock_guard guard(lock_);
  if (requests_.empty()) return false;
  out = requests_.front();
  requests_.erase(requests_.begin());
  return true;
}

void SentCalls::work() {
  while (!ends_) {
    const uint32_t seen = arrived_;
    if (!serve_one()) futex_wait(arrived_, seen, 1);
  }
}

bool SentCalls::serve_one() {
  Request request;
  if (!take(request)) return false;
  serve(request);
  return true;
}

void SentCalls::serve(Request& request) const {
  Message& message = request.message;
  char* const function = program_begin() + message.function.offset;
  const bool known = is_of_program(function) && code_at(function) == message.function.code;
  message.kind = known ? Kind::answer : Kind::unknown_function;
  if (known) message.value = run_(reinterpret_cast<void (*)(void*)>(function), message.argument, message.bytes);
  memory_->transport().send(request.source, handler_, &message, message.size());
  memory_->transport().linger();  // the thread that polls may be asleep, and the next request may be on its way
}

}  // namespace hiroba
