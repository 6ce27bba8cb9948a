// Calls that run on another rank as transactions, near the data that they change: hiroba_atomic_on. README.md, "Calls
// on other ranks".
//
// Owner: TransactionProcess. call() is thread-safe, and blocks until the answer is there. Requests of others run in one
// thread of this rank, which the first of them starts, or in threads that wait for answers themselves.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "base/wait.hpp"
#include "memory/memory.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class TransactionProcess;

class SentCalls {
 public:
  static constexpr size_t most_bytes = 1024;  // of an argument
  // A function of the program: its distance from the program's begin, and its first bytes, by which another program is
  // noticed.
  struct Function {
    uint64_t offset, code;
  };
  // Runs function(argument) as a transaction; returns the value of hiroba_tx_abort, or 0.
  using Run = int (*)(void (*function)(void* argument), void* argument, size_t bytes);

  explicit SentCalls(TransactionProcess& process) : process_(process) {}
  void set_run(Run run) { run_ = run; }
  void listen(Transport& transport);
  void start(Memory& memory) { memory_ = &memory; }
  void stop();

  // Returns an error if the address is none of a function of the program itself.
  static Status find(void (*function)(void* argument), Function& out);
  // Runs the function on a rank; `argument` is copied there and back.
  Status call(int rank, const Function& function, void* argument, size_t bytes, int& value);

 private:
  enum class Kind : uint32_t { request, answer, unknown_function };
  struct Pending {
    void* argument;
    int value = 0;
    std::atomic<Kind> state{Kind::request};
  };
  struct Message {
    Kind kind;
    int value;
    Pending* pending;  // in the caller
    Function function;
    size_t bytes;
    alignas(16) char argument[most_bytes];
    size_t size() const { return offsetof(Message, argument) + bytes; }
  };
  struct Request {
    int source;
    Message message;
  };

  void receive(int source, const void* payload, size_t bytes);
  void work();
  bool serve_one();
  void wake();
  bool take(Request& out);
  void serve(Request& request) const;

  TransactionProcess& process_;
  Memory* memory_ = nullptr;
  Run run_ = nullptr;
  int handler_ = 0;
  SignalSafeLock lock_;  // guards requests_ and thread_
  std::vector<Request> requests_;
  pthread_t thread_{};
  bool has_thread_ = false;
  std::atomic<uint32_t> arrived_{0};  // futex
  std::atomic<int> waiting_{0};       // threads in call()
  std::atomic<bool> ends_{false};
};

}  // namespace hiroba
