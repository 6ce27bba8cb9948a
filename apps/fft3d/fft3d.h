/* fft3d.h: the Fourier transform of a cube of complex numbers. What all variants share: the options, the input, the
 * check, the report. FFTW transforms in one and two dimensions, and in all variants but omp and hiroba the whole cube.
 *
 * The input is in planes of one z: a product of three geometric series, so every number of the transform is known in
 * closed form. Step by step the same input is transformed; it stays as it is. The output may be in planes of one z, or
 * of one y, as a transform leaves it that divides the cube among parts.
 *
 * Collective: fft3d_begin, fft3d_memory, fft3d_run. */
#ifndef FFT3D_FFT3D_H
#define FFT3D_FFT3D_H

#include <complex.h> /* before fftw3.h, which then has the complex numbers of C */
#include <fftw3.h>

#include "../common/tiled.h"

enum { FFT3D_PLANES, FFT3D_MOVE, FFT3D_COLUMNS }; /* categories of the split */

typedef struct fft3d {
  tiled run;
  const char* plan; /* --plan */
  unsigned flags;   /* of FFTW's planner */
  /* the output of this rank: `count` planes from plane `first` on, `pitch` numbers apart */
  int first, count;
  bool of_y; /* a plane has one y, its rows z; else a plane has one z, its rows y */
  size_t pitch;
  const fftw_complex* output;
} fft3d;

/* Reads the command line. */
void fft3d_begin(fft3d* f, team team, int threads, int argc, char** argv);

/* Private memory for `numbers`, on the border of a page; ends the program if there is none. */
fftw_complex* fft3d_memory(const fft3d* f, size_t numbers);

/* Plane z of the input. */
void fft3d_fill(const fft3d* f, fftw_complex* plane, int z);

/* Transforms --steps times with `steps`, checks, reports, and leaves the team. Returns the exit status. */
int fft3d_run(fft3d* f, tiled_steps steps);

#endif
