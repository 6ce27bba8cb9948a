// The C entry points of transaction.h: they translate arguments for the floor of transactions, and end the job on its
// errors. Before sms_startup and after sms_shutdown memory comes from malloc.
#include "transaction.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/effects.hpp"
#include "base/log.hpp"
#include "process/process.hpp"
#include "transaction/transaction.hpp"

#define TX_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

namespace {

// Returns true for code of the program, not of its libraries.
bool is_of_program(const void* code) {
  const auto first = [](dl_phdr_info* program, size_t, void* context) {
    const auto address = *static_cast<const uint64_t*>(context);
    for (int i = 0; i < program->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = program->dlpi_phdr[i];
      if (part.p_type == PT_LOAD && address - (program->dlpi_addr + part.p_vaddr) < part.p_memsz) return 1;
    }
    return -1;
  };
  auto address = reinterpret_cast<uint64_t>(code);
  return dl_iterate_phdr(first, &address) == 1;
}
bool is_of_streams(const void* code) {
  Dl_info info;
  return dladdr(code, &info) != 0 && std::strstr(info.dli_fname, "libstdc++") != nullptr;
}

// Attempts get copies of the argument, so that one that is undone leaves it as it was.
struct Sent {
  void (*function)(void* argument);
  const void* argument;
  size_t bytes;
  alignas(16) char copy[SentCalls::most_bytes];
};
int run_sent(void (*function)(void* argument), void* argument, size_t bytes) {
  Sent sent = {function, argument, bytes, {}};
  const auto block = [](void* data) {
    Sent& own = *static_cast<Sent*>(data);
    std::memcpy(own.copy, own.argument, own.bytes);
    own.function(own.copy);
  };
  if (hiroba_tx_run(block, &sent, "hiroba_atomic_on") == 0) return hiroba_tx_value();
  std::memcpy(argument, sent.copy, bytes);
  return 0;
}

class TransactionModel final : public Model {
 public:
  Transactions transactions;

  TransactionModel() {
    effect_check = refuse_effect;
    transactions.process().sent_calls().set_run(run_sent);
    transactions.process().set_fail([](const Status& status) { end_job(1, "%s", status.message().c_str()); });
  }
  Status listen(Transport& transport, const Job&) override { return transactions.listen(transport), Status(); }
  Status start(Memory& memory, const Options& options) override { return transactions.start(memory, options); }
  Status end_work(const char* call) override { return require_outside_work(call), Status(); }
  Status finish() override { return end_work("the end of the job"); }
  void ended() override { (void)transactions.stop(); }
  void require_outside_work(const char* call) const override {
    const Transaction* const running = Transaction::running();
    if (running != nullptr && !running->irrevocable()) refuse(*running, call);
  }
  void require_all_ranks(const char* call) const override { require_outside_work(call); }
  void require_lockable(const char* call) const override { require_outside_work(call); }
  // Libraries that this one uses do input and output, too: those that the program has not called are none of it. C++
  // streams call the first three.
  static void refuse_effect(const char* call, const void* caller) {
    const Transaction* const running = Transaction::running();
    if (running == nullptr || running->irrevocable() || running->block().calls_checked) return;
    const std::string_view name = call;
    const bool of_stream = name == "fwrite" || name == "putc" || name == "fputc";
    if (is_of_program(caller) || (of_stream && is_of_streams(caller))) refuse(*running, call);
  }

