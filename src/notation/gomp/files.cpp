// The functions by which C writes to streams. A stream that rank 0 has opened is written by rank 0: what other ranks
// write in regions goes there at the next barrier.
#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>

#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace hiroba;
using namespace hiroba::openmp;

extern "C" {
int __vfprintf_chk(FILE*, int, const char*, va_list);
int _IO_putc(int, FILE*);
}

namespace {

bool is_elsewhere(const FILE* file) {
  return (member.spans || member.inside) && instance<RegionOutput>().is_of_rank_0(file);
}

int write_elsewhere(FILE* file, std::string_view text) {
  instance<RegionOutput>().write(file, text);
  return static_cast<int>(text.size());
}

int format_elsewhere(FILE* file, const char* format, va_list list) {
  va_list again;
  va_copy(again, list);
  const int bytes = std::vsnprintf(nullptr, 0, format, list);
  if (bytes >= 0) {
    std::string text(static_cast<size_t>(bytes), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    write_elsewhere(file, text);
  }
  va_end(again);
  return bytes;
}

int put_elsewhere(int character, FILE* file) {
  const char byte = static_cast<char>(character);
  write_elsewhere(file, {&byte, 1});
  return static_cast<unsigned char>(byte);
}

}  // namespace

EXPORT int vfprintf(FILE* file, const char* format, va_list list) {
  return is_elsewhere(file) ? format_elsewhere(file, format, list) : HIROBA_REAL(vfprintf)(file, format, list);
}

EXPORT int __vfprintf_chk(FILE* file, int flag, const char* format, va_list list) {
  return is_elsewhere(file) ? format_elsewhere(file, format, list)
                            : HIROBA_REAL(__vfprintf_chk)(file, flag, format, list);
}

EXPORT int fprintf(FILE* file, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int out = vfprintf(file, format, list);
  va_end(list);
  return out;
}

EXPORT int __fprintf_chk(FILE* file, int flag, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int out = __vfprintf_chk(file, flag, format, list);
  va_end(list);
  return out;
}

EXPORT int fputs(const char* text, FILE* file) {
  return is_elsewhere(file) ? write_elsewhere(file, text) : HIROBA_REAL(fputs)(text, file);
}

EXPORT int fputc(int character, FILE* file) {
  return is_elsewhere(file) ? put_elsewhere(character, file) : HIROBA_REAL(fputc)(character, file);
}

#undef putc
EXPORT int putc(int character, FILE* file) {
  return is_elsewhere(file) ? put_elsewhere(character, file) : HIROBA_REAL(putc)(character, file);
}

EXPORT int _IO_putc(int character, FILE* file) {
  return is_elsewhere(file) ? put_elsewhere(character, file) : HIROBA_REAL(_IO_putc)(character, file);
}

EXPORT size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
  if (!is_elsewhere(file)) return HIROBA_REAL(fwrite)(data, size, count, file);
  write_elsewhere(file, {static_cast<const char*>(data), size * count});
  return count;
}

EXPORT int fflush(FILE* file) { return file != nullptr && is_elsewhere(file) ? 0 : HIROBA_REAL(fflush)(file); }
