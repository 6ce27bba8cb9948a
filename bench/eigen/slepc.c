/* SLEPc's Jacobi-Davidson on the problems of run.py: the smallest eigenvalues of a Hermitian matrix, of which residuals
 * reach `tolerance`. Prints one object of JSON: seconds, products of the matrix, eigenvalues, the largest residual.
 *
 *     slepc KIND N COUNT TOLERANCE [OPTIONS OF SLEPC]      KIND: laplace2d, laplace3d, ring (complex numbers) */
#include <math.h>
#include <slepceps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined WANTS_COMPLEX && !defined PETSC_USE_COMPLEX
#error "this PETSc has real numbers: name the folder of the complex one's petsc.pc, too"
#endif

static Mat laplace(PetscInt side, int dimensions) {
  PetscInt n = 1, first, last;
  for (int d = 0; d < dimensions; d++) n *= side;
  Mat a;
  MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 7, NULL, 7, NULL, &a);
  MatGetOwnershipRange(a, &first, &last);
  for (PetscInt i = first; i < last; i++) {
    MatSetValue(a, i, i, 2.0 * dimensions, INSERT_VALUES);
    PetscInt step = 1;
    for (int d = 0; d < dimensions; d++, step *= side) {
      const PetscInt at = i / step % side;
      if (at > 0) MatSetValue(a, i, i - step, -1, INSERT_VALUES);
      if (at < side - 1) MatSetValue(a, i, i + step, -1, INSERT_VALUES);
    }
  }
  return a;
}

#ifdef PETSC_USE_COMPLEX
static Mat ring(PetscInt n) {
  PetscInt first, last;
  Mat a;
  MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, NULL, 3, NULL, &a);
  MatGetOwnershipRange(a, &first, &last);
  const PetscScalar hop = PetscExpComplex(PETSC_i / (PetscReal)n);
  for (PetscInt i = first; i < last; i++) {
    MatSetValue(a, i, i, 2, INSERT_VALUES);
    MatSetValue(a, i, (i + 1) % n, -hop, INSERT_VALUES);
    MatSetValue(a, i, (i + n - 1) % n, -PetscConj(hop), INSERT_VALUES);
  }
  return a;
}
#endif

static Mat matrix(const char* kind, PetscInt n) {
  Mat a = NULL;
  if (strcmp(kind, "laplace2d") == 0) a = laplace(n, 2);
  if (strcmp(kind, "laplace3d") == 0) a = laplace(n, 3);
#ifdef PETSC_USE_COMPLEX
  if (strcmp(kind, "ring") == 0) a = ring(n);
#endif
  if (a == NULL) fprintf(stderr, "slepc: no matrix %s with these numbers\n", kind), exit(1);
  MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  return a;
}

static void report(EPS eps, int count, double seconds, int products) {
  PetscInt found = 0;
  PetscReal worst = 0;
  EPSGetConverged(eps, &found);
  if (found < count) fprintf(stderr, "slepc: %d of %d pairs\n", (int)found, count), exit(1);
  PetscPrintf(PETSC_COMM_WORLD, "{\"eigenvalues\": [");
  for (int i = 0; i < count; i++) {
    PetscScalar value;
    PetscReal residual;
    EPSGetEigenvalue(eps, i, &value, NULL);
    EPSComputeError(eps, i, EPS_ERROR_ABSOLUTE, &residual);
    worst = fmax(worst, residual);
    PetscPrintf(PETSC_COMM_WORLD, "%s%.17g", i == 0 ? "" : ", ", (double)PetscRealPart(value));
  }
  PetscPrintf(PETSC_COMM_WORLD, "], \"residual\": %g, \"products\": %d, \"seconds\": %.6f}\n", (double)worst, products,
              seconds);
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const char* const kind = argv[1];
  const PetscInt n = atoi(argv[2]);
  const int count = atoi(argv[3]);
  const double tolerance = atof(argv[4]);
  SlepcInitialize(&argc, &argv, NULL, NULL);
  PetscLogDefaultBegin(); /* which counts the products */
  Mat a = matrix(kind, n);
  EPS eps;
  EPSCreate(PETSC_COMM_WORLD, &eps);
  EPSSetOperators(eps, a, NULL);
  EPSSetProblemType(eps, EPS_HEP);
  EPSSetType(eps, EPSJD);
  EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL);
  EPSSetDimensions(eps, count, PETSC_DEFAULT, PETSC_DEFAULT);
  EPSSetConvergenceTest(eps, EPS_CONV_ABS);
  EPSSetTolerances(eps, tolerance, 1000000);
  EPSSetFromOptions(eps);
  EPSSetUp(eps);
  PetscLogEvent event;
  PetscEventPerfInfo before, after;
  PetscLogDouble begin, end;
  PetscLogEventGetId("MatMult", &event);
  PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &before);
  MPI_Barrier(PETSC_COMM_WORLD);
  PetscTime(&begin);
  EPSSolve(eps);
  PetscTime(&end);
  PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &after);
  report(eps, count, end - begin, after.count - before.count);
  return SlepcFinalize();
}
