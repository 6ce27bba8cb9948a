/* A PMIx client for the tests of Slurm: 20 fences of all ranks, as MPI_Init does two of. In the shared file that is its
   argument each rank writes how far it has come, so it is seen if a rank leaves a fence before all have come. Ends with
   1 then. Blocks as fences do. */
#include <fcntl.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { most_ranks = 64 };

int main(int argc, char** argv) {
  pmix_proc_t self;
  if (argc != 2 || PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS) return 2;
  const unsigned ranks = (unsigned)atoi(getenv("SLURM_NTASKS"));
  const int file = open(argv[1], O_RDWR | O_CREAT, 0600);
  const size_t size = most_ranks * sizeof(atomic_int);
  if (ranks > most_ranks || file < 0 || ftruncate(file, (off_t)size) != 0) return 2;
  atomic_int* const come_to = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (come_to == MAP_FAILED) return 2;

  for (int fence = 1; fence <= 20; ++fence) {
    come_to[self.rank] = fence;
    bool collect = fence % 2 == 1; /* with data and without, as in MPI_Init */
    pmix_info_t how;
    PMIX_INFO_LOAD(&how, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    const int status = PMIx_Fence(NULL, 0, &how, 1);
    for (unsigned rank = 0; rank < ranks; ++rank) {
      if (status == PMIX_SUCCESS && come_to[rank] >= fence) continue;
      printf("rank %u left fence %d with status %d, and rank %u was at %d\n", self.rank, fence, status, rank,
             come_to[rank]);
      fflush(stdout);
      _exit(1); /* not through a fence */
    }
  }
  printf("rank %u left all fences in time\n", self.rank);
  return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 2;
}
