// libhiroba_tm: the library that GCC calls for __transaction_atomic and its kin (-fgnu-tm), on top of transaction.h. It
// takes the place of libitm. Nested blocks that may be cancelled are closed: a cancel undoes them alone. A transaction
// that GCC cannot instrument runs alone, and accesses memory directly.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/log.hpp"
#include "notation/itm/state.hpp"
#include "sms.h"

#define ITM_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba::itm {

__thread State state __attribute__((tls_model("initial-exec")));

namespace {

[[noreturn]] void die(const char* what) { end_job(1, "a transaction of GCC (libhiroba_tm): %s", what); }

// The block runs in the way that its code has: directly if it must run alone.
uint32_t way_of(uint32_t properties) {
  if (state.direct && (properties & uninstrumented) != 0) return run_uninstrumented;
  if ((properties & instrumented) == 0 && !state.direct) die("a block without instrumented code in a transaction");
  return (properties & instrumented) != 0 ? run_instrumented : run_uninstrumented;
}

// Runs alone from here on, which may run the block again first.
void go_alone() {
  hiroba_tx_irrevocable();
  state.set_direct(true);
  if (sms_nnodes > 1) hiroba_tx_fence();
}

void restart(hiroba_tx_frame* frame) {
  forget_exceptions(0);
  state.depth = 1;
  const Nested& first = state.blocks[0];
  hiroba_tx_begin(frame);
  if ((first.properties & instrumented) == 0 || state.direct) go_alone();
  hiroba_itm_return(&first.registers, way_of(first.properties) | restore_live);
}

// Each access uses `state`, so that has the kind of memory for threads that costs nothing; there is little of it.
Nested* blocks_of_thread() {
  static __thread Nested blocks[State::most_blocks];
  return blocks;
}

Nested& add_block(uint32_t properties, const Registers& registers) {
  if (state.blocks == nullptr) state.blocks = blocks_of_thread();
  if (state.depth == State::most_blocks) die("more than 64 nested transactions");
  Nested& block = state.blocks[state.depth++];
  block = {registers, properties, false, state.exceptions.caught, {}};
  return block;
}

}  // namespace

}  // namespace hiroba::itm

using namespace hiroba::itm;

uint32_t hiroba_itm_begin(uint32_t properties, const Registers* registers) {
  Nested& block = add_block(properties, *registers);
  if (state.depth > 1) {
    hiroba_tx_begin(&state.frame);
    block.saved = (properties & has_no_abort) == 0;
    if (block.saved) hiroba_tx_save(&block.savepoint);
    return way_of(properties) | save_live;
  }
  state.frame.restart = restart, state.frame.place = "__transaction_atomic", state.frame.open = 1;
  state.frame.calls_checked = 1, state.exceptions = {};
  state.set_direct(false);
  state.stack = registers->sp, ++state.number;
  hiroba_tx_begin(&state.frame);
  state.transaction = hiroba::transaction_of_this_thread();
  if ((properties & instrumented) == 0 || (properties & goes_irrevocable) != 0) go_alone();
  return way_of(properties) | save_live;
}

ITM_EXPORT void _ITM_commitTransaction() {
  const Nested& block = state.blocks[state.depth - 1];
  if (block.saved) hiroba_tx_release(&block.savepoint);
  if (state.depth == 1 && state.direct && sms_nnodes > 1) hiroba_tx_fence();
  hiroba_tx_commit(&state.frame);
  if (--state.depth == 0) state.set_direct(false);
}

ITM_EXPORT void _ITM_commitTransactionEH(void*) { _ITM_commitTransaction(); }

// __transaction_cancel.
ITM_EXPORT void _ITM_abortTransaction(uint32_t reason) {
  if (state.depth == 0 || state.direct) die("__transaction_cancel in a transaction that is irrevocable");
  if (state.depth == 1 || (reason & outer_abort) != 0) {
    hiroba_tx_cancel(&state.frame);
    state.depth = 0;
    forget_exceptions(0);
    hiroba_itm_return(&state.blocks[0].registers, run_after_abort | restore_live);
  }
  const Nested& block = state.blocks[--state.depth];
  if (!block.saved) die("__transaction_cancel in a block that GCC has declared to have none");
  hiroba_tx_undo(&block.savepoint);
  forget_exceptions(block.caught);
  hiroba_tx_commit(&state.frame);  // of the nested block: its depth
  hiroba_itm_return(&block.registers, run_after_abort | restore_live);
}

