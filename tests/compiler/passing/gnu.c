/* GNU C. */
#include <stdio.h>
#define swap(a, b) ({ __typeof__(a) t_ = (a); (a) = (b); (b) = t_; t_; })
#define show(format, ...) printf(format, ##__VA_ARGS__)
typedef float v4 __attribute__((vector_size(16)));
struct tail { int n; int values[0]; };
union any { int i; float f; } __attribute__((transparent_union));
static int hidden(int) __attribute__((noinline, unused));
static int hidden(int x) { return x ?: -1; }
__attribute__((constructor)) static void first(void) { hidden(1); }
extern inline __attribute__((gnu_inline)) int inlined(int x) { return x + 1; }
register long stack_pointer __asm__("rsp");
int aliased(void) __asm__("another_name");
int aliased(void) { return 4; }

static int dispatch(const char* code) {
  static const void* const table[] = {&&inc, &&dec, &&end};
  int value = 0;
  goto *table[*code++ - '0'];
inc:
  value++;
  goto *table[*code++ - '0'];
dec:
  value--;
  goto *table[*code++ - '0'];
end:
  return value;
}

int main(int argc, char** argv) {
  __label__ out;
  int a = 1, b = 2;
  auto int nested(int);
  int nested(int x) { return x * argc + a; }
  swap(a, b);
  switch (a) {
    case 0 ... 3: b++; __attribute__((fallthrough));
    default: break;
  }
  v4 v = {1, 2, 3, 4}, w = v * v + (v4){1};
  __asm__ volatile("nop\n\t" : "+r"(a) : : "memory", "cc");
  __asm__ goto("" : : : : out);
  int numbers[] = {[0 ... 9] = 7, [3] = 1};
  __int128 wide = (__int128)1 << 100;
  _Float128 exact = 1.0q;
  show("%d %d %g %d\n", nested(2), dispatch("00102"), (double)w[2], numbers[5]);
  show("plain\n");
  if (__builtin_expect(__builtin_constant_p(a), 0)) __builtin_trap();
out:
  return (int)(wide >> 100) - (int)exact + (int)sizeof(struct tail) - 4 + 0b1 - 1 + (__extension__ 0) + !argv;
}
