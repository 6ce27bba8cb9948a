"""history.py against itself: on random small histories, right and wrong, both of its ways come to the same judgement.

Each history is made by a memory that takes snapshots, with mistakes: attempts may read an older moment, or a commit may
be lost from the view of others.
"""

from __future__ import annotations

import random
import unittest

import history
from history import AnomalyError, Attempt, History


def attempt_of(dice: random.Random, moments: list[dict[int, int]], thread: int, begin: int) -> Attempt:
    """Reads values of one moment or, by mistake, of two."""
    moment = moments[-1 - dice.randrange(min(3, len(moments)))]
    other = moments[-1 - dice.randrange(min(3, len(moments)))] if dice.random() < 0.3 else moment
    attempt = Attempt(thread, begin)
    for variable in dice.sample(range(3), dice.randrange(1, 4)):
        attempt.reads.append((variable, (moment if dice.random() < 0.5 else other).get(variable, 0)))
    return attempt


def make(dice: random.Random) -> History:
    moments: list[dict[int, int]] = [{}]
    out: History = []
    for number in range(dice.randrange(2, 7)):
        begin = 10 * number - dice.randrange(30)
        attempt = attempt_of(dice, moments, number % 3, begin)
        attempt.end = begin + dice.randrange(1, 40)
        attempt.committed = dice.random() < 0.8
        for variable, value in attempt.reads:
            if dice.random() < 0.5:
                version = (value >> history.VERSION_SHIFT) + 1
                attempt.writes[variable] = version << history.VERSION_SHIFT | number + 1
        if attempt.committed:
            moments.append({**moments[-1], **attempt.writes})
        out.append(attempt)
    return out


def judgement(attempts: History) -> bool:
    try:
        history.judge_long(attempts)
    except AnomalyError:
        return False
    return True


class Judgements(unittest.TestCase):
    def test_the_graph_and_the_search_agree(self) -> None:
        dice = random.Random(1)
        count = {True: 0, False: 0}
        for _ in range(5000):
            attempts = make(dice)
            right = judgement(attempts)
            self.assertEqual(right, history.has_order(attempts), "\n".join(map(str, attempts)))
            count[right] += 1
        self.assertGreater(min(count.values()), 500)

    def test_a_transaction_that_has_ended_comes_before_one_that_begins_later(self) -> None:
        write = Attempt(1, 0, 10, True, [(0, 0)], {0: 1 << history.VERSION_SHIFT | 1})
        for begin, right in ((5, True), (11, False)):
            late = Attempt(2, begin, 20, True, [(0, 0)])
            self.assertEqual(judgement([write, late]), right)
            self.assertEqual(history.has_order([write, late]), right)

    def test_an_aborted_attempt_counts(self) -> None:
        write = Attempt(1, 0, 10, True, [(0, 0), (1, 0)], dict.fromkeys((0, 1), 1 << history.VERSION_SHIFT | 1))
        torn = Attempt(2, 0, 20, False, [(0, 0), (1, 1 << history.VERSION_SHIFT | 1)])
        self.assertFalse(judgement([write, torn]))
        self.assertFalse(history.has_order([write, torn]))


if __name__ == "__main__":
    unittest.main()
