"""Heat spreads in a plate whose left edge is hot: the heat equation in two dimensions. Usage:
hirobarun -n 4 python3 heat.py [POINTS [STEPS]]"""

import sys

import hiroba
import numpy as np

points, steps = ([int(word) for word in sys.argv[1:]] + [100, 500][len(sys.argv) - 1 :])[:2]
old = hiroba.zeros((points, points), name="temperature")
new = hiroba.zeros((points, points), name="next temperature")
for plate in (old, new):
    plate.local[:, 0] = 100

hiroba.barrier()
for _ in range(steps):
    here, there = old.halo(), new.halo()  # this rank's rows, and one of each neighbour
    there[1:-1, 1:-1] = (here[:-2, 1:-1] + here[2:, 1:-1] + here[1:-1, :-2] + here[1:-1, 2:]) / 4
    hiroba.barrier()  # the neighbours' rows are new, too
    old, new = new, old

mean = hiroba.mean(old)
hiroba.save("heat.npy", old)
if hiroba.rank == 0:
    print(f"mean temperature {mean:.6f} after {steps} steps, on {hiroba.size} ranks")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    figure.colorbar(axes.imshow(np.asarray(old), cmap="inferno"), label="temperature")
    figure.savefig("heat.png", dpi=140)
