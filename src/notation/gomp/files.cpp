// The functions of C on streams. A stream belongs to the rank that has opened it, which has its buffer; 0, 1 and 2 are
// each rank's own. What other ranks write in regions to a stream of rank 0 goes there by rank 0 (RegionOutput).
#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/debug/symbols.hpp"
#include "base/log.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

using namespace hiroba;
using namespace hiroba::openmp;

extern "C" {
int __vfprintf_chk(FILE*, int, const char*, va_list);
int _IO_putc(int, FILE*);
int __isoc99_vfscanf(FILE*, const char*, va_list);
}

namespace {

RegionOutput& output() { return instance<RegionOutput>(); }

[[noreturn, gnu::cold]] void refuse(const char* call, const FILE* file, const void* caller) {
  const InRuntime runtime;
  end_job(1,
          "%s() at %s uses a stream that rank %d has opened; a stream is read, moved and closed in the rank that has "
          "opened it: do this in main, or open the file in the region",
          call, source_location(static_cast<const char*>(caller) - 1).c_str(), output().owner(file));
}

void check_own(const char* call, const FILE* file, const void* caller) {
  if (output().is_elsewhere(file)) refuse(call, file, caller);
}

// Writes to a stream of this rank, in the order of the program.
template <typename Write>
auto write_here(FILE* file, const Write& write) {
  const bool in_region = in_program && (member.spans || member.inside);
  if (!in_region) return write();
  if (file != stdout) output().write_given();
  const auto result = write();
  if (file == stdout) HIROBA_REAL(fflush)(stdout);
  return result;
}

int write_elsewhere(FILE* file, std::string_view text, const void* caller) {
  if (output().owner(file) != 0) refuse("fprintf", file, caller);
  output().write(file, text);
  return static_cast<int>(text.size());
}

int format_elsewhere(FILE* file, const char* format, va_list list, const void* caller) {
  va_list again;
  va_copy(again, list);
  const int bytes = std::vsnprintf(nullptr, 0, format, list);
  if (bytes >= 0) {
    const InRuntime runtime;
    std::string text(static_cast<size_t>(bytes), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    write_elsewhere(file, text, caller);
  }
  va_end(again);
  return bytes;
}

int put_elsewhere(int character, FILE* file, const void* caller) {
  const char byte = static_cast<char>(character);
  write_elsewhere(file, {&byte, 1}, caller);
  return static_cast<unsigned char>(byte);
}

int print(FILE* file, const char* format, va_list list, const void* caller) {
  if (output().is_elsewhere(file)) return format_elsewhere(file, format, list, caller);
  return write_here(file, [&] { return HIROBA_REAL(vfprintf)(file, format, list); });
}

int print_checked(FILE* file, int flag, const char* format, va_list list, const void* caller) {
  if (output().is_elsewhere(file)) return format_elsewhere(file, format, list, caller);
  return write_here(file, [&] { return HIROBA_REAL(__vfprintf_chk)(file, flag, format, list); });
}

int put(int character, FILE* file, const void* caller) {
  if (output().is_elsewhere(file)) return put_elsewhere(character, file, caller);
  return write_here(file, [&] { return HIROBA_REAL(fputc)(character, file); });
}

}  // namespace

EXPORT int vfprintf(FILE* file, const char* format, va_list list) { return print(file, format, list, CALLER); }
EXPORT int vprintf(const char* format, va_list list) { return print(stdout, format, list, CALLER); }
EXPORT int __vfprintf_chk(FILE* file, int flag, const char* format, va_list list) {
  return print_checked(file, flag, format, list, CALLER);
}
EXPORT int __vprintf_chk(int flag, const char* format, va_list list) {
  return print_checked(stdout, flag, format, list, CALLER);
}

#define WITH_LIST(last, expression) \
  va_list list;                     \
  va_start(list, last);             \
  const int out = expression;       \
  va_end(list);                     \
  return out

EXPORT int fprintf(FILE* file, const char* format, ...) { WITH_LIST(format, print(file, format, list, CALLER)); }
EXPORT int printf(const char* format, ...) { WITH_LIST(format, print(stdout, format, list, CALLER)); }
EXPORT int __fprintf_chk(FILE* file, int flag, const char* format, ...) {
  WITH_LIST(format, print_checked(file, flag, format, list, CALLER));
}
EXPORT int __printf_chk(int flag, const char* format, ...) {
  WITH_LIST(format, print_checked(stdout, flag, format, list, CALLER));
}

EXPORT int fputs(const char* text, FILE* file) {
  if (output().is_elsewhere(file)) return write_elsewhere(file, text, CALLER);
  return write_here(file, [&] { return HIROBA_REAL(fputs)(text, file); });
}
EXPORT int puts(const char* text) {
  return write_here(stdout, [&] { return HIROBA_REAL(puts)(text); });
}

EXPORT int fputc(int character, FILE* file) { return put(character, file, CALLER); }
EXPORT int _IO_putc(int character, FILE* file) { return put(character, file, CALLER); }
#undef putc
EXPORT int putc(int character, FILE* file) { return put(character, file, CALLER); }
#undef putchar
EXPORT int putchar(int character) { return put(character, stdout, CALLER); }

EXPORT size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
  if (!output().is_elsewhere(file))
    return write_here(file, [&] { return HIROBA_REAL(fwrite)(data, size, count, file); });
  write_elsewhere(file, {static_cast<const char*>(data), size * count}, CALLER);
  return count;
}

EXPORT int fflush(FILE* file) {
  if (file != nullptr && output().is_elsewhere(file)) return 0;
  if (in_program) output().write_given();
  return HIROBA_REAL(fflush)(file);
}

EXPORT int fclose(FILE* file) {
  check_own("fclose", file, CALLER);
  if (in_program) output().write_given();
  return HIROBA_REAL(fclose)(file);
}

// ---- only in the rank that has opened the stream -----------------------------------------------------------------

EXPORT size_t fread(void* data, size_t size, size_t count, FILE* file) {
  check_own("fread", file, CALLER);
  return HIROBA_REAL(fread)(data, size, count, file);
}
EXPORT char* fgets(char* text, int bytes, FILE* file) {
  check_own("fgets", file, CALLER);
  return HIROBA_REAL(fgets)(text, bytes, file);
}
EXPORT int fgetc(FILE* file) {
  check_own("fgetc", file, CALLER);
  return HIROBA_REAL(fgetc)(file);
}
#undef getc
EXPORT int getc(FILE* file) {
  check_own("getc", file, CALLER);
  return HIROBA_REAL(fgetc)(file);
}
EXPORT int ungetc(int character, FILE* file) {
  check_own("ungetc", file, CALLER);
  return HIROBA_REAL(ungetc)(character, file);
}
EXPORT ssize_t getline(char** line, size_t* bytes, FILE* file) {
  check_own("getline", file, CALLER);
  return HIROBA_REAL(getline)(line, bytes, file);
}
EXPORT int __isoc99_fscanf(FILE* file, const char* format, ...) {
  check_own("fscanf", file, CALLER);
  WITH_LIST(format, HIROBA_REAL(__isoc99_vfscanf)(file, format, list));
}
EXPORT int fseek(FILE* file, long offset, int from) {
  check_own("fseek", file, CALLER);
  return HIROBA_REAL(fseek)(file, offset, from);
}
EXPORT long ftell(FILE* file) {
  check_own("ftell", file, CALLER);
  return HIROBA_REAL(ftell)(file);
}
EXPORT void rewind(FILE* file) {
  check_own("rewind", file, CALLER);
  HIROBA_REAL(rewind)(file);
}