// The code that follows accesses memory directly.
ITM_EXPORT void _ITM_changeTransactionMode(int /*irrevocable*/) {
  if (state.direct) return;
  state.set_direct(true);
  hiroba_tx_irrevocable();  // runs the block again, which then runs alone
}

// ---- loads and stores ----------------------------------------------------------------------------------------------

namespace {

template <typename T>
bool is_aligned(const T* at) {
  return reinterpret_cast<uintptr_t>(at) % sizeof(T) == 0;
}

// By one word where the type is one, and the address a multiple of it.
template <typename T>
T load(const T* at) {
  if (is_direct(state, at)) return *at;
  if constexpr (sizeof(T) == sizeof(hiroba::WordOf<T>))
    if (is_aligned(at))
      return __builtin_bit_cast(T, state.transaction->load(reinterpret_cast<const hiroba::WordOf<T>*>(at)));
  T value;
  hiroba_tx_read(&value, at, sizeof value);
  return value;
}

template <typename T>
void store(T* at, T value) {
  if (is_direct(state, at)) return void(*at = value);
  if constexpr (sizeof(T) == sizeof(hiroba::WordOf<T>))
    if (is_aligned(at))
      return state.transaction->store(reinterpret_cast<hiroba::WordOf<T>*>(at),
                                      __builtin_bit_cast(hiroba::WordOf<T>, value));
  hiroba_tx_write(at, &value, sizeof value);
}

void copy(void* to, bool to_shared, const void* from, bool from_shared, size_t bytes) {
  const bool reads = from_shared && !is_direct(state, from), writes = to_shared && !is_direct(state, to);
  if (!reads && !writes) return void(std::memmove(to, from, bytes));
  if (!reads) return hiroba_tx_write(to, from, bytes);
  if (!writes) return hiroba_tx_read(to, from, bytes);
  void* const between = std::malloc(bytes);
  if (between == nullptr && bytes > 0) die("no memory for a copy");
  hiroba_tx_on_commit(std::free, between), hiroba_tx_on_abort(std::free, between);
  hiroba_tx_read(between, from, bytes);
  hiroba_tx_write(to, between, bytes);
}

}  // namespace

typedef float Vector64 __attribute__((vector_size(8)));
typedef float Vector128 __attribute__((vector_size(16)));
typedef float Vector256 __attribute__((vector_size(32), aligned(16)));

#define ITM_LOAD(kind, name, type) \
  ITM_EXPORT type _ITM_##kind##name(const type* at) { return load(at); }
// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define ITM_STORE(kind, name, type) \
  ITM_EXPORT void _ITM_##kind##name(type* at, type value) { store(at, value); }
// NOLINTEND(bugprone-macro-parentheses)
#define ITM_TYPE(name, type)                                                                           \
  ITM_LOAD(R, name, type)                                                                              \
  ITM_LOAD(RaR, name, type)                                                                            \
  ITM_LOAD(RaW, name, type)                                                                            \
  ITM_LOAD(RfW, name, type)                                                                            \
  ITM_STORE(W, name, type)                                                                             \
  ITM_STORE(WaR, name, type) ITM_STORE(WaW, name, type) ITM_EXPORT void _ITM_L##name(const type* at) { \
    hiroba_itm_log(at, sizeof(type));                                                                  \
  }
// A program has vectors of 32 bytes only if it is compiled for AVX.
#define ITM_AVX(kind)                                                                    \
  ITM_EXPORT __attribute__((target("avx"))) Vector256 _ITM_##kind(const Vector256* at) { \
    Vector256 value;                                                                     \
    copy(&value, false, at, true, sizeof value);                                         \
    return value;                                                                        \
  }
#define ITM_AVX_STORE(kind)                                                                    \
  ITM_EXPORT __attribute__((target("avx"))) void _ITM_##kind(Vector256* at, Vector256 value) { \
    copy(at, true, &value, false, sizeof value);                                               \
  }
