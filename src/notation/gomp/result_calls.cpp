// Functions of the C library that return addresses of variables of its own, which are each rank's: the program gets
// copies in its memory, which regions can read. The C library reads files for some, into memory of the rank's own.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <map>
#include <mutex>
#include <string>

#include "notation/gomp/calls.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

// Returns memory of the program of this size, the same in each call for a function.
template <auto* function>
void* memory_of(size_t bytes) {
  static void* const memory = [bytes] {
    const InProgram program;
    return malloc(bytes);
  }();
  return memory;
}

template <tm* (*function)(const time_t*)>
tm* divide_time(const time_t* when) {
  if (!in_program) return function(when);
  const InRuntime runtime;
  const tm* const divided = function(when);
  return divided == nullptr ? nullptr
                            : static_cast<tm*>(memcpy(memory_of<function>(sizeof *divided), divided, sizeof *divided));
}

tm* divide_local_time(const time_t* when, tm* out) {
  const InRuntime runtime;
  return localtime_r(when, out);
}

time_t join_time(tm* divided) {
  const InRuntime runtime;
  return mktime(divided);
}

template <auto* function, typename Time>
char* write_time(const Time* when) {
  if (!in_program) return function(when);
  const InRuntime runtime;
  const char* const text = function(when);
  constexpr size_t most = 128;
  if (text == nullptr || strlen(text) >= most) return nullptr;
  return strcpy(static_cast<char*>(memory_of<function>(most)), text);
}

char* variable(const char* name) {
  if (!in_program) return getenv(name);
  const InRuntime runtime;
  const char* const value = getenv(name);
  return value == nullptr ? nullptr : shared_text(value);
}

}  // namespace

char* shared_text(const char* text) {
  static std::map<std::string, char*>& known = *new std::map<std::string, char*>;
  static std::mutex lock;
  const InRuntime runtime;
  const std::lock_guard guard(lock);
  char*& copy = known[text];
  if (copy != nullptr && strcmp(copy, text) == 0) return copy;  // the program may have changed it
  const InProgram program;
  return copy = strdup(text);
}

void add_result_calls(std::vector<Import>& calls) {
  take(calls, "localtime", divide_time<localtime>), take(calls, "gmtime", divide_time<gmtime>);
  take(calls, "localtime_r", divide_local_time), take(calls, "mktime", join_time);
  take(calls, "ctime", write_time<ctime, time_t>), take(calls, "asctime", write_time<asctime, tm>);
  for (const char* const name : {"getenv", "secure_getenv"}) take(calls, name, variable);
}

}  // namespace hiroba::openmp
