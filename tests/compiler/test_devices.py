"""Loops of SMint on devices: right answers on host devices, with both kinds of directives, what --explain says, and
what ends the job. `test_devices.py --update` writes the .expected file anew, as in test_golden.py."""

import os
import sys
import unittest

from compiling import HERE, HIROBARUN, CompilerTest, Ended, execute, lines_of_user, shapes

UPDATE = "--update" in sys.argv

FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror")
DIRECTIVES = {
    "acc": ("-fopenacc", "acc parallel loop"),
    "kernels": ("-fopenacc", "acc kernels loop"),
    "omp": ("-fopenmp", "omp target teams distribute parallel for"),
    "none": ("-Wno-unknown-pragmas", "acc parallel loop"),  # this compiler does not translate them
}
PROGRAMS = {
    "stencil": tuple(DIRECTIVES),
    "kinds": tuple(DIRECTIVES),
    "reductions": tuple(DIRECTIVES),
    "reductions_of_arrays": ("omp",),  # OpenACC has none
}
SHAPES = (  # ranks, nodes, devices of each node, seed of chaos, option check
    (1, 1, 1, 0, "no"),
    (1, 1, 2, 3, "no"),
    (1, 1, 3, 0, "no"),
    (2, 1, 4, 5, "no"),
    (2, 2, 1, 0, "yes"),
    (2, 2, 3, 0, "no"),
    (3, 2, 4, 7, "yes"),
    (3, 3, 2, 0, "no"),
)
LOOP = """#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100], b[100];
int main(int n, char** words) {
#pragma SMint parallel for device(2)
#pragma acc parallel loop
  for (int i = 0; i < 90; i++) { BODY }
  return words == 0 || n < 0;
}
"""


class DeviceLoops(CompilerTest):
    def translate(self, name: str, kind: str, count: int) -> str:
        """Returns the program, which is compiled once."""
        flag, directive = DIRECTIVES[kind]
        program = f"{name}-{kind}{count}"
        if (self.folder / program).exists():
            return program
        text = (HERE / "devices" / f"{name}.c").read_text().replace("#pragma DIRECTIVE", f"#pragma {directive}")
        text = text.replace("../golden/", f"{HERE}/golden/")
        self.write(f"{program}.c", text)
        self.compiled(*FLAGS, flag, f"-DCOUNT={count}", f"{program}.c", "-o", program)
        return program

    def run_on(self, program: str, *options: object) -> Ended:
        job = [HIROBARUN, "--threads", "1", "--timeout", "30", *map(str, options), f"./{program}"]
        return execute(job, self.folder, env={k: v for k, v in os.environ.items() if k != "HIROBA_DEVICES"})

    def test_answers(self) -> None:
        for name, kinds in PROGRAMS.items():
            for kind in kinds:
                for ranks, nodes, devices, chaos, check in shapes(f"{name}-{kind}", SHAPES):
                    each = max(devices * nodes // ranks, 1)
                    program = self.translate(name, kind, each)
                    with self.subTest(program, ranks=ranks, nodes=nodes, devices=devices, chaos=chaos, check=check):
                        options = ["-n", ranks, "--nodes", nodes, "--devices", f"host:{devices}", "--chaos", chaos]
                        ended = self.run_on(program, *options, "--check", check)
                        self.assertEqual((ended.returncode, ended.stdout), (0, "OK\n"), ended.stderr)
                        self.assertNotIn(" race ", ended.stderr)

    def test_golden(self) -> None:
        """What becomes of a loop with reductions."""
        program = self.translate("reductions_of_arrays", "omp", 1)
        shown = self.compiled("--show", *FLAGS, "-fopenmp", "-DCOUNT=1", f"{program}.c").stdout
        lines = lines_of_user(shown, f"{program}.c").replace(f"{program}.c", "reductions_of_arrays.c")
        expected = HERE / "devices/reductions_of_arrays.expected"
        if UPDATE:
            expected.write_text(lines)
        self.assertEqual(lines, expected.read_text(), "if this is right: test_devices.py --update")

    def test_explains(self) -> None:
        self.write("loop.c", LOOP.replace("BODY", "b[i] = a[i] + a[i + 1];"))
        shown = self.compile(*FLAGS, "-fopenacc", "--explain", "-c", "loop.c").stderr
        for line in (
            "loop.c:5:1: parallel for over `i`, on devices",
            "who: 2 devices of each rank share its iterations by their speed",
            "what: `b[i]` goes to the device before it, and comes back: what these iterations use of `b`",
            "what: `a[i]` goes to the device: what these iterations use of `a`",
        ):
            self.assertIn(line, shown)
        clause = LOOP.replace("device(2)", "device(2) reduction(+ : n)")
        self.write("loop.c", clause.replace("BODY", "b[i] = a[i], n += i;"))
        shown = self.compile(*FLAGS, "-fopenacc", "--explain", "-c", "loop.c").stderr
        self.assertIn("reduction: `n` by + over the devices of each rank, and all ranks", shown)

    def refused(self, body: str, message: str, devices: str = "host:2", clause: str = "") -> None:
        self.write("loop.c", LOOP.replace("BODY", body).replace("parallel for ", f"parallel for {clause}"))
        self.compiled(*FLAGS, "-fopenacc", "loop.c", "-o", "loop")
        ended = self.run_on("loop", "-n", 1, "--devices", devices)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("loop.c:5: ", ended.stderr)
        self.assertIn(message, ended.stderr)

    def test_ends_the_job(self) -> None:
        """What is wrong only in this run."""
        few = "2 devices are wanted, and this rank has 1; say fewer, or give each node more with hirobarun --devices"
        self.refused("b[i] = a[i];", few, "host:1")
        self.refused("b[i] = a[i];", few.replace("has 1", "has 0"), "none")
        self.refused("if (i > 0) b[i] = a[i - 1];", "`a[i - 1]` leads out of its array; subscripts count for all")
        said = "different iterations write the same rows"
        self.refused("for (int k = 0; k < 3; k++) b[i + k] = a[i];", said, clause="independent ")
        said = "`b[n - i]` and `b[i]` are written, and it is not known that"
        self.refused("b[i] = 1, b[n - i] = 2;", said, clause="independent ")
        self.refused("b[i] = b[i + n];", "iterations depend on each other: `b[i]` is written")


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--update"])
