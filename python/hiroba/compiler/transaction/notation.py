"""The registration of transactions."""

from __future__ import annotations

from ..core.found import Kind, Stands
from ..core.notation import Notation
from .part import Transactions, atomic

TRANSACTION = Notation(
    "transactions",
    Transactions,
    header="transaction.h",
    symbol="hiroba_tx_run",
    starts=(),
    family="hiroba",
    common_family=True,
    directives=(Kind("atomic", Stands.ABOVE, atomic, one_at_a_time=True),),
)
