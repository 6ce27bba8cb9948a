"""Runs the sets of tests that `./dev test` is about, and says in one sentence what ran and what to do next.

    run.py [--all | --rest] [--hosts] [--list] -- CTEST...

Without options: everything once, which covering.py chooses; without the tests that are for --all only (label all), and
without those over several test hosts (label hosts). A test with label apart runs with --all only; one with label
together does the same in fewer processes or with fewer words, and runs without --all only. With --rest: those tests of
--all that have not run without options, and those that do more then (label longer), but none with label apart. Tests
that look at a clock (label timing) and fail are repeated once, alone, when all have run; no other test is repeated.
CTEST is an invocation of ctest, to which options can be added.

A test that exits with 77 is skipped, and the last line that it has printed is the reason, which is told at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from covering import Test, covering


@dataclass
class Results:
    ran: int = 0
    skipped: dict[str, str] = field(default_factory=dict)  # and the reasons
    failed: list[str] = field(default_factory=list)
    seconds: float = 0

    def read(self, report: Path) -> None:
        """Adds what ctest writes as JUnit does."""
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            status = case.get("status")
            self.ran += 1
            name = case.get("name", "")
            if status == "notrun":
                said = (case.findtext("system-out") or "").strip().splitlines()
                self.skipped[name] = said[-1] if said else "it has not said why"
            if status == "fail":
                self.failed.append(name)

    def take_failed(self, names: set[str]) -> list[str]:
        """Takes out those of these tests that have failed, and returns them."""
        taken = [name for name in self.failed if name in names]
        self.failed = [name for name in self.failed if name not in names]
        self.ran -= len(taken)
        return taken


def listed(ctest: list[str]) -> list[Test]:
    """All tests, in the order of ctest's numbers."""
    text = subprocess.run([*ctest, "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    return [Test.of(entry) for entry in json.loads(text)["tests"]]


def without(tests: list[Test], *labels: str) -> list[Test]:
    return [test for test in tests if not set(labels).intersection(test.labels)]


def chosen(tests: list[Test], everything: bool, hosts: bool, rest: bool = False) -> list[Test]:
    here = tests if hosts else without(tests, "hosts")
    if rest:
        before = {test.name for test in chosen(tests, False, False) if "longer" not in test.labels}
        return [test for test in without(here, "together", "apart") if test.name not in before]
    if everything:
        return without(here, "together")
    here = without(here, "all", "apart")
    names = covering(without(here, "together"))
    return [test for test in here if test.name in names or "together" in test.labels]


def run(ctest: list[str], numbers: list[int], options: list[str], results: Results) -> int:
    """Runs the tests with these numbers. Returns the exit status of ctest."""
    if not numbers:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        which = ",".join(map(str, [0, 0, 1, *numbers]))  # test 0, which does not exist, and these
        words = [*ctest, *options, "--tests-information", which, "--output-junit", str(report)]
        status = subprocess.run(words, check=False).returncode
        if report.exists():
            results.read(report)
    return status


def amount(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sentence(results: Results, rest: int, hosts: bool) -> str:
    minutes = f"in {amount(max(1, round(results.seconds / 60)), 'minute')}"
    if results.failed:
        names = " ".join(results.failed[:5]) + (" .." if len(results.failed) > 5 else "")
        pattern = results.failed[0].replace(".", "[.]")
        return (
            f"{len(results.failed):,} of {amount(results.ran, 'test')} failed {minutes}: {names}; "
            f"./dev test -R '^{pattern}$' runs the first one again"
        )
    skipped = f" ({len(results.skipped)} skipped, for the reasons above)" if results.skipped else ""
    passed = f"{amount(results.ran - len(results.skipped), 'test')} passed {minutes}{skipped}"
    if rest == 0 and hosts:
        return f"{passed}; these are all tests but those of ctest -C long"
    if rest == 0:
        return f"{passed}; those over several test hosts, which take ten minutes more, run with --hosts"
    return f"{passed}; ./dev test --all runs the other {rest:,}: more wires, rank counts and sizes"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="also the tests that repeat what others cover")
    parser.add_argument("--rest", action="store_true", help="what --all adds to a run without options")
    parser.add_argument("--hosts", action="store_true", help="also those over several test hosts")
    parser.add_argument("--list", action="store_true", help="print the names of the tests, and run nothing")
    parser.add_argument("ctest", nargs="+")
    options = parser.parse_args()
    tests = listed(options.ctest)
    number_of = {test.name: number for number, test in enumerate(tests, 1)}
    wanted = chosen(tests, options.all, options.hosts, options.rest)
    if options.list:
        print("\n".join(test.name for test in wanted))
        return 0
    if not options.all and not options.rest:
        os.environ["TESTS_ONCE"] = "yes"  # for tests that run many programs in several shapes, or at random
    results, begun = Results(), time.monotonic()
    status = run(options.ctest, [number_of[test.name] for test in wanted], [], results)
    again = results.take_failed({test.name for test in wanted if "timing" in test.labels})
    if again:
        print(f"dev: again, alone, because they look at a clock: {' '.join(again)}", file=sys.stderr)
        repeated = run(options.ctest, [number_of[name] for name in again], ["--parallel", "1"], results)
        status = repeated or (status if results.failed or results.ran < len(wanted) else 0)
    results.seconds = time.monotonic() - begun
    for name, reason in sorted(results.skipped.items()):
        print(f"dev: skipped: {name}: {reason}", file=sys.stderr)
    left_out = {test.name for test in without(chosen(tests, True, False), "apart")} - {test.name for test in wanted}
    if options.rest:
        left_out.clear()
    print(f"dev: {sentence(results, len(left_out), options.hosts)}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
