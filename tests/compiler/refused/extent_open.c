#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int primes[] = {2, 3, 5, 7};
int main(void) { return primes[0]; }
// expected: 3:5: the first extent of shared `primes` is not written
// remedy: write it: primes[10]
