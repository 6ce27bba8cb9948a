"""Waves in a basin: the shallow-water equations by the two-step scheme of Lax and Wendroff, for one process."""

import sys

import numpy as np

n, steps = int(sys.argv[1]), int(sys.argv[2])
dt, g = 0.02, 9.8

x = np.linspace(-1, 1, n + 2)
H = 1 + np.exp(-5 * (x[:, np.newaxis] ** 2 + x**2))
U = np.zeros((n + 2, n + 2))
V = np.zeros((n + 2, n + 2))


def reflect(h, u, v):
    for a, left, top in ((h, 1, 1), (u, 1, -1), (v, -1, 1)):
        a[:, 0], a[:, -1] = left * a[:, 1], left * a[:, -2]
        a[0, :], a[-1, :] = top * a[1, :], top * a[-2, :]


def flux(h, u, v):
    return u**2 / h + g * h**2 / 2, u * v / h, v**2 / h + g * h**2 / 2


def half_step(a, f, axis):
    if axis == 0:
        return (a[1:, 1:-1] + a[:-1, 1:-1]) / 2 - dt / 2 * (f[1:, 1:-1] - f[:-1, 1:-1])
    return (a[1:-1, 1:] + a[1:-1, :-1]) / 2 - dt / 2 * (f[1:-1, 1:] - f[1:-1, :-1])


for _ in range(steps):
    reflect(H, U, V)
    h, u, v = H, U, V
    uu, uv, vv = flux(h, u, v)
    hx, ux, vx = half_step(h, u, 0), half_step(u, uu, 0), half_step(v, uv, 0)
    hy, uy, vy = half_step(h, v, 1), half_step(u, uv, 1), half_step(v, vv, 1)
    fx, fy = (ux, *flux(hx, ux, vx)[:2]), (vy, *flux(hy, uy, vy)[1:])
    for a, along, across in zip((h, u, v), fx, fy, strict=True):
        a[1:-1, 1:-1] -= dt * (along[1:] - along[:-1]) + dt * (across[:, 1:] - across[:, :-1])

print(f"{H[1:-1, 1:-1].sum():.9f} {H.max():.9f} {(U**2 + V**2).sum():.9f}")
