// Units of Fortran. Fortran's library has a table of units in each rank, so a unit belongs to the rank that has opened
// it. What other ranks write in regions to a unit of rank 0, sequentially, they write to a unit of a file in memory,
// one for each thread, and rank 0 puts it into its unit (RegionOutput). Units 0, 5 and 6 are each rank's own.
#include <dlfcn.h>
#include <strings.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "base/log.hpp"
#include "notation/gomp/calls.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

// GCC passes statements to Fortran's library (libgfortran.so.5) as structures that begin so.
struct Statement {
  uint32_t flags;
  int32_t unit;
  const char* file;
  int32_t line;
};
struct Open {
  Statement common;
  size_t message_bytes;
  void *message, *status, *record_length;
  size_t name_bytes;
  const char* name;
  const char* state;
  size_t state_bytes;
  size_t access_bytes;
  const char* access;
};
static_assert(offsetof(Open, access) == 96);
constexpr uint32_t has_access = 1 << 10;

using Call = void (*)(Statement*);
template <typename Function = Call>
Function library(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}
#define LIBRARY(name)                                         \
  [](Statement* statement) {                                  \
    static const auto function = library("_gfortran_" #name); \
    function(statement);                                      \
  }

bool in_region() { return in_program && (member.spans || member.inside); }
bool is_standard(int unit) { return unit == 0 || unit == 5 || unit == 6; }
bool is_internal(int unit) { return unit == -1 || unit == -2; }

FortranUnits& units() { return instance<FortranUnits>(); }

// Here: a unit of this rank, or one that nobody has opened, outside of regions.
bool is_here(const Statement& statement) {
  if (!in_program || is_standard(statement.unit) || is_internal(statement.unit)) return true;
  return units().is_open_here(statement.unit) || (!in_region() && units().owner(statement.unit) < 0);
}

[[noreturn, gnu::cold]] void refuse(const Statement& statement, const char* does) {
  const InRuntime runtime;
  const int owner = units().owner(statement.unit);
  if (owner < 0)
    end_job(1, "%s:%d: unit %d is not open in this rank, which %s it: open it in main", statement.file, statement.line,
            statement.unit, does);
  end_job(1,
          "%s:%d: unit %d is open in rank %d, and another rank %s it: other ranks can only write, sequentially, to "
          "units that main has opened; do this in main, or open the file in the region",
          statement.file, statement.line, statement.unit, owner, does);
}

// A unit that main has not opened is a file of its number, which the statement opens.
void open_by_number(const Statement& statement) {
  const int unit = statement.unit;
  if (in_program && !in_region() && !is_standard(unit) && !is_internal(unit) && units().owner(unit) < 0)
    units().open(unit, true);
}

// The statement by which this thread writes to a unit of rank 0.
struct Elsewhere {
  int unit = 0;  // of rank 0; 0: none
  int own = 0;   // the unit of the file in memory, which the library opens by the name that it gives such units
  int file = -1;
};
thread_local Elsewhere elsewhere __attribute__((tls_model("initial-exec")));

constexpr int first_own = 1 << 20;

void begin_elsewhere(Statement* statement) {
  if (units().owner(statement->unit) != 0 || !units().is_sequential(statement->unit)) refuse(*statement, "writes");
  elsewhere.unit = statement->unit;
  elsewhere.own = first_own + (member.local << 10) + (statement->unit & 1023);
  statement->unit = elsewhere.own;
}

// The file is empty again after each statement.
void end_elsewhere(Statement* statement) {
  static const auto flush = library<void (*)(const int*)>("_gfortran_flush_i4");
  static const auto seek = library<void (*)(const int*, const int64_t*, const int*, int*)>("_gfortran_fseek_sub");
  flush(&elsewhere.own);
  const int file = units().file_in_memory(elsewhere.own);
  const off_t bytes = file < 0 ? -1 : lseek(file, 0, SEEK_END);
  if (bytes < 0) end_job(1, "%s:%d: the text for unit %d is lost", statement->file, statement->line, elsewhere.unit);
  {
    const InRuntime runtime;
    std::string text(static_cast<size_t>(bytes), '\0');
    if (pread(file, text.data(), text.size(), 0) == bytes) instance<RegionOutput>().write(elsewhere.unit, text);
  }
  if (ftruncate(file, 0) != 0) end_job(1, "a file in memory cannot be shortened");
  const int64_t begin = 0;
  const int from_begin = 0;
  int status = 0;
  seek(&elsewhere.own, &begin, &from_begin, &status);
  elsewhere = {};
}

void write(Statement* statement) {
  if (!is_here(*statement)) begin_elsewhere(statement);
  else if (in_region()) instance<RegionOutput>().write_given();
  else open_by_number(*statement);
  LIBRARY(st_write)(statement);
}

void write_done(Statement* statement) {
  const int unit = statement->unit;
  LIBRARY(st_write_done)(statement);
  if (elsewhere.unit != 0 && unit == elsewhere.own) return end_elsewhere(statement);
  static const auto flush = library<void (*)(const int*)>("_gfortran_flush_i4");
  if (in_region() && is_standard(unit)) flush(&unit);
}

void open_unit(Statement* statement) {
  LIBRARY(st_open)(statement);
  if (!in_program) return;
  const Open& open = *reinterpret_cast<const Open*>(statement);
  const bool sequential = (statement->flags & has_access) == 0 || strncasecmp(open.access, "sequential", 10) == 0;
  units().open(statement->unit, sequential);
}

void close_unit(Statement* statement) {
  if (in_region() && !is_here(*statement)) refuse(*statement, "closes");
  const int unit = statement->unit;
  if (in_program) instance<RegionOutput>().write_given();
  LIBRARY(st_close)(statement);
  if (in_program) units().close(unit);
}

void read(Statement* statement) {
  if (!is_here(*statement)) refuse(*statement, "reads");
  open_by_number(*statement);
  LIBRARY(st_read)(statement);
}

// INQUIRE by a file's name has unit 0. What no rank has opened, none knows.
void inquire(Statement* statement) {
  if (!is_here(*statement) && units().owner(statement->unit) >= 0) refuse(*statement, "asks about");
  LIBRARY(st_inquire)(statement);
}

// A flush has nothing to do for a unit of rank 0, to which all that others write comes in order.
void flush(Statement* statement) {
  if (is_here(*statement) || units().owner(statement->unit) < 0) LIBRARY(st_flush)(statement);
}

#define ONLY_HERE(name, does)                                \
  take(                                                      \
      calls, "_gfortran_" #name, +[](Statement* statement) { \
        if (!is_here(*statement)) refuse(*statement, does);  \
        LIBRARY(name)(statement);                            \
      })

}  // namespace

void add_fortran_calls(std::vector<Import>& calls) {
  if (library("_gfortran_st_write") == nullptr) return;
  take(calls, "_gfortran_st_write", write), take(calls, "_gfortran_st_write_done", write_done);
  take(calls, "_gfortran_st_open", open_unit), take(calls, "_gfortran_st_close", close_unit);
  take(calls, "_gfortran_st_read", read), take(calls, "_gfortran_st_inquire", inquire);
  take(calls, "_gfortran_st_flush", flush);
  ONLY_HERE(st_rewind, "rewinds");
  ONLY_HERE(st_backspace, "goes back in");
  ONLY_HERE(st_endfile, "ends");
}

}  // namespace hiroba::openmp