  [[noreturn]] static void refuse(const Transaction& in, const char* call) {
    end_job(1,
            "%s: %s in the transaction that begins here, which may run again or be undone; call it outside, or call "
            "hiroba_tx_irrevocable before",
            in.block().place, call);
  }
};

// This thread's object; it ends with the thread. Code that runs at the thread's end, in a destructor of thread-local
// data, may use transactions after that: it gets another one, which ends in the next round of such destructors.
constinit thread_local Transaction* known __attribute__((tls_model("initial-exec"))) = nullptr;

[[gnu::noinline]] Transaction& make_mine() {
  const static pthread_key_t at_end = [] {
    pthread_key_t key = 0;
    const auto end = [](void* of) { delete std::exchange(known, nullptr), (void)of; };
    if (pthread_key_create(&key, end) != 0) end_job(1, "no more keys of thread-local data (pthread_key_create)");
    return key;
  }();
  known = new Transaction(used_instance<TransactionModel>().transactions.process());
  pthread_setspecific(at_end, known);
  return *known;
}
Transaction& mine() { return known == nullptr ? make_mine() : *known; }

Transaction& in_transaction(const char* call) {
  Transaction* const running = Transaction::running();
  if (running == nullptr)
    end_job(1, "%s outside of a transaction; call it in HIROBA_ATOMIC or hiroba::atomically", call);
  return *running;
}

constinit thread_local int latest_value __attribute__((tls_model("initial-exec"))) = 0;

// A load or store outside of a transaction is one of its own. It has no block to run again, so it does so itself.
struct Single {
  jmp_buf jump;
};
[[noreturn]] void run_single_again(void* single) { _longjmp(static_cast<Single*>(single)->jump, 1); }

template <typename Function>
[[gnu::noinline]] auto alone(const char* call, const Function& function) {
  Single single;
  (void)_setjmp(single.jump);
  Transaction& transaction = mine();
  transaction.begin({run_single_again, &single, call}, false);
  if constexpr (std::is_void_v<decltype(function(transaction))>) {
    function(transaction);
    transaction.commit();
  } else {
    const auto result = function(transaction);
    transaction.commit();
    return result;
  }
}

template <typename T>
[[gnu::noinline]] T load_alone(const T* at, const char* call) {
  return alone(call, [at](Transaction& transaction) { return transaction.load(at); });
}

template <typename T>
[[gnu::noinline]] void store_alone(T* at, T value, const char* call) {
  alone(call, [at, value](Transaction& transaction) { transaction.store(at, value); });
}

template <typename T>
T load(const T* at, const char* call) {
  const auto* const bits = reinterpret_cast<const WordOf<T>*>(at);
  if (Transaction* const running = Transaction::running(); running != nullptr) [[likely]]
    return std::bit_cast<T>(running->load(bits));
  return std::bit_cast<T>(load_alone(bits, call));
}

template <typename T>
void store(T* at, T value, const char* call) {
  auto* const bits = reinterpret_cast<WordOf<T>*>(at);
  if (Transaction* const running = Transaction::running(); running != nullptr) [[likely]]
    return running->store(bits, std::bit_cast<WordOf<T>>(value));
  store_alone(bits, std::bit_cast<WordOf<T>>(value), call);
}

[[noreturn]] void run_again(void* frame) {
  auto* const of = static_cast<hiroba_tx_frame*>(frame);
  of->restart(of);
  __builtin_unreachable();
}

void require_retry(const Transaction& transaction) {
  const char* const place = transaction.block().place;
  if (transaction.irrevocable()) end_job(1, "%s: retry in a transaction that is irrevocable", place);
  if (!transaction.snapshot().has_read())
    end_job(1, "%s: retry in a transaction that has read nothing would wait for ever; read what it waits for", place);
}

hiroba_tx_frame& frame_of(const Transaction& transaction) {
  return *static_cast<hiroba_tx_frame*>(transaction.block().context);
}

bool in_heap(const void* object) {
  return process_started() && process_memory("hiroba_tx_free").heap().contains(object);
}

void free_object(void* object) {
  if (Heap::keep(object)) return;
  if (!in_heap(object)) return std::free(object);
  require(process_memory("hiroba_tx_free").heap().free(object, "hiroba_tx_free"));
}

void* allocate(size_t bytes, int home, const char* call) {
  void* out = home == Heap::caller ? Heap::allocate_kept(bytes) : nullptr;
  if (out == nullptr && process_started()) {
    Heap::Request request;
    request.bytes = bytes, request.home = home, request.place = call;
    const Status status = process_memory(call).heap().allocate(request, out);
    if (!status.ok()) end_job(1, "%s(%zu): %s", call, bytes, status.message().c_str());
  } else if (out == nullptr) {
    out = std::malloc(bytes);
    if (out == nullptr) end_job(1, "%s(%zu): no memory", call, bytes);
  }
  if (Transaction::running() != nullptr) Transaction::running()->actions().on_abort({free_object, out});
  return out;
}

}  // namespace

static_assert(sizeof(hiroba_tx_savepoint) == sizeof(Transaction::Savepoint));

Model& transaction_model() { return instance<TransactionModel>(); }

