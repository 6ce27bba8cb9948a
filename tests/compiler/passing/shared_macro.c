/* `shared` as a macro, as CUDA-like code has it. */
#define shared __attribute__((aligned(64)))
#define device static
shared int a[10];
device shared double b[4];
extern shared int c;
int f(void) {
  shared int local[4] = {1, 2, 3, 4};
  b[0] = local[1];
  return a[3] + local[2];
}
