#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int at[50];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 50; i++) a[at[i]] += 1;
  return 0;
}
// expected: 7:32: iterations of different ranks may change the same element `a[at[i]]`, and lose a change
// remedy: put `#pragma SMint critical` above this statement, use sms_fetch_add, or, if no two iterations have the same
//     element, say `parallel for independent` [-Werror=every-rank]
