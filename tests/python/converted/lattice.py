"""Flow around a cylinder by the lattice Boltzmann method: lattice_numpy.py, on all ranks."""

import sys

import hiroba
import numpy as np

ny, nx, steps = (int(word) for word in sys.argv[1:])
dy, dx = np.array([0, 0, 0, 1, -1, 1, -1, -1, 1]), np.array([0, 1, -1, 0, 0, 1, -1, 1, -1])
weights = np.array([16, 4, 4, 4, 4, 1, 1, 1, 1]) / 36
opposite = [0, 2, 1, 4, 3, 6, 5, 8, 7]


def equilibrium(rho, uy, ux):
    c = 3 * (uy[..., np.newaxis] * dy + ux[..., np.newaxis] * dx)
    energy = 1.5 * (uy**2 + ux**2)[..., np.newaxis]
    return rho[..., np.newaxis] * weights * (1 + c + c**2 / 2 - energy)


y, x = np.ogrid[:ny, :nx]
solid = (y - ny / 2) ** 2 + (x - nx / 4) ** 2 < (ny / 6) ** 2
f = equilibrium(1 + 0.01 * np.cos(2 * np.pi * y / ny) + 0 * x, 0.0 * (y + x), np.where(solid, 0, 0.1))
every = hiroba.array(f)
f, solid = every.local, solid[every.box()[:2]]

for step in range(steps):
    before = np.take(every, np.arange(-1, len(f) + 1) + every.box()[0].start, axis=0, mode="wrap")
    hiroba.barrier()
    for i in range(9):
        f[:, :, i] = np.roll(before[:, :, i], (dy[i], dx[i]), axis=(0, 1))[1:-1]
    reflected = f[solid][:, opposite]
    rho = f.sum(axis=2)
    uy, ux = f @ dy / rho, f @ dx / rho
    f += 0.8 * (equilibrium(rho, uy, ux) - f)
    f[solid] = reflected
    for _ in hiroba.single():
        if step % 10 == 0:
            print(f"{step} {(every @ dx).sum():.6f} {(every @ dy**2).max():.9f} {(every**2).sum():.6f}")
