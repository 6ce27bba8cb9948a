// Brings shared memory that a call of the system will read or write: the kernel takes no page fault for this library.
// Memory of the rank's own stays as it is.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "memory/memory.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

inline void touch(const void* address, size_t bytes, bool writes) {
  if (!process_started()) return;
  SystemAccess& pages = process_memory("a call of the system").system_access();
  if (pages.may_need(address, bytes)) require(pages.bring_all(address, bytes, writes));
}

// The same for what functions of the C library, called from here, give to the system of their own variables.
inline void touch_stack() {
  constexpr size_t bytes = 32 << 10;
  touch(static_cast<const char*>(__builtin_frame_address(0)) - bytes, bytes, true);
}

inline void touch_all() {}
// Touches what the arguments point to: text, objects, and ranges whose size is the next argument.
template <typename First, typename... Rest>
void touch_all(First first, Rest... rest) {
  if constexpr (std::is_pointer_v<First>) {
    using Object = std::remove_pointer_t<First>;
    using Bare = std::remove_const_t<Object>;
    constexpr bool writes = !std::is_const_v<Object>;
    if (first != nullptr) {
      if constexpr (std::is_same_v<Bare, char> || std::is_void_v<Bare>) {
        size_t bytes = 0;
        if constexpr (sizeof...(Rest) > 0)
          if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<Rest...>>, size_t>)
            bytes = std::get<0>(std::tuple(rest...));
        if constexpr (std::is_same_v<Bare, char>)
          if (bytes == 0) bytes = std::strlen(first) + 1;
        touch(first, bytes, writes);
      } else if constexpr (std::is_object_v<Bare>) {
        touch(first, sizeof(Bare), writes);
      }
    }
  }
  touch_all(rest...);
}

// Calls the function; another thread may have evicted what has been touched.
template <typename Result, typename... Parameters, typename... Arguments>
Result call_touched(Result (*function)(Parameters...), Arguments... arguments) {
  constexpr int tries = 100;
  const int before = errno;
  for (int tried = 0;; ++tried) {
    touch_all(static_cast<Parameters>(arguments)...);
    errno = 0;
    const Result result = function(arguments...);
    if (errno == EFAULT && tried < tries) continue;
    if (errno == 0) errno = before;
    return result;
  }
}

}  // namespace hiroba::openmp
