#include "base/log.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string_view>

#include "base/debugger.hpp"
#include "base/ending.hpp"
#include "base/job.hpp"

namespace hiroba {

namespace {

// This is the only process-wide state here: a message contains its rank.
int log_rank = -1;
std::atomic<uint32_t>* aborting = nullptr;

const char* (*line_of_program)() = nullptr;

int launcher_descriptor = -1;
const char* launcher_word = "";

std::atomic<int> finding_count{0};

std::atomic<int> exit_status{-1};  // the status that exit() will return; -1: not in exit()

// Returns true for texts that begin with "heat.py:12: ".
bool begins_with_place(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  if (word.size() < 4 || word.back() != ':') return false;
  const size_t colon = word.rfind(':', word.size() - 2);
  if (colon == word.npos || colon + 2 == word.size()) return false;
  return std::all_of(word.begin() + colon + 1, word.end() - 1, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// One whole line: "hiroba: rank 2: ...".
struct Line {
  char text[2048];
  size_t size = 0;

  Line(const char* pattern, va_list arguments) {
    int used = log_rank < 0 ? std::snprintf(text, sizeof text, "hiroba: ")
                            : std::snprintf(text, sizeof text, "hiroba: rank %d: ", log_rank);
    begin = static_cast<size_t>(used);
    const int more = std::vsnprintf(text + used, sizeof text - static_cast<size_t>(used) - 2, pattern, arguments);
    used = std::min(used + more, static_cast<int>(sizeof text) - 3);
    text[used++] = '\n', text[used] = '\0';
    size = static_cast<size_t>(used);
  }
  void print() const {
    if (write(STDERR_FILENO, text, size) < 0) return;  // stderr is closed
  }
  // Puts "heat.py:12: " in front of the formatted pattern, unless that begins with a place or contains this one.
  void name_place(std::string_view line) {
    const std::string_view place = line.substr(0, line.rfind(" (")), told(text + begin, size - begin);
    const size_t more = place.size() + 2;
    if (place.empty() || begins_with_place(told) || told.find(place) != told.npos || size + more >= sizeof text) return;
    std::memmove(text + begin + more, text + begin, size + 1 - begin);
    std::memcpy(text + begin, place.data(), place.size());
    std::memcpy(text + begin + place.size(), ": ", 2);
    size += more;
  }
  size_t begin = 0;  // of the formatted pattern
};

void write_line(const char* pattern, va_list arguments) { Line(pattern, arguments).print(); }

}  // namespace

void set_reporter(int rank, std::atomic<uint32_t>* job_aborting) {
  log_rank = rank;
  aborting = job_aborting;
  void* frame[1];
  backtrace(frame, 1);  // loads libgcc now, so that a signal handler can print a stack
}

void set_program_line(const char* (*line)()) { line_of_program = line; }

const char* program_line() { return line_of_program == nullptr ? nullptr : line_of_program(); }

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
  // The launcher must not end this process in the middle of its report because another rank has ended; it kills the
  // process if the report takes too long.
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
  usleep(100000);  // Hydra ends at once after it and loses output that it has not read, such as the message
  if (write(launcher_descriptor, text, static_cast<size_t>(size)) < 0) return;  // the launcher has ended
}

void flush_program_output() {
  std::cout.flush(), std::clog.flush();
  flush_stdout();
  // Flushes all units, if the program has Fortran's library.
  const auto flush_units = reinterpret_cast<void (*)(const int*)>(dlsym(RTLD_DEFAULT, "_gfortran_flush_i4"));
  if (flush_units != nullptr) flush_units(nullptr);
  std::fflush(nullptr);
}

void flush_stdout() {
  if (ftrylockfile(stdout) != 0) return;
  fflush_unlocked(stdout);
  funlockfile(stdout);
}

int has_launcher_word() { return launcher_descriptor; }

void leave_by_exit(int status) { exit_status = status; }

namespace {

[[noreturn]] void end_with(int status, const Line* line) {
  if (exit_status >= 0) status = exit_status;
  const bool first = first_to_report(status) && line != nullptr;
  {
    constexpr unsigned flush_seconds = 1;
    const EndWithin limit(flush_seconds, status, first ? line->text : "");
    flush_program_output();
  }
  if (first) line->print();
  tell_launcher(status);
  _exit(status);
}

}  // namespace

void end_job_silently(int status) { end_with(status, nullptr); }

void end_job(int status, const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  Line line(pattern, arguments);
  va_end(arguments);
  if (const char* const place = program_line(); place != nullptr) line.name_place(place);
  if (debugging() && (aborting == nullptr || *aborting == 0)) {
    line.text[line.size - 1] = '\0';
    stop_at_crash(line.text + line.begin);
    line.text[line.size - 1] = '\n';
  }
  end_with(status, &line);
}

}  // namespace hiroba
