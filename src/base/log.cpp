#include "base/log.hpp"

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "base/debugger.hpp"
#include "base/job.hpp"

namespace hiroba {

namespace {

// The only process-wide state here: a message contains its rank.
int log_rank = -1;
std::atomic<uint32_t>* aborting = nullptr;

int launcher_descriptor = -1;
const char* launcher_word = "";

std::atomic<int> finding_count{0};

void write_line(const char* pattern, va_list arguments) {
  char text[2048];
  int used = log_rank < 0 ? std::snprintf(text, sizeof text, "hiroba: ")
                          : std::snprintf(text, sizeof text, "hiroba: rank %d: ", log_rank);
  const int more = std::vsnprintf(text + used, sizeof text - static_cast<size_t>(used) - 1, pattern, arguments);
  used = std::min(used + more, static_cast<int>(sizeof text) - 2);
  text[used++] = '\n';
  if (write(STDERR_FILENO, text, static_cast<size_t>(used)) < 0) return;  // stderr is closed
}

}  // namespace

void set_reporter(int rank, std::atomic<uint32_t>* job_aborting) {
  log_rank = rank;
  aborting = job_aborting;
  void* frame[1];
  backtrace(frame, 1);  // loads libgcc now, so that a stack can be printed in a signal handler
}

void log_line(const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  write_line(pattern, arguments);
  va_end(arguments);
}

void log_finding(const char* pattern, ...) {
  ++finding_count;
  va_list arguments;
  va_start(arguments, pattern);
  write_line(pattern, arguments);
  va_end(arguments);
}

int findings() { return finding_count; }

bool first_to_report(int status) {
  uint32_t nobody = 0;
  const bool first =
      aborting == nullptr || aborting->compare_exchange_strong(nobody, Board::reported | static_cast<uint32_t>(status));
  // Another rank's end must not make the launcher end this one in the middle of its report; if it takes too long, it
  // is killed.
  if (first) signal(SIGTERM, SIG_IGN);
  return first;
}

void set_launcher_word(int descriptor, const char* word) { launcher_descriptor = descriptor, launcher_word = word; }

void tell_launcher(int status) {
  if (launcher_descriptor < 0) return;
  char text[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int size = std::snprintf(text, sizeof text, launcher_word, status);
#pragma GCC diagnostic pop
  usleep(100000);  // Hydra ends at once after it, and loses output that it has not read, such as the message
  if (write(launcher_descriptor, text, static_cast<size_t>(size)) < 0) return;  // it has ended
}

void end_job(int status, const char* pattern, ...) {
  if (debugging() && (aborting == nullptr || *aborting == 0)) {
    char text[1024];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(text, sizeof text, pattern, arguments);
    va_end(arguments);
    stop_at_crash(text);
  }
  if (first_to_report(status)) {
    va_list arguments;
    va_start(arguments, pattern);
    write_line(pattern, arguments);
    va_end(arguments);
  }
  tell_launcher(status);
  _exit(status);
}

}  // namespace hiroba
