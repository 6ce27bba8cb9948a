// In each shared library that hirobacc -fopenmp-nodes links: its first constructor tells libhiroba_openmp, which keeps
// the others until the library's variables are shared.
extern void hiroba_openmp_library_loaded(const void* inside);

static const char inside;
static void tell(void) { hiroba_openmp_library_loaded(&inside); }

// Priorities of programs begin with 101.
__attribute__((section(".init_array.00000"), used)) static void (*const first)(void) = tell;
