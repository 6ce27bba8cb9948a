/* What `hiroba info --memory PID` shows of a rank that runs: its array of 96 pages, and of its heap, which reserves far
 * more addresses than there is memory, the part that is in use.  seen_from_outside HIROBA: the command's path */
#include <unistd.h>

#include "programs.h"

enum { PAGES = 96, OBJECT = 300 * PAGE, MOST_TEXT = 1 << 16 };

static void ask(const char* command, char* text) {
  char line[4096];
  snprintf(line, sizeof line, "%s info --memory %d", command, (int)getpid());
  FILE* const pipe = popen(line, "r");
  if (pipe == NULL) fail("cannot start %s", line);
  text[fread(text, 1, MOST_TEXT - 1, pipe)] = 0;
  if (pclose(pipe) != 0) fail("%s has failed", line);
}

static const char* expect(const char* text, const char* part) {
  const char* const found = strstr(text, part);
  if (found == NULL) fail("there is no '%s' in:\n%s", part, text);
  return found + strlen(part);
}

int main(int argc, char** argv) {
  static char text[MOST_TEXT];
  sms_startup(&argc, &argv);
  if (argc < 2) fail("usage: seen_from_outside HIROBA");
  char* const array = sms_alloc(PAGE, PAGES, 0);
  char* const object = sms_malloc(OBJECT);
  if (sms_rank == 0) {
    memset(array, 1, (size_t)PAGES * PAGE);
    memset(object, 1, OBJECT);
    ask(argv[1], text);
    char where[64];
    snprintf(where, sizeof where, "shared memory at %p, 384 KiB at home on this node\n", (void*)array);
    const char* rest = expect(text, where);
    expect(rest, "96 pages, 384 KiB\n");
    rest = expect(rest, "shared memory at ");
    const char* const heap = (const char*)strtoull(rest, NULL, 16);
    if (heap > object || object - heap > OBJECT) fail("the object is at %p, what is shown at %p", (void*)object, heap);
    if (strstr(rest, "shared memory at ") != NULL) fail("the heap is shown in more than one part:\n%s", text);
  }
  sms_barrier();
  sms_mfree(object);
  sms_shutdown();
  return 0;
}
