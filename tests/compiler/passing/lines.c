/* What depends on line numbers, and generated code that says where it came from. */
#include <assert.h>
#include <stdio.h>
#define HERE(text) printf("%s %d " text "\n", __FILE__, \
  __LINE__)
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define UNIQUE CONCAT(unique_, __LINE__)
static int UNIQUE = 1; static const char* const
UNIQUE = __FILE__;
int main(void) {
  HERE("before");
#line 700 "grammar.y"
  HERE("within");
  assert(unique_9 && unique_10);
#line 19 "lines.c"
  HERE(
    "behind"
  );
  return __COUNTER__ + __LINE__;
}
