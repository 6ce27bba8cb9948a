"""Installs to a temporary folder, moves it, and builds and runs a ten-line C program against it outside the tree: with
pkg-config, statically, with find_package; then against the build folder in place, by way of `./dev env`. Every public
header must also compile alone, as C and as C++. Called by ctest (see CMakeLists.txt)."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = """#include <sms.h>
#include <stdio.h>
int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  int* sum = sms_alloc(sizeof *sum, 1, 0);
  sms_fetch_add32(sum, sms_rank + 1);
  sms_barrier();
  if (sms_rank == 0) printf("sum %d over %d\\n", *sum, sms_nprocs);
  return sms_shutdown();
}
"""

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(Stranger LANGUAGES C CXX)
find_package(Hiroba 0.2 REQUIRED)
add_executable(shared program.c)
target_link_libraries(shared PRIVATE Hiroba::hiroba)
add_executable(static program.c)
target_link_libraries(static PRIVATE Hiroba::hiroba_static)
enable_testing()
add_test(NAME ranks COMMAND Hiroba::hirobarun -n 3 $<TARGET_FILE:shared>)
set_tests_properties(ranks PROPERTIES PASS_REGULAR_EXPRESSION "sum 6 over 3")
"""

SPARSE = """#include <sms.h>
#include <sparse.h>
#include <stdio.h>
static int64_t row(int64_t i, int64_t* columns, void* values, void* context) {
  (void)context;
  columns[0] = i;
  *(double*)values = 2;
  return 1;
}
int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  hiroba_linop a = hiroba_linop_from_rows(HIROBA_DOUBLE, 30, 1, row, 0, HIROBA_SYMMETRIC);
  double* x = hiroba_linop_vector(a);
  double* y = hiroba_linop_vector(a);
  hiroba_linop_facts mine = hiroba_linop_look(a);
  for (int64_t i = 0; i < mine.count; i++) x[mine.first + i] = 21;
  hiroba_linop_apply(a, x, y);
  sms_barrier();
  if (sms_rank == 0) printf("y %g over %d\\n", y[29], sms_nprocs);
  sms_free(x), sms_free(y);
  hiroba_linop_free(&a);
  return sms_shutdown();
}
"""

SPARSE_PROJECT = """cmake_minimum_required(VERSION 3.25)
project(Stranger LANGUAGES C CXX)
find_package(Hiroba 0.2 REQUIRED)
foreach(kind hiroba_sparse hiroba_sparse_static)
  add_executable(with_${kind} sparse.c)
  target_link_libraries(with_${kind} PRIVATE Hiroba::${kind})
endforeach()
"""

DIRECTIVES = """#include <smint.h>
#include <stdio.h>
#pragma SMint shared ::[NPROCS](0,NPROCS)
int a[100];
int main(void) {
  int sum = 0;
#pragma SMint parallel for
  for (int i = 0; i < 100; i++) a[i] = i;
#pragma SMint parallel for reduction(+:sum)
  for (int i = 0; i < 100; i++) sum += a[99 - i];
  if (MYPID == 0) printf("sum %d\\n", sum);
  return 0;
}
"""

DIRECTIVES_PROJECT = """cmake_minimum_required(VERSION 3.25)
project(Stranger LANGUAGES C)
find_package(Hiroba 0.2 REQUIRED)
hiroba_add_executable(directives directives.c)
"""

arguments = argparse.Namespace()


