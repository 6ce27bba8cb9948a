/* The rival: products and CG with Jacobi by PETSc, whose matrix is distributed by rows, as many for each rank. */
#include <petscksp.h>

#include "main.h"

static Mat make_matrix(problem* p, int64_t* entries) {
  Mat a;
  PetscInt first, end;
  MatCreate(PETSC_COMM_WORLD, &a);
  MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)p->rows, (PetscInt)p->rows);
  MatSetType(a, MATAIJ);
  MatSetUp(a);
  MatGetOwnershipRange(a, &first, &end);
  PetscInt* const own = calloc((size_t)(end - first) + 1, sizeof *own);
  PetscInt* const others = calloc((size_t)(end - first) + 1, sizeof *others);
  int64_t columns[MOST], all = 0;
  double values[MOST];
  PetscInt short_columns[MOST];
  for (PetscInt i = first; i < end; i++) {
    const int64_t n = fill_row(i, columns, values, p);
    for (int64_t k = 0; k < n; k++) ++(columns[k] >= first && columns[k] < end ? own : others)[i - first];
    all += n;
  }
  MatSeqAIJSetPreallocation(a, 0, own);
  MatMPIAIJSetPreallocation(a, 0, own, 0, others);
  for (PetscInt i = first; i < end; i++) {
    const int64_t n = fill_row(i, columns, values, p);
    for (int64_t k = 0; k < n; k++) short_columns[k] = (PetscInt)columns[k];
    MatSetValues(a, 1, &i, (PetscInt)n, short_columns, values, INSERT_VALUES);
  }
  MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  MPI_Allreduce(&all, entries, 1, MPI_INT64_T, MPI_SUM, PETSC_COMM_WORLD);
  free(own), free(others);
  return a;
}

static void fill(Vec v) {
  PetscInt first, end;
  PetscScalar* values;
  VecGetOwnershipRange(v, &first, &end);
  VecGetArray(v, &values);
  for (PetscInt i = first; i < end; i++) values[i - first] = element(i);
  VecRestoreArray(v, &values);
}

static double checksum(Vec v) {
  PetscInt first, end;
  const PetscScalar* values;
  double sum = 0, all = 0;
  VecGetOwnershipRange(v, &first, &end);
  VecGetArrayRead(v, &values);
  for (PetscInt i = first; i < end; i++) sum += values[i - first] * weight(i);
  VecRestoreArrayRead(v, &values);
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  return all;
}

static double slowest(double seconds) {
  double all = 0;
  MPI_Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return all;
}

static double time_products(const problem* p, Mat a, Vec x, Vec y) {
  double times[p->times];
  for (int t = -3; t < p->times; t++) {
    MPI_Barrier(PETSC_COMM_WORLD);
    const double begin = now();
    MatMult(a, x, y);
    const double seconds = slowest(now() - begin);
    if (t >= 0) times[t] = seconds;
  }
  return median(times, p->times);
}

/* The seconds of an iteration. */
static double time_cg(const problem* p, Mat a, Vec b, Vec x, PetscInt* iterations) {
  KSP ksp;
  PC pc;
  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetOperators(ksp, a, a);
  KSPSetType(ksp, strcmp(p->what, "pipelined") == 0 ? KSPPIPECG : KSPCG);
  KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCJACOBI);
  /* PETSc's pipelined CG does one iteration more than it is allowed. */
  KSPSetTolerances(ksp, 0, 1e-300, PETSC_DEFAULT, p->times - (strcmp(p->what, "pipelined") == 0));
  KSPSetUp(ksp);
  double times[3];
  for (int t = 0; t < 3; t++) {
    VecSet(x, 0);
    MPI_Barrier(PETSC_COMM_WORLD);
    const double begin = now();
    KSPSolve(ksp, b, x);
    times[t] = slowest(now() - begin);
  }
  KSPGetIterationNumber(ksp, iterations);
  KSPDestroy(&ksp);
  return median(times, 3) / *iterations;
}

int main(int argc, char** argv) {
  problem p = read_problem(argc, argv);
  PetscInitialize(&argc, &argv, NULL, NULL);
  int rank;
  int64_t entries;
  Vec x, y;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const Mat a = make_matrix(&p, &entries);
  MatCreateVecs(a, &x, &y);
  fill(x);
  PetscInt iterations = p.times;
  const double seconds = strcmp(p.what, "spmv") == 0 ? time_products(&p, a, x, y) : time_cg(&p, a, x, y, &iterations);
  const double sum = checksum(y);
  if (rank == 0) report(&p, seconds, entries, sum, iterations);
  return PetscFinalize();
}