#define ITM_COPY(kind, to, from)                                                                         \
  ITM_EXPORT void _ITM_memcpy##kind(void* out, const void* in, size_t n) { copy(out, to, in, from, n); } \
  ITM_EXPORT void _ITM_memmove##kind(void* out, const void* in, size_t n) { copy(out, to, in, from, n); }

namespace {

// Memory that is accessed directly, and that an abort restores.
struct Logged {
  void* at;
  size_t bytes;
};
void restore(void* argument) {
  auto* const logged = static_cast<Logged*>(argument);
  std::memcpy(logged->at, logged + 1, logged->bytes);
  std::free(logged);
}
void hiroba_itm_log(const void* at, size_t bytes) {
  if (state.direct) return;
  auto* const logged = static_cast<Logged*>(std::malloc(sizeof(Logged) + bytes));
  if (logged == nullptr) die("no memory for a log");
  logged->at = const_cast<void*>(at), logged->bytes = bytes;
  std::memcpy(logged + 1, at, bytes);
  hiroba_tx_on_abort(restore, logged), hiroba_tx_on_commit(std::free, logged);
}

}  // namespace

ITM_TYPE(U1, uint8_t)
ITM_TYPE(U2, uint16_t)
ITM_TYPE(U4, uint32_t)
ITM_TYPE(U8, uint64_t)
ITM_TYPE(F, float)
ITM_TYPE(D, double)
ITM_TYPE(E, long double)
ITM_TYPE(CF, _Complex float)
ITM_TYPE(CD, _Complex double)
ITM_TYPE(CE, _Complex long double)
ITM_TYPE(M64, Vector64)
ITM_TYPE(M128, Vector128)
ITM_AVX(RM256)
ITM_AVX(RaRM256)
ITM_AVX(RaWM256)
ITM_AVX(RfWM256)
ITM_AVX_STORE(WM256)
ITM_AVX_STORE(WaRM256)
ITM_AVX_STORE(WaWM256)
ITM_EXPORT void _ITM_LM256(const void* at) { hiroba_itm_log(at, sizeof(Vector256)); }
ITM_EXPORT void _ITM_LB(const void* at, size_t bytes) { hiroba_itm_log(at, bytes); }

ITM_COPY(RnWt, true, false)
ITM_COPY(RnWtaR, true, false)
ITM_COPY(RnWtaW, true, false)
ITM_COPY(RtWn, false, true)
ITM_COPY(RtWt, true, true)
ITM_COPY(RtWtaR, true, true)
ITM_COPY(RtWtaW, true, true)
ITM_COPY(RtaRWn, false, true)
ITM_COPY(RtaRWt, true, true)
ITM_COPY(RtaRWtaR, true, true)
ITM_COPY(RtaRWtaW, true, true)
ITM_COPY(RtaWWn, false, true)
ITM_COPY(RtaWWt, true, true)
ITM_COPY(RtaWWtaR, true, true)
ITM_COPY(RtaWWtaW, true, true)

ITM_EXPORT void _ITM_memsetW(void* at, int value, size_t bytes) {
  if (is_direct(state, at)) return void(std::memset(at, value, bytes));
  unsigned char part[256];
  std::memset(part, value, sizeof part);
  for (auto* to = static_cast<char*>(at); bytes > 0;) {
    const size_t now = bytes < sizeof part ? bytes : sizeof part;
    hiroba_tx_write(to, part, now);
    to += now, bytes -= now;
  }
}
ITM_EXPORT void _ITM_memsetWaR(void* at, int value, size_t bytes) { _ITM_memsetW(at, value, bytes); }
ITM_EXPORT void _ITM_memsetWaW(void* at, int value, size_t bytes) { _ITM_memsetW(at, value, bytes); }

// ---- memory --------------------------------------------------------------------------------------------------------

namespace {

void* allocated(void* object) {
  if (object != nullptr && state.depth > 0 && !state.direct) hiroba_tx_on_abort(std::free, object);
  return object;
}
void free_later(void* object) {
  if (object == nullptr) return;
  if (state.depth == 0 || state.direct) std::free(object);
  else hiroba_tx_free(object);
}

}  // namespace

