// Functions of the C library for input and output that system_calls.cpp of memory does not replace. They report
// themselves, and call the original: a transaction that may run again must not use them. Only in the shared library.
#include <features.h>
#undef __USE_EXTERN_INLINES  // to clang, getchar() and others would be defined twice
#include <dlfcn.h>
#include <fcntl.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "base/effects.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

template <typename Function>
Function* next_of(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// A function that passes on its arguments.
#define EFFECT(type, name, parameters, ...)                    \
  EXPORT type name parameters {                                \
    hiroba::report_effect(#name, __builtin_return_address(0)); \
    static auto* const next = next_of<type parameters>(#name); \
    return next(__VA_ARGS__);                                  \
  }
// One with a format, whose arguments `by`, its form with a list, gets.
#define FORMATTED(name, by, parameters, last, ...)             \
  EXPORT int name parameters {                                 \
    hiroba::report_effect(#name, __builtin_return_address(0)); \
    va_list arguments;                                         \
    va_start(arguments, last);                                 \
    const int out = next_##by(__VA_ARGS__, arguments);         \
    va_end(arguments);                                         \
    return out;                                                \
  }

namespace {

int next_vfprintf(FILE* stream, const char* format, va_list arguments) {
  static auto* const next = next_of<int(FILE*, const char*, va_list)>("vfprintf");
  return next(stream, format, arguments);
}
// The forms that -D_FORTIFY_SOURCE calls.
int next_vfprintf_chk(FILE* stream, int flag, const char* format, va_list arguments) {
  static auto* const next = next_of<int(FILE*, int, const char*, va_list)>("__vfprintf_chk");
  return next(stream, flag, format, arguments);
}

}  // namespace

FORMATTED(printf, vfprintf, (const char* format, ...), format, stdout, format)
FORMATTED(fprintf, vfprintf, (FILE * stream, const char* format, ...), format, stream, format)
FORMATTED(__printf_chk, vfprintf_chk, (int flag, const char* format, ...), format, stdout, flag, format)
FORMATTED(__fprintf_chk, vfprintf_chk, (FILE * stream, int flag, const char* format, ...), format, stream, flag, format)
EFFECT(int, vprintf, (const char* format, va_list arguments), format, arguments)
EFFECT(int, vfprintf, (FILE * stream, const char* format, va_list arguments), stream, format, arguments)
EFFECT(int, __vprintf_chk, (int flag, const char* format, va_list arguments), flag, format, arguments)
EFFECT(int, __vfprintf_chk, (FILE * stream, int flag, const char* format, va_list arguments), stream, flag, format,
       arguments)
EFFECT(int, puts, (const char* text), text)
EFFECT(int, fputs, (const char* text, FILE* stream), text, stream)
EFFECT(int, putchar, (int byte), byte)
EFFECT(int, putc, (int byte, FILE* stream), byte, stream)
EFFECT(int, fputc, (int byte, FILE* stream), byte, stream)
EFFECT(void, perror, (const char* text), text)
EFFECT(int, getchar, (), )
EFFECT(int, getc, (FILE * stream), stream)
EFFECT(int, fgetc, (FILE * stream), stream)
EFFECT(char*, fgets, (char* to, int bytes, FILE* stream), to, bytes, stream)
EFFECT(FILE*, fopen, (const char* path, const char* mode), path, mode)
EFFECT(FILE*, fopen64, (const char* path, const char* mode), path, mode)
EFFECT(int, fclose, (FILE * stream), stream)
EFFECT(int, system, (const char* command), command)
