"""What the tests of damaged files share: changes of bytes and of JSON, from a seed that each test prints."""

from __future__ import annotations

import copy
import random
from typing import Any

ODD_NUMBERS = (0, 1, -1, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1e308, -1e308, float("nan"), float("inf"), 1 << 64, 10**30, "", "\x1b[2J\x07", "-1",
    "x" * 200, "</script>", [], {}, [[]], [None], {"": 0}, [1e9] * 3, "\ud800",
)  # fmt: skip


def damage_bytes(chance: random.Random, whole: bytes, parts: tuple[bytes, ...], within: int | None = None) -> bytes:
    """Some bytes are replaced by odd numbers or parts, or are added, removed or cut off; in the first `within` more
    often than after them."""
    out = bytearray(whole)
    for _ in range(chance.randint(1, 3)):
        most = len(out) if within is None or chance.random() < 0.1 else min(within, len(out))
        at = chance.randint(0, most)
        match chance.randrange(6):
            case 0:
                width = chance.choice((1, 2, 4, 8))
                out[at : at + width] = (chance.choice(ODD_NUMBERS) % (1 << 8 * width)).to_bytes(width, "little")
            case 1:
                at = at // 8 * 8
                out[at : at + 8] = (chance.choice((*ODD_NUMBERS, chance.getrandbits(64))) % (1 << 64)).to_bytes(
                    8, "little"
                )
            case 2 if at < len(out):
                out[at] ^= 1 << chance.randrange(8)
            case 3:
                del out[at : at + chance.choice((1, 7, 64, len(out)))]
            case _ if parts:
                out[at : at + chance.randint(0, 12)] = chance.choice(parts)
            case _:
                out[at:at] = chance.randbytes(chance.choice((1, 8, 500)))
    return bytes(out)


def damage_tree(chance: random.Random, whole: Any) -> Any:
    """Some values of a tree of JSON become others, or go."""
    out = copy.deepcopy(whole)
    for _ in range(chance.randint(1, 3)):
        here = out
        while isinstance(here, (dict, list)) and here:
            key = chance.choice(list(here) if isinstance(here, dict) else range(len(here)))
            below = here[key]
            if isinstance(below, (dict, list)) and below and chance.random() < 0.8:
                here = below
                continue
            if chance.random() < 0.3:
                del here[key]
            else:
                here[key] = copy.deepcopy(chance.choice(ODD_VALUES))
            break
    return out
