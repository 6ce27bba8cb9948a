#!/usr/bin/env python3
"""What tools/mutants.py changes in a source, and what it leaves alone."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import mutants  # noqa: E402


class Mutants(unittest.TestCase):
    def changed(self, line: str) -> list[str]:
        return [mutant.after for mutant in mutants.mutants_of(line)]

    def test_each_change_is_a_mutant_of_its_own(self) -> None:
        self.assertEqual(
            self.changed("  if (a < b && c) ++n;"),
            [
                "  if (a <= b && c) ++n;",
                "  if (a < b || c) ++n;",
                "  if (a < b && c) --n;",
                "  if (!(a < b && c)) ++n;",
            ],
        )
        self.assertEqual(self.changed("  return n + 1;"), ["  return n;", "  return n - 1;"])

    def test_statements_are_dropped_and_declarations_stay(self) -> None:
        self.assertEqual(self.changed("  puts.forget(rank);"), ["  ;"])
        self.assertEqual(self.changed("  if (full) queue.pop();"), ["  if (!(full)) queue.pop();", "  if (full) ;"])
        self.assertEqual(self.changed("  count = other;"), ["  ;"])
        self.assertEqual(self.changed("  const Guard guard(lock);"), [])

    def test_text_and_comments_stay(self) -> None:
        self.assertEqual(self.changed("  // a < b"), [])
        self.assertEqual(self.changed('  say("a < b", c);  // x == y'), ["  ;  // x == y"])
        self.assertEqual(self.changed("  assert(a < b);"), [])

    def test_every_file_that_is_named_exists_and_has_mutants(self) -> None:
        for name in mutants.TESTS:
            text = (mutants.ROOT / name).read_text()
            self.assertTrue(mutants.mutants_of(text), name)


if __name__ == "__main__":
    unittest.main()
