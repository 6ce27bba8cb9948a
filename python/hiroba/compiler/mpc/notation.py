"""The registration of MpC."""

from __future__ import annotations

import re

from ..core.notation import Notation, Part
from .declarations import find_shared


class Mpc(Part):
    def find(self) -> None:
        if "shared" in self.source.text:
            find_shared(self.source, self.found)

    def first_use(self) -> int | None:
        return next((d.at for d in self.found.declarations if not d.directive), None)


MPC = Notation(
    "MpC",
    Mpc,
    header="mpc.h",
    symbol="smint_allocate",
    starts=("mpc_init",),
    self_starting="mpc_init",
    no_family=("mpc", "sms"),
    looks=re.compile(r"^[^#\n]*\bshared\b[^;{}]*::|\bmpc_(?:init|exit|barrier)\b", re.MULTILINE),
    in_cxx=((re.compile(r"^[ \t]*(?:static[ \t]+|extern[ \t]+)?shared[ \t]+\w", re.MULTILINE), "`shared` is"),),
    unless=re.compile(r"#[ \t]*define[ \t]+shared\b|\btypedef\b[^;]*\bshared\s*;"),
    folder="mpc",
    namesake=re.compile(r"\bmpc_(?:t|init2|init3|clear)\b"),  # GNU MPC
)
