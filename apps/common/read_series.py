"""Reads NAME.xmf and NAME.h5 as other programs do, and compares them with arrays: for tests of snapshots. With the
package vtk also by ParaView's reader.

read_series.py FOLDER STEP_TIME RIGHT STEP...     RIGHT-STEP.npy is what the snapshot after STEP must have
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np


def dataset(folder: Path, place: str) -> bytes:
    """What h5dump finds at FILE:/NAME."""
    file, name = place.split(":")
    raw = folder / "raw"
    command = ["h5dump", "-d", name, "-b", "LE", "-o", str(raw), str(folder / file)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = raw.read_bytes()
    raw.unlink()
    return found


def check(folder: Path, step_time: float, right: str, steps: list[int]) -> None:
    series = ElementTree.parse(folder / "volume.xmf").find("Domain/Grid")
    assert series is not None and series.get("CollectionType") == "Temporal"
    grids = series.findall("Grid")
    assert len(grids) == len(steps), f"{len(grids)} snapshots in volume.xmf"
    for grid, step in zip(grids, steps, strict=True):
        expected = np.load(f"{right}-{step}.npy")
        time, topology, item = (grid.find(path) for path in ("Time", "Topology", "Attribute/DataItem"))
        assert time is not None and topology is not None and item is not None and item.text is not None
        assert np.isclose(float(time.get("Value", "nan")), step_time * step, atol=0), f"time of step {step}"
        assert topology.get("TopologyType") == "3DCoRectMesh"
        assert topology.get("Dimensions") == " ".join(map(str, expected.shape))
        assert dataset(folder, item.text) == expected.tobytes(), f"step {step} differs"


def snapshots_as_paraview(file: Path, step_time: float, steps: list[int]) -> Iterator[tuple[int, Any]]:
    """What the package vtk reads: each step with its grid; nothing without the package. The times are compared."""
    try:
        from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
        from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
    except ImportError as error:
        print(f"not read as ParaView does: {error} (tools/requirements-test.txt)")
        return
    reader = vtkXdmfReader()
    reader.SetFileName(str(file))
    reader.UpdateInformation()
    information, key = reader.GetOutputInformation(0), vtkStreamingDemandDrivenPipeline.TIME_STEPS()
    times = [information.Get(key, i) for i in range(information.Length(key))]
    assert np.allclose(times, [step_time * step for step in steps], atol=0), f"times {times}"
    for time, step in zip(times, steps, strict=True):
        reader.UpdateTimeStep(time)
        yield step, reader.GetOutputDataObject(0)


def numbers(array: Any) -> Any:
    """Those of an array of vtk."""
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(array)


def check_as_paraview(folder: Path, step_time: float, right: str, steps: list[int]) -> None:
    """Its own reader finds the times, the grid, and every value at its place."""
    for step, grid in snapshots_as_paraview(folder / "volume.xmf", step_time, steps):
        expected = np.load(f"{right}-{step}.npy")
        assert grid.GetDimensions() == expected.shape[::-1], f"step {step} has {grid.GetDimensions()} points"
        found = numbers(grid.GetPointData().GetArray(0))
        assert np.array_equal(found.reshape(expected.shape), expected), f"step {step} differs"


if __name__ == "__main__":
    series = (Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3], [int(step) for step in sys.argv[4:]])
    check(*series)
    check_as_paraview(*series)
