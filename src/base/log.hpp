// Messages to the user, on stderr, each in one write so that lines of ranks do not mix. Safe in a signal handler: no
// allocation, no locks. Nothing else in the library prints.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/shown.hpp"

namespace hiroba {

// Sets the rank that messages name, and the job's flag that an error has been reported. Called once at start.
void set_reporter(int rank, std::atomic<uint32_t>* job_aborting);

// Sets a function that returns the line of an interpreted program which the calling thread executes, "heat.py:12
// (step)", or null; it allocates nothing. end_job names this line, in front of texts that have no place. Called once at
// start.
void set_program_line(const char* (*line)());
// Returns that line; null without an interpreter.
const char* program_line();

// Sets a message to the launcher of this process, which end_job (or tell_launcher) writes to `descriptor` with the exit
// status for "%d". Some launchers do not end the job by themselves when a process ends with a bad status.
void set_launcher_word(int descriptor, const char* word);
void tell_launcher(int status);
// Returns the descriptor; negative if there is no such launcher.
int has_launcher_word();

// Prints "hiroba: rank 2: " + text + newline.
[[gnu::cold, HIROBA_SHOWN]] void log_line(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

// Prints an error that option check finds; the program continues, and its exit status is then not 0.
[[gnu::cold]] void log_finding(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
// Returns the number of findings that this process has printed.
[[HIROBA_SHOWN]] int findings();

// Ends the job: flushes the program's output, prints the message unless another rank has already reported why the job
// ends, and exits with `status`; the launcher ends the other ranks.
[[noreturn, gnu::cold, HIROBA_SHOWN]] void end_job(int status, const char* pattern, ...)
    __attribute__((format(printf, 2, 3)));

// The same without a message, for a program that asks for it.
[[noreturn, gnu::cold, HIROBA_SHOWN]] void end_job_silently(int status);

// Flushes the program's output in stdio, C++ streams and Fortran units. May block: see EndWithin.
[[HIROBA_SHOWN]] void flush_program_output();
// Flushes stdout alone, unless another thread holds its lock. Blocks only while the reader of stdout does not read.
[[HIROBA_SHOWN]] void flush_stdout();

// Records that this process is in exit() and its exit handlers run: end_job then exits with `status`.
void leave_by_exit(int status);

// Returns true in the one rank that reports why the job ends, with its exit status.
bool first_to_report(int status);

}  // namespace hiroba
