/* A program of the library: the word stays its own though sms.h is included. */
#include <sms.h>
#include <smint.h>
struct pool { int shared; };
static double* shared;
static int count(struct pool* shared) { return shared->shared; }
int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  shared = sms_alloc(sizeof(double), 10, 0);
  shared[sms_rank % 10] = count(&(struct pool){3});
  sms_barrier();
  sms_shutdown();
}
