"""The backend of matplotlib's pyplot in a rank of a notebook's job: the notebook shows open figures when plt.show() is
called, or at the end of the cell, as in any cell. rank.py has matplotlib load it."""

from __future__ import annotations

import sys
from typing import Any

from matplotlib import pyplot
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg


class Manager(FigureManagerBase):
    @classmethod
    def pyplot_show(cls, *_: Any, **__: Any) -> None:
        for number in pyplot.get_fignums():
            sys.modules["__main__"].display(pyplot.figure(number))
        pyplot.close("all")


class FigureCanvas(FigureCanvasAgg):
    manager_class = Manager