ITM_EXPORT void* _ITM_malloc(size_t bytes) { return allocated(std::malloc(bytes)); }
ITM_EXPORT void* _ITM_calloc(size_t n, size_t bytes) { return allocated(std::calloc(n, bytes)); }
ITM_EXPORT void _ITM_free(void* object) { free_later(object); }
// operator new and delete.
ITM_EXPORT void* _ZGTtnwm(size_t bytes) { return allocated(std::malloc(bytes)); }
ITM_EXPORT void* _ZGTtnam(size_t bytes) { return allocated(std::malloc(bytes)); }
ITM_EXPORT void* _ZGTtnwmRKSt9nothrow_t(size_t bytes, const void*) { return allocated(std::malloc(bytes)); }
ITM_EXPORT void* _ZGTtnamRKSt9nothrow_t(size_t bytes, const void*) { return allocated(std::malloc(bytes)); }
ITM_EXPORT void _ZGTtdlPv(void* object) { free_later(object); }
ITM_EXPORT void _ZGTtdaPv(void* object) { free_later(object); }
ITM_EXPORT void _ZGTtdlPvm(void* object, size_t) { free_later(object); }
ITM_EXPORT void _ZGTtdaPvm(void* object, size_t) { free_later(object); }
ITM_EXPORT void _ZGTtdlPvRKSt9nothrow_t(void* object, const void*) { free_later(object); }
ITM_EXPORT void _ZGTtdlPvmRKSt9nothrow_t(void* object, size_t, const void*) { free_later(object); }
ITM_EXPORT void _ZGTtdaPvRKSt9nothrow_t(void* object, const void*) { free_later(object); }

// ---- clones of functions -------------------------------------------------------------------------------------------

namespace {

struct Clones {
  std::mutex lock;
  std::map<void*, void*> of;
};
Clones& clones() {
  static Clones& all = *new Clones;
  return all;
}
void* find_clone(void* function) {
  const std::lock_guard guard(clones().lock);
  const auto found = clones().of.find(function);
  return found == clones().of.end() ? nullptr : found->second;
}

}  // namespace

struct ClonePair {
  void *function, *clone;
};
ITM_EXPORT void _ITM_registerTMCloneTable(void* table, size_t count) {
  const std::lock_guard guard(clones().lock);
  for (size_t i = 0; i < count; ++i)
    clones().of[static_cast<ClonePair*>(table)[i].function] = static_cast<ClonePair*>(table)[i].clone;
}
ITM_EXPORT void _ITM_deregisterTMCloneTable(void*) {}  // the process ends, or a library is closed
ITM_EXPORT void* _ITM_getTMCloneOrIrrevocable(void* function) {
  void* const clone = find_clone(function);
  if (clone != nullptr) return clone;
  _ITM_changeTransactionMode(0);
  return function;
}
ITM_EXPORT void* _ITM_getTMCloneSafe(void* function) {
  void* const clone = find_clone(function);
  if (clone == nullptr) die("a transaction calls a function that is not compiled for it (transaction_safe)");
  return clone;
}

// ---- the rest ------------------------------------------------------------------------------------------------------

ITM_EXPORT void _ITM_addUserCommitAction(void (*action)(void*), uint64_t, void* argument) {
  hiroba_tx_on_commit(action, argument);
}
ITM_EXPORT void _ITM_addUserUndoAction(void (*action)(void*), void* argument) {
  if (!state.direct) hiroba_tx_on_abort(action, argument);
}
ITM_EXPORT void _ITM_dropReferences(void*, size_t) {}
ITM_EXPORT int _ITM_inTransaction() { return state.depth == 0 ? 0 : state.direct ? 2 : 1; }
ITM_EXPORT uint32_t _ITM_getTransactionId() { return state.depth == 0 ? 1 : state.number + 1; }
ITM_EXPORT const char* _ITM_libraryVersion() { return "libhiroba_tm " HIROBA_VERSION; }
ITM_EXPORT int _ITM_versionCompatible(int version) { return version == 90; }
ITM_EXPORT __attribute__((noreturn)) void _ITM_error(const void*, int) { die("_ITM_error"); }
