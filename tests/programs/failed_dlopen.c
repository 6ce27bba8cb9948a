/* Libraries that are not there, in a program whose first free() that is: it must not search for the C library's. */
#include <dlfcn.h>
#include <pthread.h>
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>

static void* run(void* argument) {
  for (int i = 0; i < 3; ++i)
    if (dlopen("libnowhere.so.1", RTLD_NOW | RTLD_LOCAL) != NULL || dlerror() == NULL) sms_abort(1, "it was found");
  return argument;
}

int main(int argc, char** argv) {
  pthread_t thread;
  sms_startup(&argc, &argv);
  run(NULL);
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  for (size_t i = 0; i < 100; ++i) free(malloc(10 * i + 1));
  sms_shutdown();
  return 0;
}
