"""Why a rule applies to a run, and the words of it."""

from __future__ import annotations

from dataclasses import dataclass

from hiroba.report.data import Place, Report
from hiroba.report.remedies import REMEDIES

LEAST_LOST = 0.15  # seconds of waiting for ranks and locks: less is an accident


@dataclass
class Finding:
    """Why a rule applies. `lost` is the part of the time that it costs, as far as that is
    measured: of all ranks' time, for faults and locks of what is outside of collective calls."""

    lost: float
    measured: float
    sentence: str
    remedy: str
    place: str = ""
    array: int | None = None


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def remedy(report: Report, kind: str, array: int | None = None, place: str = "", many: str = "") -> str:
    texts = REMEDIES[kind]
    name = "" if array is None else report.array_name(array)
    variable = name.strip("`")
    if not variable.isidentifier():  # it is the place of the allocation
        variable = "A"
    return texts.get(report.notation, texts[""]).format(array=name, variable=variable, place=place, many=many)


def named(place: Place | None) -> str:
    return place.named() if place else ""


def most_at(places: list[Place]) -> str:
    return named(places[0]) if places else ""
