#!/usr/bin/env python3
"""Runs every case of numa_misuse.c as misuse.py does.

numa_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import sys

from misuse import Case, main


def case(name: str, *words: str, ranks: int = 2, nodes: int = 1) -> Case:
    return Case(name, list(words), binary="numa_misuse", ranks=ranks, nodes=nodes)


CASES = [
    case("no_domain", "hiroba_place_memory: there is no NUMA domain 999; this machine has "),
    case("no_place", "hiroba_place_memory: -9 is not HIROBA_ON_OWNER"),
    case("private", "hiroba_place_memory: address .* is not in a shared array"),
    case("no_rank", "hiroba_migrate: rank 2 does not exist: the job has ranks 0..1"),
    case("past", "section 0:99:1 of dimension 0"),
    case("other_node", "is at home on node 1, and rank 0 is on node 0", "of one node only", nodes=2),
    case("unequal", "hiroba_next_touch", "sms_barrier"),
    case("freed", "hiroba_next_touch: use after sms_free"),
    case("domain_of", "rank 2 is not one of this node, which has ranks 0..1"),
    case("not_started", "before sms_startup", ranks=1),
]

if __name__ == "__main__":
    sys.exit(main(CASES))