def run(command: list[str], where: Path, environment: dict[str, str] | None = None) -> str:
    """The output of a command that must succeed."""
    result = subprocess.run(
        command, cwd=where, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\nended with {result.returncode}:\n{result.stdout}")
    return result.stdout


def clean_environment() -> dict[str, str]:
    """Ours, without what would lead a compiler or pkg-config back into the tree."""
    paths = ("CPATH", "LIBRARY_PATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH")
    return {name: value for name, value in os.environ.items() if name not in paths}


class InstallTest(unittest.TestCase):
    folder: Path
    prefix: Path
    environment: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="hiroba-install-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        first = cls.folder / "first"
        run([arguments.cmake, "--install", arguments.build, "--prefix", str(first)], cls.folder)
        cls.prefix = first.rename(cls.folder / "moved")
        pkgconfig = next(cls.prefix.glob("lib*/**/hiroba.pc")).parent
        cls.environment = clean_environment() | {
            "PKG_CONFIG_PATH": str(pkgconfig),
            "LD_LIBRARY_PATH": str(pkgconfig.parent),
            "PATH": f"{cls.prefix / 'bin'}:{os.environ['PATH']}",
        }
        (cls.folder / "program.c").write_text(PROGRAM)

    def compile_and_run(self, name: str, environment: dict[str, str], *options: str) -> None:
        pkgconfig = ["pkg-config", *(["--static"] if "-static" in options else []), "--cflags", "--libs", "hiroba"]
        flags = run(pkgconfig, self.folder, environment).split()
        run([arguments.cc, *options, "program.c", "-o", name, *flags], self.folder, environment)
        self.assertEqual(run([f"./{name}"], self.folder, environment), "sum 1 over 1\n")
        self.assertEqual(run(["hirobarun", "-n", "3", f"./{name}"], self.folder, environment), "sum 6 over 3\n")

    def test_pkg_config(self) -> None:
        self.compile_and_run("with_pkg_config", self.environment)

    def test_run_path_and_folder_of_headers(self) -> None:
        """A fresh shell runs what pkg-config has linked, and <hiroba/sms.h> is <sms.h>."""
        flags = run(["pkg-config", "--cflags", "--libs", "hiroba"], self.folder, self.environment).split()
        program = PROGRAM.replace("<sms.h>", "<hiroba/sms.h>")
        self.assertNotEqual(program, PROGRAM)
        (self.folder / "folder.c").write_text(program)
        run([arguments.cc, "folder.c", "-o", "folder", *flags], self.folder, self.environment)
        self.assertEqual(run(["./folder"], self.folder, clean_environment()), "sum 1 over 1\n")
        self.assertFalse((self.prefix / "include/hiroba/mpc.h").exists(), "it would hide GNU MPC's")

    def test_pkg_config_static(self) -> None:
        self.compile_and_run("linked_statically", self.environment, "-static")

    def test_tree_in_place(self) -> None:
        # ./dev env speaks of build/dev; another build folder has no such lines.
        if Path(arguments.build) != Path(arguments.source) / "build" / "dev":
            self.skipTest("not the folder that ./dev env names")
        lines = run([f"{arguments.source}/dev", "env"], self.folder, clean_environment()).splitlines()
        lines = [line for line in lines if not line.startswith("dev: ")]  # on stderr, of Python without NumPy
        self.assertTrue(lines and all(line.startswith("export ") for line in lines), lines)
        shell = ["bash", "-c", f'eval "$({arguments.source}/dev env)" && env -0']
        settings = run(shell, self.folder, clean_environment()).split("\0")
        environment = dict(setting.split("=", 1) for setting in settings if "=" in setting)
        self.compile_and_run("in_place", environment)
        run([arguments.cc, "program.c", "-o", "bare", "-lhiroba"], self.folder, environment)
        self.build_project("project_in_place", environment, [])

    def build_project(self, name: str, environment: dict[str, str], options: list[str]) -> None:
        project = self.folder / name
        project.mkdir()
        (project / "program.c").write_text(PROGRAM)
        (project / "CMakeLists.txt").write_text(PROJECT)
        configure = [arguments.cmake, "-S", ".", "-B", "build", "-G", "Ninja", *options]
        compilers = [f"-DCMAKE_C_COMPILER={arguments.cc}", f"-DCMAKE_CXX_COMPILER={arguments.cxx}"]
        run(configure + compilers, project, environment)
        run([arguments.cmake, "--build", "build"], project, environment)
        self.assertEqual(run(["build/static"], project, environment), "sum 1 over 1\n")
        run(["ctest", "--test-dir", "build", "--output-on-failure"], project, environment)

    def test_sparse(self) -> None:
        """A library of its own, which brings the other: by pkg-config, statically, by find_package, by hirobacc."""
        project = self.folder / "sparse"
        project.mkdir()
        (project / "sparse.c").write_text(SPARSE)
        (project / "CMakeLists.txt").write_text(SPARSE_PROJECT)
        # A fresh shell knows neither library's folder.
        fresh = clean_environment() | {"PATH": self.environment["PATH"]}
        for options in ([], ["-static"]):
            flags = ["pkg-config", *(["--static"] if options else []), "--cflags", "--libs", "hiroba_sparse"]
            words = run(flags, project, self.environment).split()
            run([arguments.cc, *options, "sparse.c", "-o", "program", *words], project, fresh)
            self.assertEqual(run(["hirobarun", "-n", "3", "./program"], project, fresh), "y 42 over 3\n")
        configure = [arguments.cmake, "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}"]
        run([*configure, f"-DCMAKE_C_COMPILER={arguments.cc}", f"-DCMAKE_CXX_COMPILER={arguments.cxx}"], project, fresh)
        run([arguments.cmake, "--build", "build"], project, fresh)
        programs = ["build/with_hiroba_sparse", "build/with_hiroba_sparse_static"]
        if (self.prefix / "bin" / "hirobacc").exists():
            for options in ([], ["-static"]):
                programs.append(f"./by_hirobacc{''.join(options)}")
                run(["hirobacc", *options, "sparse.c", "-o", programs[-1]], project, fresh)
        for program in programs:
            output = run(["hirobarun", "-n", "2", "--nodes", "2", program], project, fresh)
            self.assertEqual(output, "y 42 over 2\n", program)

    def test_libhiroba_blas_shows_only_fortran(self) -> None:
        """A copy of a function of libhiroba in it would be called in the place of that."""
        library = next(self.prefix.glob("lib*/**/libhiroba_blas.so"))
        shown = run(["nm", "-DC", "--defined-only", str(library)], self.folder)
        self.assertIn("daxpy_", shown)
        self.assertNotIn("hiroba::", shown)

    def test_find_package(self) -> None:
        # Without any path of ours but the one that find_package is given.
        self.build_project("project", clean_environment(), [f"-DCMAKE_PREFIX_PATH={self.prefix}"])

    def test_hirobacc(self) -> None:
        if not (self.prefix / "bin" / "hirobacc").exists():
            self.skipTest("hirobacc was not built: this Python lacks tree_sitter")
        project = self.folder / "directives"
        project.mkdir()
        (project / "directives.c").write_text(DIRECTIVES)
        (project / "CMakeLists.txt").write_text(DIRECTIVES_PROJECT)
        environment = clean_environment() | {"PATH": self.environment["PATH"]}
        run(["hirobacc", "-O2", "-Wall", "-Werror", "directives.c", "-o", "alone"], project, environment)
        for compiler, build in ((arguments.cc, "build"), (f"{self.prefix}/bin/hirobacc", "build-by-hirobacc")):
            options = [f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_C_COMPILER={compiler}"]
            run([arguments.cmake, "-S", ".", "-B", build, "-G", "Ninja", *options], project, environment)
            run([arguments.cmake, "--build", build], project, environment)
        for program in ("./alone", "build/directives", "build-by-hirobacc/directives"):
            output = run(["hirobarun", "-n", "3", "--nodes", "2", program], project, environment)
            self.assertEqual(output, "sum 4950\n")

    def test_power(self) -> None:
        self.assertIn("--table", run(["hiroba", "power", "spread", "--help"], self.folder, self.environment))
        words = ["--devices", "host:1", "--repeat", "1", "--seconds", "0.01", "--size", "16", "--mebibytes", "1"]
        self.assertIn(
            "product: seconds from", run(["hiroba", "power", "spread", *words], self.folder, self.environment)
        )

    def test_overlap(self) -> None:
        sources = self.prefix / "share" / "hiroba" / "overlap"
        names = {path.name for path in sources.iterdir()}
        self.assertLessEqual({"README.md", "common.h", "hiroba.c", "run.py"}, names)
        self.assertFalse(
            names & {"advice_test.py", "program_test.py", "damaged.c", "CMakeLists.txt", "__pycache__"}, names
        )
        self.assertIn("--like", run(["hiroba", "overlap", "--help"], self.folder, self.environment))
        if shutil.which("mpicc") is None or shutil.which("mpirun.openmpi") is None:
            self.skipTest("there is no Open MPI")
        program = [str(sources / name) for name in ("mpi.c", "common.c", "options.c")]
        strict = ["-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror"]
        run(["mpicc", *strict, *program, "-o", "mpi"], self.folder, self.environment)
        few = ["--modes", "normal", "--placement", "full", "--collectives", "barrier", "--libraries", "openmpi"]
        output = run(["hiroba", "overlap", "--small", *few], self.folder, self.environment)
        self.assertIn("kept in overlap/overlap_small.json", output)

    def test_eigenvalues(self) -> None:
        words = ["--generate", "laplace2d:20", "--smallest", "3", "--quiet", "--json"]
        output = run(["hirobarun", "-n", "2", "hiroba-eigen", *words], self.folder, self.environment)
        self.assertEqual(len(json.loads(output)["eigenvalues"]), 3)

    def test_headers_stand_alone(self) -> None:
        headers = sorted((self.prefix / "include" / "hiroba").rglob("*.h*"), key=lambda header: header.name)
        self.assertEqual(
            [header.name for header in headers],
            sorted(path.name for path in Path(arguments.source, "include", "hiroba").rglob("*.h*")),
        )
        strict = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]
        for header in headers:
            if header.name in ("hiroba_mpi.h", "task_mpi.h"):  # need the header of an MPI, which not every machine has
                continue
            with self.subTest(header=header.name):
                if header.suffix == ".h":
                    run([arguments.cc, "-x", "c", "-std=c99", *strict, str(header)], self.folder)
                    run([arguments.cxx, "-x", "c++", "-std=c++11", *strict, str(header)], self.folder)
                else:
                    run(
                        [arguments.cxx, "-x", "c++", "-std=c++20", *strict, "-include", str(header), os.devnull],
                        self.folder,
                    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("source", "build", "cmake", "cc", "cxx"):
        parser.add_argument(f"--{option}", required=True)
    parser.parse_known_args(namespace=arguments)
    unittest.main(argv=[sys.argv[0], "-v"])
