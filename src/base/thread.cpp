#include "base/thread.hpp"

#include <signal.h>

#include "base/limits.hpp"

namespace hiroba {

Status start_thread(pthread_t& thread, const char* name, void* (*run)(void*), void* argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread, nullptr, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return Status::error(format("cannot start thread %s (%s)", name, explain_error(error).c_str()));
  pthread_setname_np(thread, name);
  return {};
}

}  // namespace hiroba