TX_EXPORT int hiroba_tx_begin(hiroba_tx_frame* frame) {
  Transaction* const running = Transaction::running();
  if (running == nullptr) {
    if (frame->open < 0) return frame->open = 0;  // aborted by the program
    mine().begin({run_again, frame, frame->place, frame->calls_checked != 0, __builtin_frame_address(0)}, false);
    return 1;
  }
  if (running->depth() >= HIROBA_TX_MOST_NESTED)
    end_job(1,
            "%s: a transaction in %d others; at most %d (HIROBA_TX_MOST_NESTED): is there a recursion without end, or "
            "does return or break leave a block?",
            frame->place, running->depth(), HIROBA_TX_MOST_NESTED);
  running->begin({}, false);
  return 1;
}

TX_EXPORT void hiroba_tx_commit(hiroba_tx_frame* frame) {
  Transaction& transaction = in_transaction("hiroba_tx_commit");
  frame->open = 0;
  if (!transaction.commit()) return;
  latest_value = 0;
  transaction.actions().run_committed();
}

TX_EXPORT void hiroba_tx_jump(hiroba_tx_frame* frame) { _longjmp(frame->jump, 1); }

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define TX_TYPE(name, type)                                                                          \
  TX_EXPORT type hiroba_tx_load_##name(type const* at) { return load(at, "hiroba_tx_load_" #name); } \
  TX_EXPORT void hiroba_tx_store_##name(type* at, type value) { store(at, value, "hiroba_tx_store_" #name); }
// NOLINTEND(bugprone-macro-parentheses)
HIROBA_TX_TYPES(TX_TYPE)

TX_EXPORT void hiroba_tx_read(void* to, const void* shared, size_t bytes) {
  if (Transaction* const running = Transaction::running(); running != nullptr)
    return read_bytes(*running, to, shared, bytes);
  alone("hiroba_tx_read", [=](Transaction& transaction) { read_bytes(transaction, to, shared, bytes); });
}

TX_EXPORT void hiroba_tx_write(void* shared, const void* from, size_t bytes) {
  if (Transaction* const running = Transaction::running(); running != nullptr)
    return write_bytes(*running, shared, from, bytes);
  alone("hiroba_tx_write", [=](Transaction& transaction) { write_bytes(transaction, shared, from, bytes); });
}

TX_EXPORT void* hiroba_tx_malloc(size_t bytes) { return allocate(bytes, Heap::caller, "hiroba_tx_malloc"); }
TX_EXPORT void* hiroba_tx_malloc_on(size_t bytes, int rank) {
  if (rank < 0) end_job(1, "hiroba_tx_malloc_on(%zu, %d): rank %d does not exist", bytes, rank, rank);
  return allocate(bytes, rank, "hiroba_tx_malloc_on");
}

TX_EXPORT void hiroba_tx_free(void* object) {
  if (object == nullptr) return;
  Transaction* const running = Transaction::running();
  if (running == nullptr) return free_object(object);
  const size_t bytes = instance<TransactionModel>().transactions.process().object_bytes(object);
  running->free_later({free_object, object, bytes, static_cast<char*>(__builtin_return_address(0)) - 1});
}

TX_EXPORT void hiroba_tx_abort(int value) {
  Transaction& transaction = in_transaction("hiroba_tx_abort");
  if (transaction.irrevocable())
    end_job(1, "%s: hiroba_tx_abort in a transaction that is irrevocable", transaction.block().place);
  if (value == 0) end_job(1, "%s: hiroba_tx_abort(0): 0 is the value of a commit", transaction.block().place);
  hiroba_tx_frame& frame = frame_of(transaction);
  transaction.cancel();
  frame.value = latest_value = value, frame.open = -1;
  frame.restart(&frame);
  __builtin_unreachable();
}

TX_EXPORT void hiroba_tx_retry(void) {
  Transaction& transaction = in_transaction("hiroba_tx_retry");
  require_retry(transaction);
  hiroba_tx_frame& frame = frame_of(transaction);
  transaction.await_change();
  frame.restart(&frame);
  __builtin_unreachable();
}

TX_EXPORT void hiroba_tx_restart(void) {
  Transaction& transaction = in_transaction("hiroba_tx_restart");
  if (transaction.irrevocable())
    end_job(1, "%s: a restart of a transaction that is irrevocable", transaction.block().place);
  transaction.restart();
}

