"""The tests that are left out of `./dev test` are those that repeat others, and only those."""

import unittest

from covering import Test, covering
from run import chosen

RUN = ["/usr/b/bin/hirobarun", "-n"]


def job(name: str, ranks: int, nodes: int, *words: str, environment: tuple[str, ...] = ()) -> Test:
    return Test(name, [*RUN, str(ranks), "--nodes", str(nodes), *words], list(environment))


def app(name: str, *words: str) -> Test:
    return Test(name, ["/usr/bin/bash", "/usr/s/apps/md/test.sh", "/usr/b/bin", *words])


class Sets(unittest.TestCase):
    def test_the_rest_is_what_all_adds(self) -> None:
        def test(name: str, *labels: str) -> Test:
            return Test(name, [*RUN, "1", "/usr/b/bin/program", name], labels=list(labels))

        tests = [
            test("kind.a"),
            test("kind.only_all", "all"),
            test("kind.one", "apart"),
            test("kind.many", "together"),
            test("kind.misuse", "longer"),
            test("kind.host", "hosts"),
        ]
        once = {found.name for found in chosen(tests, False, False)}
        rest = {found.name for found in chosen(tests, False, False, True)}
        self.assertEqual(once, {"kind.a", "kind.many", "kind.misuse"})
        self.assertEqual(rest, {"kind.only_all", "kind.misuse"})


class Covering(unittest.TestCase):
    def left_out(self, *tests: Test) -> set[str]:
        chosen = covering(tests)
        for test in tests:
            others = [other.covers()[0] for other in tests if other.name in chosen]
            self.assertLessEqual(test.covers()[0], set().union(*others), test.name)
        return {test.name for test in tests} - chosen

    def test_the_same_case_in_another_shape(self) -> None:
        shapes = [job(f"races.lock.{n}.{m}", n, m, "/usr/b/races", "lock") for n, m in ((2, 1), (2, 2), (3, 1), (3, 3))]
        self.assertEqual(self.left_out(*shapes), {"races.lock.2.2", "races.lock.3.1"})

    def test_another_case_program_or_variable(self) -> None:
        first = job("a.b.one", 2, 2, "/usr/b/races", "lock")
        self.assertEqual(self.left_out(first, job("a.b.two", 2, 2, "/usr/b/races", "queue")), set())
        self.assertEqual(self.left_out(first, job("a.b.two", 2, 2, "/usr/b/homes", "lock")), set())
        over_ucx = job("a.b.two", 2, 2, "/usr/b/races", "lock", environment=("HIROBA_TRANSPORT=ucx",))
        self.assertEqual(self.left_out(first, over_ucx), {"a.b.one"})

    def test_shapes_and_wires_once_for_all_programs_of_a_kind(self) -> None:
        shapes = ((2, 1), (2, 2), (3, 2))
        tests = [job(f"a.{p}.{n}.{m}", n, m, f"/usr/b/{p}") for p in ("races", "homes", "heap") for n, m in shapes]
        tests += [
            job(f"a.{p}.ucx", 2, 2, f"/usr/b/{p}", environment=("HIROBA_TRANSPORT=ucx",)) for p in ("races", "homes")
        ]
        left_out = self.left_out(*tests)
        self.assertEqual(len(left_out), len(tests) - 3)
        self.assertLess(len({"a.races.ucx", "a.homes.ucx"} & left_out), 2)

    def test_a_wire_is_used_between_nodes(self) -> None:
        wire = ("HIROBA_TRANSPORT=ucx",)
        tests = [job(f"a.p.{nodes}", 2, nodes, "/usr/b/p", "--all", environment=wire) for nodes in (1, 2)]
        tests.append(job("a.q.1", 2, 1, "/usr/b/q"))
        tests.append(Test("a.p.3", [*RUN, "2", "--nodes", "2", "/usr/b/p", "--clock"], list(wire), ["timing"]))
        self.assertEqual(self.left_out(*tests), {"a.p.1"})

    def test_numbers_mean_nothing(self) -> None:
        tests = [job(f"a.p.{seed}", 2, 2, "/usr/b/p", "--seed", str(seed)) for seed in (1, 2)]
        self.assertEqual(self.left_out(*tests), {"a.p.2"})
        caches = [
            job(f"a.p.{size}", 2, 2, "/usr/b/p", environment=(f"HIROBA_CACHE={size}", "HIROBA_TIMEOUT=3"))
            for size in ("1M", "256K")
        ]
        self.assertEqual(self.left_out(*caches), {"a.p.256K"})

    def test_a_wire_is_all_its_variables(self) -> None:
        wires = (("mpi", "openmpi"), ("mpi", "mpich"), ("armci", "mpich"))
        tests = [
            job(f"a.b.{wire}.{mpi}", 2, 2, "/usr/b/p", environment=(f"HIROBA_TRANSPORT={wire}", f"HIROBA_MPI={mpi}"))
            for wire, mpi in wires
        ]
        self.assertEqual(self.left_out(*tests), set())

    def test_variants_and_rank_counts_of_an_application(self) -> None:
        shapes = ["serial", *(f"hiroba-{n}-{t}" for n in (1, 2, 3, 4) for t in (1, 2)), "mpi-2", "mpi-3", "auto-2-1-2"]
        tests = [app(f"md-same-{shape}", "same", shape) for shape in shapes]
        chosen = covering(tests)
        for variant in ("serial", "hiroba", "mpi", "auto"):
            self.assertTrue(any(f"-{variant}" in name for name in chosen), variant)
        ranks = {test.covers()[1].ranks for test in tests if test.name in chosen}
        self.assertEqual(ranks, {1, 2, 3, 4})
        self.assertLess(len(chosen), 7)

    def test_each_test_of_what_is_not_a_shape(self) -> None:
        tests = [app(f"md-notices-{n}", "notices", "a.c", old, "0") for n, old in enumerate(("x + 1", "x + 2"))]
        self.assertEqual(self.left_out(*tests), set())


if __name__ == "__main__":
    unittest.main()
