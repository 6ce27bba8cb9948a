// Opens a library by dlopen(), and uses it in regions. The words: its file; in_region, copies: what is refused.
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

typedef int (*Count)(void);
typedef long (*Sum)(int);

int main(int argc, char** argv) {
  const char* const what = argc > 2 ? argv[2] : "";
  if (strcmp(what, "in_region") == 0) {
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) dlopen(argv[1], RTLD_NOW);
  }
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return printf("%s\n", dlerror()), 1;
  const Count calls = (Count)dlsym(library, "library_calls"), copied = (Count)dlsym(library, "copied_in_plugin");
  const Sum critical = (Sum)dlsym(library, "sum_in_critical"), tasks = (Sum)dlsym(library, "sum_in_tasks");
  int all = 0, threads = 0;
#pragma omp parallel reduction(+ : threads)
  {
    ++threads;
#pragma omp critical
    calls();
  }
  all = calls();
  dlclose(library);  // it stays, with its variables
  library = dlopen(argv[1], RTLD_NOW);
  const int again = ((Count)dlsym(library, "library_calls"))();
  printf("%d %d, %ld, %ld\n", all - threads, again - threads, critical(1000), tasks(100));
  if (strcmp(what, "copies") == 0) printf("%d\n", copied());
  return dlopen("no_such_library.so", RTLD_NOW) == NULL && dlerror() != NULL ? 0 : 1;
}
