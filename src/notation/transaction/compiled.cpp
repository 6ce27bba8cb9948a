// The calls that hirobacc makes of #pragma hiroba atomic: accesses to objects that may also be on the stack, and
// functions of the C library on memory that transactions use.
#include <csetjmp>
#include <cstring>
#include <functional>

#include "base/log.hpp"
#include "transaction.h"
#include "transaction/transaction.hpp"

#define TX_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

namespace {

constexpr size_t chunk_bytes = 256;

Transaction& inside() {
  Transaction* const running = Transaction::running();
  if (running == nullptr) [[unlikely]]
    end_job(1, "a function that hirobacc has made transactional is called outside of a transaction");
  return *running;
}

// Functions that the block has called own this memory: it is gone after a restart, and after the commit. `here`: an
// address on the stack below all of these.
bool is_younger(const Transaction& transaction, const void* at, const void* here) {
  return std::less<>()(at, transaction.block().stack) && std::less_equal<>()(here, at);
}

template <typename T>
void get_as(Transaction& transaction, void* to, const void* at) {
  const T value = transaction.load(static_cast<const T*>(at));
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
void put_as(Transaction& transaction, void* at, const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  transaction.store(static_cast<T*>(at), value);
}

char get_char(const char* at) {
  char out;
  hiroba_tx_get(&out, at, 1);
  return out;
}

// Compares at most `bytes` bytes, up to the first difference; with `text`, up to the end of the string at most.
int compare(const void* first, const void* second, size_t bytes, bool text) {
  const auto *one = static_cast<const char*>(first), *other = static_cast<const char*>(second);
  for (size_t i = 0; i < bytes; ++i) {
    const auto a = static_cast<unsigned char>(get_char(one + i)), b = static_cast<unsigned char>(get_char(other + i));
    if (a != b) return a < b ? -1 : 1;
    if (text && a == 0) break;
  }
  return 0;
}

void copy(char* to, const char* from, size_t bytes) {
  char buffer[chunk_bytes];
  hiroba_tx_get(buffer, from, bytes);
  hiroba_tx_put(to, buffer, bytes);
}

}  // namespace

TX_EXPORT int hiroba_tx_run(void (*block)(void* data), void* data, const char* place) {
  hiroba_tx_frame frame = {hiroba_tx_jump, place, 1, 0, 1, {}};
  (void)_setjmp(frame.jump);
  if (hiroba_tx_begin(&frame) == 0) return 0;
  block(data);
  hiroba_tx_commit(&frame);
  return 1;
}

TX_EXPORT void hiroba_tx_get(void* to, const void* at, size_t bytes) {
  Transaction& transaction = inside();
  if (is_younger(transaction, at, __builtin_frame_address(0))) [[unlikely]] {
    std::memcpy(to, at, bytes);
    return;
  }
  if ((reinterpret_cast<uint64_t>(at) & (bytes - 1)) == 0) [[likely]] {
    switch (bytes) {
      case 8: return get_as<uint64_t>(transaction, to, at);
      case 4: return get_as<uint32_t>(transaction, to, at);
      case 2: return get_as<uint16_t>(transaction, to, at);
      case 1: return get_as<uint8_t>(transaction, to, at);
      default: break;
    }
  }
  read_bytes(transaction, to, at, bytes);
}

TX_EXPORT void hiroba_tx_put(void* at, const void* from, size_t bytes) {
  Transaction& transaction = inside();
  if (is_younger(transaction, at, __builtin_frame_address(0))) [[unlikely]] {
    std::memcpy(at, from, bytes);
    return;
  }
  if ((reinterpret_cast<uint64_t>(at) & (bytes - 1)) == 0) [[likely]] {
    switch (bytes) {
      case 8: return put_as<uint64_t>(transaction, at, from);
      case 4: return put_as<uint32_t>(transaction, at, from);
      case 2: return put_as<uint16_t>(transaction, at, from);
      case 1: return put_as<uint8_t>(transaction, at, from);
      default: break;
    }
  }
  write_bytes(transaction, at, from, bytes);
}

TX_EXPORT void hiroba_tx_put_changed(void* at, const void* from, const void* old, size_t bytes) {
  const auto *now = static_cast<const char*>(from), *before = static_cast<const char*>(old);
  for (size_t i = 0; i < bytes; ++i)
    if (now[i] != before[i]) hiroba_tx_put(static_cast<char*>(at) + i, now + i, 1);
}

// ---- functions of C ------------------------------------------------------------------------------------------------

TX_EXPORT void* hiroba_tx_memcpy(void* to, const void* from, size_t bytes) {
  return hiroba_tx_memmove(to, from, bytes);
}

TX_EXPORT void* hiroba_tx_memmove(void* to, const void* from, size_t bytes) {
  auto* const out = static_cast<char*>(to);
  const auto* const in = static_cast<const char*>(from);
  const bool forward = reinterpret_cast<uint64_t>(to) - reinterpret_cast<uint64_t>(from) >= bytes;
  for (size_t done = 0; done < bytes;) {
    const size_t part = bytes - done < chunk_bytes ? bytes - done : chunk_bytes;
    const size_t at = forward ? done : bytes - done - part;
    copy(out + at, in + at, part);
    done += part;
  }
  return to;
}

TX_EXPORT void* hiroba_tx_memset(void* at, int value, size_t bytes) {
  char buffer[chunk_bytes];
  std::memset(buffer, value, sizeof buffer);
  for (size_t done = 0; done < bytes;) {
    const size_t part = bytes - done < chunk_bytes ? bytes - done : chunk_bytes;
    hiroba_tx_put(static_cast<char*>(at) + done, buffer, part);
    done += part;
  }
  return at;
}

TX_EXPORT int hiroba_tx_memcmp(const void* first, const void* second, size_t bytes) {
  return compare(first, second, bytes, false);
}

TX_EXPORT size_t hiroba_tx_strlen(const char* text) {
  size_t out = 0;
  while (get_char(text + out) != 0) ++out;
  return out;
}

TX_EXPORT int hiroba_tx_strcmp(const char* first, const char* second) { return compare(first, second, SIZE_MAX, true); }
TX_EXPORT int hiroba_tx_strncmp(const char* first, const char* second, size_t bytes) {
  return compare(first, second, bytes, true);
}

TX_EXPORT char* hiroba_tx_strcpy(char* to, const char* from) {
  hiroba_tx_memmove(to, from, hiroba_tx_strlen(from) + 1);
  return to;
}

TX_EXPORT char* hiroba_tx_strncpy(char* to, const char* from, size_t bytes) {
  size_t length = 0;
  while (length < bytes && get_char(from + length) != 0) ++length;
  hiroba_tx_memmove(to, from, length);
  hiroba_tx_memset(to + length, 0, bytes - length);
  return to;
}

TX_EXPORT char* hiroba_tx_strcat(char* to, const char* from) {
  hiroba_tx_strcpy(to + hiroba_tx_strlen(to), from);
  return to;
}

TX_EXPORT char* hiroba_tx_strchr(const char* text, int value) {
  for (;; ++text) {
    const char here = get_char(text);
    if (here == static_cast<char>(value))
      return const_cast<char*>(text);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    if (here == 0) return nullptr;
  }
}

TX_EXPORT void* hiroba_tx_calloc(size_t count, size_t bytes) {
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) end_job(1, "hiroba_tx_calloc(%zu, %zu): no memory", count, bytes);
  return hiroba_tx_memset(hiroba_tx_malloc(all), 0, all);
}

}  // namespace hiroba
