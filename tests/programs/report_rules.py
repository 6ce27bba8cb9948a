"""Rules of reports on recorded times, which do not depend on the machine that runs the test.

report_rules.py BUILD [TEST ...]
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from hiroba.report.data import Report
from hiroba.report.rules import advice

KINDS = ("computing", "collective", "locks", "faults", "preloads", "coherence", "queued", "tasks", "chain")


def rank(number: int, total: float, **seconds: float) -> dict[str, Any]:
    every = dict.fromkeys(KINDS, 0.0) | {"processor": total} | seconds | {"total": total}
    about = {"rank": number, "host": "h", "cpus": "0", "complete": True, "barriers": 100, "chain": 0, "tasks": 0}
    return about | {"seconds": every, "waited_for": [0.0] * 4}


def site(kind: str, place: str, number: int, seconds: float, **more: Any) -> dict[str, Any]:
    counts = {"count": 100, "amount": 0, "seconds": seconds, "waited_for": {}}
    return {"kind": kind, "place": place, "call": kind, "rank": number} | counts | more


def array(name: str, pages: int, **sums: int) -> dict[str, Any]:
    heat = {"written": [0], "fetched": [0], "both": [0]}
    part = (
        {"rank": 1, "alone": 0, "bytes_sent": 0, "fetched": 0, "invalidated": 0, "evicted": 0} | sums | {"heat": heat}
    )
    return {"name": name, "pages": pages, "count": 1, "bytes": pages * 4096, "element_bytes": 8, "ranks": [part]}


def found(
    ranks: list[Any], sites: list[Any], arrays: list[Any] | None = None, notation: str = ""
) -> list[tuple[str, str]]:
    data = {
        "hiroba_report": 1,
        "notation": notation,
        "options": {},
        "ranks": ranks,
        "sites": sites,
        "arrays": arrays or [],
    }
    return [(entry["rule"], entry["sentence"] + "; " + entry["remedy"]) for entry in advice(Report(data))]


class Rules(unittest.TestCase):
    def test_many_locks_at_one_line(self) -> None:
        ranks = [rank(r, 10, computing=6, locks=4) for r in range(4)]
        sites = [site("lock", "main (a.c:3)", r, 0.1, lock=lock) for r in range(4) for lock in range(40)]
        self.assertEqual([rule for rule, _ in found(ranks, sites)], ["lock contention"])
        self.assertIn("waiting for one of 40 locks, most at main (a.c:3)", found(ranks, sites)[0][1])
        few = [site("lock", "main (a.c:3)", r, 0.01, lock=lock) for r in range(4) for lock in range(40)]
        self.assertEqual(found([rank(r, 10, computing=9.6, locks=0.4) for r in range(4)], few), [])

    def test_imbalance_beside_other_programs(self) -> None:
        """What is computed without a processor says nothing; the times are of a run of two ranks."""
        ranks = [
            rank(0, 3.22, computing=1.42, collective=1.80, queued=1.34, processor=0.33),
            rank(1, 3.24, computing=3.01, collective=0.22, queued=2.26, processor=0.97),
        ]
        ranks[0]["waited_for"][1], ranks[1]["waited_for"][1] = 1.80, 0.21
        self.assertEqual([rule for rule, _ in found(ranks, [])], ["load imbalance"])
        ranks[0]["seconds"]["processor"] = 0.90
        self.assertEqual(found(ranks, []), [])

    def test_rank_that_sleeps_among_others_that_compete(self) -> None:
        """Recorded with four ranks on two processors."""
        ranks = [rank(r, 1.44, computing=0.16, collective=1.28, queued=0.79, processor=0.2) for r in range(3)]
        ranks.append(rank(3, 1.43, computing=1.29, collective=0.14, queued=0.27, processor=0.157))
        for each in ranks[:3]:
            each["waited_for"][3] = 0.92
        self.assertEqual([rule for rule, _ in found(ranks, [])], ["slow rank"])

    def test_lock_whose_holders_lose_the_processor(self) -> None:
        """A lock for each bucket, on a machine with more ranks than cores; one lock for all is told there, too."""
        ranks = [rank(r, 2, computing=1, locks=0.4, queued=1.5, processor=0.5) for r in range(4)]
        sites = [site("lock", "main (a.c:3)", r, 0.35, lock=7) for r in range(4)]
        self.assertEqual(found(ranks, sites), [])
        ranks = [rank(r, 2, computing=0.2, locks=1.8, queued=1.8, processor=0.2) for r in range(4)]
        sites = [site("lock", "main (a.c:3)", r, 1.8, lock=0) for r in range(4)]
        self.assertEqual([rule for rule, _ in found(ranks, sites)], ["lock contention"])

    def test_words_of_notations(self) -> None:
        ranks = [rank(r, 10, computing=5, locks=5) for r in range(2)]
        sites = [site("lock", "main (a.c:3)", r, 5, call="a lock of OpenMP") for r in range(2)]
        for notation, words in (
            ("OpenMP", "(clause reduction)"),
            ("Python", "hiroba.allreduce"),
            ("", "sms_reduce_double"),
        ):
            ((rule, text),) = found(ranks, sites, notation=notation)
            self.assertEqual(rule, "lock contention")
            self.assertIn("a lock of OpenMP, most at main (a.c:3): 200 times", text)
            self.assertIn(words, text)

    def test_small_tasks(self) -> None:
        ranks = [rank(r, 1, computing=1) for r in range(2)]
        for count, rules in ((500_000, ["tasks too small"]), (64, [])):
            sites = [site("task", "main (a.c:7)", r, 0.5, call="task of OpenMP", count=count) for r in range(2)]
            out = found(ranks, sites, notation="OpenMP")
            self.assertEqual([rule for rule, _ in out], rules)
            self.assertEqual(["grainsize" in text for _, text in out], [True] * len(rules))

    def test_short_collective_calls_that_nobody_waits_in(self) -> None:
        """Recorded on a quiet EPYC: what the calls compute is most of the time. Few calls are not told."""
        ranks = [rank(r, 0.41, computing=0.29, collective=0.08, coherence=0.03) for r in range(2)]
        for count, rules in ((200_000, ["collective in inner loop"]), (2_000, [])):
            call = {"call": "smint_reduce_double(+)", "count": count}
            sites = [site("barrier", "main (a.c:72)", r, 2.4e-7 * count, **call) for r in range(2)]
            self.assertEqual([rule for rule, _ in found(ranks, sites, notation="SMint")], rules)

    def test_division_inside_pages(self) -> None:
        ranks = [rank(r, 10, computing=2 + 2 * (r % 2), collective=7 - 2 * (r % 2), coherence=1) for r in range(4)]
        call = {"call": "sms_mapalloc({512,512}, {2,2}, 8, 0, 4)"}
        path = {"critical": {"computing": 2.0, "coherence": 2.0, "faults": 1.0}}
        sites = [site("barrier", "a.c:14", 0, 0.1, **call), site("barrier", "main (a.c:36)", 1, 9, **path)]
        sites += [site("coherence", "main (a.c:36)", r, 1) for r in range(4)]
        of_pages = array("a.c:14", 512, fetched=100000, invalidated=99000, bytes_sent=2**24)
        rules = found(ranks, sites, [of_pages])
        self.assertEqual([rule for rule, _ in rules], ["false sharing"])
        self.assertRegex(
            rules[0][1], "has 2,048 bytes of array `a.c:14` without a gap.* takes 30 % .*first dimension only"
        )
        call["call"] = "sms_mapalloc({512,512}, {4,1}, 8, 0, 4)"
        sites[0] = site("barrier", "a.c:14", 0, 0.1, **call)
        self.assertNotIn("without a gap", str(found(ranks, sites, [of_pages])))

    def test_serial_fill(self) -> None:
        ranks = [rank(0, 10, computing=8, coherence=1), *(rank(r, 10, computing=1, collective=8) for r in (1, 2, 3))]
        for each in ranks[1:]:
            each["waited_for"][0] = 8.0
        sites = [site("barrier", "main (a.c:9)", r, 8, waited_for={"0": 8}) for r in (1, 2, 3)]
        filled = array("u", 1000, rank=0, alone=700, bytes_sent=2**27)
        rules = found(ranks, sites, [filled])
        self.assertEqual([rule for rule, _ in rules], ["serial fill"])
        self.assertRegex(rules[0][1], r"^rank 0 alone fills array `u`.* they wait for it 24.00 s, longest in main")

    def test_imbalance_with_more_ranks_than_processors(self) -> None:
        own = (1.0, 3.0, 5.0, 7.0)
        ranks = [
            rank(r, 32, computing=4 * own[r], collective=32 - 4 * own[r], processor=own[r], queued=20) for r in range(4)
        ]
        for each in ranks[:3]:
            each["waited_for"][3] = 32 - 4 * own[each["rank"]]
        sites = [site("barrier", "main (a.c:10)", r, 10, waited_for={"3": 10}) for r in range(3)]
        rules = found(ranks, sites)
        self.assertEqual([rule for rule, _ in rules], ["load imbalance"])
        self.assertIn("have waited for a processor for 62 % of their time", rules[0][1])

    def test_barriers_of_other_ranks(self) -> None:
        """Ranks that compute for equally long in all, one before each of two barriers, wait at both."""

        def turns(late: float) -> list[tuple[str, str]]:
            ranks = [rank(r, 2 + late, computing=2, collective=late) for r in range(2)]
            sites = []
            for r in range(2):
                ranks[r]["waited_for"][1 - r] = late
                line = f"main (a.c:{5 + r})"
                sites.append(site("barrier", line, 1 - r, late, waited_for={str(r): late}))
                sites.append(site("barrier", line, r, 0, critical={"computing": 1 + late / 2}))
            return found(ranks, sites)

        rules = turns(1.5)
        self.assertEqual([rule for rule, _ in rules], ["load imbalance"] * 2)
        for r in range(2):
            text = next(sentence for _, sentence in rules if f"a.c:{5 + r}" in sentence)
            self.assertRegex(text, rf"^rank {r} computes for .*, [2-9][0-9.]* times as long as the others")
        self.assertEqual(turns(0.05), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
