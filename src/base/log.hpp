// Messages to the user, on stderr, each in one write so that lines of ranks do not mix. Safe in a signal handler: no
// allocation, no locks. Nothing else in the library prints.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/shown.hpp"

namespace hiroba {

// The rank that messages name, and the job's flag that an error has been reported. Set once at start.
void set_reporter(int rank, std::atomic<uint32_t>* job_aborting);

// A message for the launcher of this process, which end_job (or tell_launcher) writes to `descriptor`; "%d" in it
// becomes the exit status. For launchers that do not end the job by themselves when a process ends with a bad status.
void set_launcher_word(int descriptor, const char* word);
void tell_launcher(int status);
// The descriptor; negative if there is no such launcher.
int has_launcher_word();

// "hiroba: rank 2: " + text + newline.
[[gnu::cold]] void log_line(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

// The same for errors that option check finds: the program continues, and its exit status is then not 0.
[[gnu::cold]] void log_finding(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
// How many of these this process has printed.
int findings();

// Ends the job: writes what the program has in its buffers, prints the message, unless another rank has already
// reported why the job ends, and leaves with exit status `status`; the launcher ends the other ranks.
[[noreturn, gnu::cold, HIROBA_SHOWN]] void end_job(int status, const char* pattern, ...)
    __attribute__((format(printf, 2, 3)));

// Writes what the program has in the buffers of stdio, C++ streams and Fortran units. May block: see EndWithin.
void flush_program_output();
// The same for stdout alone, unless another thread holds its lock. Blocks only as long as its reader does.
void flush_stdout();

// This process is in exit(), and its exit handlers run: what ends the job now leaves with exit status `status`.
void leave_by_exit(int status);

// True for the one rank that reports why the job ends, with its exit status.
bool first_to_report(int status);

}  // namespace hiroba