TX_EXPORT void hiroba_tx_irrevocable(void) { in_transaction("hiroba_tx_irrevocable").run_alone(); }
TX_EXPORT void hiroba_tx_on_commit(void (*action)(void*), void* argument) {
  in_transaction("hiroba_tx_on_commit").actions().on_commit({action, argument});
}
TX_EXPORT void hiroba_tx_on_abort(void (*action)(void*), void* argument) {
  in_transaction("hiroba_tx_on_abort").actions().on_abort({action, argument});
}

TX_EXPORT int hiroba_tx_value(void) { return latest_value; }
TX_EXPORT int hiroba_tx_depth(void) {
  const Transaction* const running = Transaction::running();
  return running == nullptr ? 0 : running->depth();
}

TX_EXPORT int hiroba_atomic_on(int rank, void (*function)(void* argument), void* argument, size_t bytes) {
  const char* const call = "hiroba_atomic_on";
  auto& model = used_instance<TransactionModel>();
  model.require_outside_work(call);
  if (Transaction::running() != nullptr) end_job(1, "%s in a transaction; call the function itself", call);
  const int ranks = process_started() ? process_memory(call).job().nranks : 1;
  if (rank < 0 || rank >= ranks)
    end_job(1, "%s(%d, ..): rank %d does not exist; ranks are 0 to %d", call, rank, rank, ranks - 1);
  if (bytes > HIROBA_TX_MOST_SENT)
    end_job(1,
            "%s(%d, ..): an argument of %zu bytes; at most %d (HIROBA_TX_MOST_SENT): pass a pointer to shared memory",
            call, rank, bytes, HIROBA_TX_MOST_SENT);
  TransactionProcess& process = model.transactions.process();
  SentCalls::Function found;
  if (const Status status = SentCalls::find(function, found); !status.ok())
    end_job(1, "%s(%d, ..): %s", call, rank, status.message().c_str());
  int value = 0;
  if (process.memory() == nullptr || process.domain(process.memory()->job().node_of(rank)) != nullptr)
    value = run_sent(function, argument, bytes);
  else if (const Status status = process.sent_calls().call(rank, found, argument, bytes, value); !status.ok())
    end_job(1, "%s(%d, ..): %s", call, rank, status.message().c_str());
  latest_value = value;
  return value;
}

TX_EXPORT void hiroba_tx_stats(hiroba_tx_statistics* out) {
  using Counts = hiroba::TransactionCounts;
  Counts sum;
  instance<TransactionModel>().transactions.process().counts().sum(sum);
  sum.add(Counts::messages, instance<TransactionModel>().transactions.process().far_homes().messages());
  *out = {sum[Counts::commits], sum[Counts::read_only],   sum[Counts::aborts],   sum[Counts::retries],
          sum[Counts::alone],   sum[Counts::most_aborts], sum[Counts::messages], {}};
  for (int i = 0; i < 16; ++i) out->histogram[i] = sum[Counts::histogram + i];
}

TX_EXPORT void hiroba_tx_fence(void) {
  const Transaction* const running = Transaction::running();
  if (running != nullptr && !running->irrevocable()) TransactionModel::refuse(*running, "hiroba_tx_fence");
  if (running == nullptr) require(instance<TransactionModel>().transactions.process().others().await_all());
  if (process_started()) process_memory("hiroba_tx_fence").past_cache().synchronise();
}

// ---- for transaction.hpp -------------------------------------------------------------------------------------------

TX_EXPORT void hiroba_tx_save(hiroba_tx_savepoint* out) {
  *out = std::bit_cast<hiroba_tx_savepoint>(in_transaction("hiroba::nested").save());
}
TX_EXPORT void hiroba_tx_undo(const hiroba_tx_savepoint* to) {
  in_transaction("hiroba::nested").undo(std::bit_cast<Transaction::Savepoint>(*to));
}
TX_EXPORT void hiroba_tx_release(const hiroba_tx_savepoint*) { in_transaction("hiroba::nested").release(); }

TX_EXPORT void hiroba_tx_cancel(hiroba_tx_frame* frame) {
  Transaction& transaction = in_transaction("hiroba::atomically");
  if (transaction.irrevocable())
    end_job(1, "%s: an exception undoes a transaction that is irrevocable; give hiroba::commit_on_exception",
            frame->place);
  transaction.cancel();
  frame->open = 0;
}

TX_EXPORT void hiroba_tx_await(hiroba_tx_frame* frame) {
  Transaction& transaction = in_transaction("hiroba::retry");
  require_retry(transaction);
  transaction.await_change();
  frame->open = 1;
}

}  // namespace hiroba
