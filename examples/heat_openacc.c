// Many nodes with several GPUs: listing (b) of the mSMS paper (Midorikawa, jh190039-ISH), "SMS関数 + OpenMP + OpenACC",
// with a program in the place of its dots: heat in a plate. Each rank has a band of rows, and a thread for each of its
// GPUs, which keeps a part of the band there. After each step the edges of the parts go to the shared array, where
// neighbours find them, on this node or on another one. Directives of OpenACC stand in functions, because GCC does not
// compile them in a block of OpenMP.
//
// If there is no GPU, or the compiler translates for none, two threads compute on the processor, in the place of two
// GPUs.
//
//   hirobacc -O2 -fopenmp -fopenacc heat_openacc.c -o heat_openacc && hirobarun -n 2 ./heat_openacc
#include <omp.h>
#include <openacc.h>
#include <sms.h>
#include <stdio.h>

enum { ROWS = 402, COLUMNS = 200, STEPS = 50 };
typedef double row[COLUMNS];

// A part has `rows` rows, and one on either side.
static void bring(int rows, row* a, row* b) {
#pragma acc enter data copyin(a[0 : rows + 2], b[0 : rows + 2])
}
static void step(int rows, row* now, row* next) {
#pragma acc kernels present(now[0 : rows + 2], next[0 : rows + 2])
  {
#pragma acc loop independent
    for (int i = 1; i <= rows; i++)
#pragma acc loop independent
      for (int j = 1; j < COLUMNS - 1; j++)
        next[i][j] = (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]) / 4;
  }
}
static void give_edges(int rows, row* next) {
#pragma acc update self(next[1 : 1])
#pragma acc update self(next[rows : 1])
}
static void take_edges(int rows, row* next) {
#pragma acc update device(next[0 : 1])
#pragma acc update device(next[rows + 1 : 1])
}
static void give_back(int rows, row* a, row* b) {
#pragma acc update self(a[1 : rows], b[1 : rows])
#pragma acc exit data delete (a[0 : rows + 2], b[0 : rows + 2])
}

// Other ranks have written the rows beside those of this one: they come here before OpenACC reads them.
static void fetch_edges(row* plate, int first, int last) {
  sms_preload(plate, (sms_range[]){{first - 1, 1, 1}, {0, COLUMNS, 1}});
  sms_preload(plate, (sms_range[]){{last, 1, 1}, {0, COLUMNS, 1}});
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  int numgpus = acc_get_num_devices(acc_device_nvidia);
  const acc_device_t kind = numgpus > 0 ? acc_device_nvidia : acc_device_host;
  if (numgpus == 0) numgpus = 2;

  const int dim[] = {ROWS, COLUMNS, -1}, div[] = {sms_nprocs, 1, -1};
  row* plate[2];
  for (int k = 0; k < 2; k++) plate[k] = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  for (int j = 0; j < COLUMNS && sms_rank == 0; j++) plate[0][0][j] = plate[1][0][j] = 100;
  sms_barrier();

  // The rows of this rank, without those at the edges of the plate.
  const int inner = ROWS - 2;
  const int first = 1 + inner * sms_rank / sms_nprocs, last = 1 + inner * (sms_rank + 1) / sms_nprocs;
#pragma omp parallel num_threads(numgpus)
  {
    const int tid = omp_get_thread_num(), parts = omp_get_num_threads();
    acc_set_device_num(kind == acc_device_host ? 0 : tid, kind);
    const int begin = first + (last - first) * tid / parts, end = first + (last - first) * (tid + 1) / parts;
    const int rows = end - begin;
    row *now = &plate[0][begin - 1], *next = &plate[1][begin - 1];
    bring(rows, now, next);
    for (int t = 0; t < STEPS; t++) {
      step(rows, now, next);
      give_edges(rows, next);
#pragma omp barrier
#pragma omp master
      {
        sms_barrier();
        fetch_edges(plate[(t + 1) % 2], first, last);
      }
#pragma omp barrier
      take_edges(rows, next);
      row* const swap = now;
      now = next;
      next = swap;
    }
    give_back(rows, now, next);
  }
  sms_barrier();

  double sum = 0;
  for (int i = 0; i < ROWS && sms_rank == 0; i++)
    for (int j = 0; j < COLUMNS; j++) sum += plate[STEPS % 2][i][j];
  if (sms_rank == 0) printf("mean temperature %.6f\n", sum / ROWS / COLUMNS);
  sms_shutdown();
}
