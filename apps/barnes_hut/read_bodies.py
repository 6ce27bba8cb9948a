"""Reads bodies.xmf and bodies.h5 as other programs do, and compares them with arrays: for tests of snapshots. With the
package vtk also by ParaView's reader.

read_bodies.py FOLDER STEP_TIME RIGHT STEP...     RIGHT-STEP.npy is what the snapshot after STEP must have
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))
from read_series import dataset, numbers, snapshots_as_paraview


def check(folder: Path, step_time: float, right: str, steps: list[int]) -> None:
    series = ElementTree.parse(folder / "bodies.xmf").find("Domain/Grid")
    assert series is not None and series.get("CollectionType") == "Temporal"
    grids = series.findall("Grid")
    assert len(grids) == len(steps), f"{len(grids)} snapshots in bodies.xmf"
    for grid, step in zip(grids, steps, strict=True):
        expected = np.load(f"{right}-{step}.npy")
        time, item = grid.find("Time"), grid.find("Geometry/DataItem/DataItem[2]")
        assert time is not None and item is not None and item.text is not None
        assert np.isclose(float(time.get("Value", "nan")), step_time * step, atol=0), f"time of step {step}"
        assert dataset(folder, item.text) == expected.tobytes(), f"step {step} differs"


def check_as_paraview(folder: Path, step_time: float, right: str, steps: list[int]) -> None:
    """Its own reader finds the times, and every body with its velocity and mass."""
    for step, grid in snapshots_as_paraview(folder / "bodies.xmf", step_time, steps):
        expected = np.load(f"{right}-{step}.npy")
        places = numbers(grid.GetPoints().GetData())
        assert np.array_equal(places, expected[:, :3].astype(places.dtype)), f"places of step {step} differ"
        data = grid.GetPointData()
        assert np.array_equal(numbers(data.GetArray("velocity")), expected[:, 3:6]), f"velocities of step {step}"
        assert np.array_equal(numbers(data.GetArray("mass")).ravel(), expected[:, 6]), f"masses of step {step}"


if __name__ == "__main__":
    series = (Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3], [int(step) for step in sys.argv[4:]])
    check(*series)
    check_as_paraview(*series)
