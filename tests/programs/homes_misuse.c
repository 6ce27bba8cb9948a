/* One mistake about the homes of arrays. */
#include "programs.h"

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const char* const what = option_text(argc, argv, "--what", "");
  const int half[] = {2, -1}, many[] = {99, -1}, two[] = {2, 1, -1}, none[] = {0, -1};
  double* const array = sms_alloc(sizeof(double), 100000, 0);
  double* const freed = sms_alloc(sizeof(double), 1000, 0);
  sms_free(freed);
#define IF(name) if (strcmp(what, name) == 0)
  IF("freed") sms_redistribute(freed, half);
  IF("inside") sms_redistribute(array + 7, half);
  IF("private") sms_redistribute(&argc, half);
  IF("many") sms_redistribute(array, many);
  IF("dims") sms_redistribute(array, two);
  IF("zero") sms_redistribute(array, none);
  IF("null") sms_redistribute(array, NULL);
  IF("ranks") sms_redistribute_on(array, half, 1, 2);
  IF("heap") {
    double** const table = sms_alloc(sizeof(double*), 1, 0);
    if (sms_rank == 0) table[0] = sms_malloc(100);
    sms_barrier();
    sms_redistribute(table[0], half);
  }
  IF("policy") sms_set_homes(array, (enum sms_homes)7);
  IF("alone") {
    if (sms_rank == 0) sms_redistribute(array, half);
    else sms_barrier();
  }
  IF("differ") sms_redistribute(array, sms_rank == 0 ? half : none + 1);
  return sms_shutdown();
}
