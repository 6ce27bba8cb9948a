// Exceptions of C++ in transactions of GCC. An abort never passes one on, so their objects are the C++ library's.
#include "notation/itm/state.hpp"

#define ITM_EXPORT extern "C" __attribute__((visibility("default")))

// A program in C has none of these.
extern "C" {
void* __cxa_allocate_exception(size_t) __attribute__((weak));
void __cxa_free_exception(void*) __attribute__((weak));
[[noreturn]] void __cxa_throw(void*, void*, void (*)(void*)) __attribute__((weak));
void* __cxa_begin_catch(void*) __attribute__((weak));
void __cxa_end_catch() __attribute__((weak));
void __cxa_tm_cleanup(void* made, void* thrown, unsigned caught) __attribute__((weak));
}

using hiroba::itm::state;

void hiroba::itm::forget_exceptions(uint32_t caught) {
  Exceptions& now = state.exceptions;
  // libstdc++'s clean-up would count an object that has not been thrown among those in flight, and take it from them.
  if (now.made != nullptr) __cxa_free_exception(now.made);
  if (now.caught > caught) __cxa_tm_cleanup(nullptr, nullptr, now.caught - caught);
  state.set_made(nullptr, 0);
  now.caught = caught;
}

ITM_EXPORT void* _ITM_cxa_allocate_exception(size_t bytes) {
  void* const made = __cxa_allocate_exception(bytes);
  state.set_made(made, bytes);
  return made;
}
ITM_EXPORT void _ITM_cxa_free_exception(void* object) {
  if (object == state.exceptions.made) state.set_made(nullptr, 0);
  __cxa_free_exception(object);
}
// The C++ library looks at the object before the transaction commits, and no other thread does: what the transaction
// has stored there goes to memory now.
ITM_EXPORT __attribute__((noreturn)) void _ITM_cxa_throw(void* object, void* type, void (*destroy)(void*)) {
  state.set_made(nullptr, 0);
  __cxa_throw(object, type, destroy);
}
ITM_EXPORT void* _ITM_cxa_begin_catch(void* object) {
  ++state.exceptions.caught;
  return __cxa_begin_catch(object);
}
ITM_EXPORT void _ITM_cxa_end_catch() {
  --state.exceptions.caught;
  __cxa_end_catch();
}
