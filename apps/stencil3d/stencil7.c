#include "stencil7.h"

static double factor(double cx, double cy, double cz) { return 0.4 + 0.2 * (cx + cy + cz); }

const stencil stencil7 = {
    .name = "stencil3d",
    .about =
        "heat spreads through a box: the 7-point stencil, in double precision\n\n"
        "  new = 0.4*old + 0.1*(the six neighbours)      the boundary keeps its value, 0\n\n"
        "It starts from a sine mode that the stencil damps by a known factor per step, so --verify knows the "
        "answer.\n",
    .examples =
        "  hirobarun -n 2 stencil_sms --size 128 --steps 200 --verify                2 ranks that share memory\n"
        "  hirobarun -n 4 --nodes 2 stencil_sms --size 128 --verify --json           2 virtual nodes; the counters show"
        " what went between them\n"
        "  stencil_omp --steps 50 --checkpoint half; hirobarun -n 3 stencil_sms --restart half --verify\n"
        "  mpirun -n 2 stencil_mpi --size 128 --steps 200 --verify                   the rival\n",
    .align = 1,
    .factor = factor,
};
