"""The notations that hirobacc reads. A new one is a folder beside this file, and a line here."""

from __future__ import annotations

from .core.notation import Notation
from .mpc.notation import MPC
from .smint.notation import SMINT
from .task.notation import TASK
from .transaction.notation import TRANSACTION
from .xmp.notation import XMP

# In the order of rewriting: expressions come before the loops around them.
NOTATIONS: tuple[Notation, ...] = (MPC, XMP, SMINT, TASK, TRANSACTION)
# Calls that start the job.
STARTS = frozenset({"sms_startup", *(name for notation in NOTATIONS for name in notation.starts)})
# Words after #pragma, or of a sentinel in Fortran, that are those of a notation, though some have no directives.
FAMILIES = sorted({family for notation in NOTATIONS for family in (notation.family, *notation.no_family) if family})
