"""Shared libraries of OpenMP programs: linked, and opened by dlopen()."""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from openmp_jobs import FOLDER, HIROBACC, OpenMPTest

SOURCES = Path(__file__).parent
SHAPES = (("2", "1"), ("2", "2"), ("3", "3"), ("3", "2"))
PLAIN = """
static int factor = 2;
void set_factor(int value) { factor = value; }
int get_factor(void) { return factor; }
"""
USES_PLAIN = """
void set_factor(int);
int get_factor(void);
int main(int argc, char** argv) {
  int sum = 0;
  if (argc > 1) set_factor(5);
#pragma omp parallel reduction(+ : sum)
  sum += get_factor();
  return 0;
}
"""
SWAP = """
static int word;
int swap(int value) {
  __asm__ volatile("xchg %0, %1" : "+r"(value), "+m"(word));
  return value;
}
"""
USES_SWAP = """
int swap(int);
int main(void) {
#pragma omp parallel
  swap(1);
}
"""


def wires() -> list[str]:
    files = (Path(HIROBACC).parent.parent / "lib" / "hiroba").glob("wire-*.so")
    return sorted({file.stem.removeprefix("wire-").split("-")[0] for file in files})


class LibrariesTest(OpenMPTest):
    def compile(self, *words: str) -> None:
        FOLDER.mkdir(exist_ok=True, parents=True)
        subprocess.run([HIROBACC, *words], check=True, timeout=300)

    def library(self, name: str, *flags: str) -> str:
        file = FOLDER / name
        cxx = ["--cc", "g++", "-fopenmp-nodes", "-g", "-O1", "-fPIC", "-shared"]
        self.compile(*cxx, str(SOURCES / "openmp_library.cpp"), *flags, "-o", str(file))
        return str(file)

    def plugin_main(self) -> str:
        program = str(FOLDER / "plugin_main")
        folder = "-Wl,-rpath,$ORIGIN/plugins"
        self.compile("-fopenmp-nodes", "-O1", str(SOURCES / "openmp_plugin_main.c"), folder, "-o", program)
        return program

    def build_with(self, name: str, text: str, library: str) -> str:
        return self.build(name, text, "-fopenmp-nodes", "-Wl,--no-as-needed", f"-Wl,-rpath,{FOLDER}", library)

    def plain_library(self, name: str, text: str, *command: str) -> str:
        FOLDER.mkdir(exist_ok=True, parents=True)
        source, file = FOLDER / f"{name}.c", FOLDER / f"lib{name}.so"
        source.write_text(text)
        subprocess.run([*command, "-g", "-fPIC", "-shared", str(source), "-o", str(file)], check=True, timeout=300)
        return str(file)

    def test_a_linked_library(self) -> None:
        library, program = self.library("libopenmp_library.so"), str(FOLDER / "library_main")
        main = str(SOURCES / "openmp_library_main.cpp")
        self.compile("--cc", "g++", "-fopenmp-nodes", "-O1", main, library, f"-Wl,-rpath,{FOLDER}", "-o", program)
        lines = ["constructed", "made once", "0 wrong, 499500, 4950, 0 not copied"]
        ends = ["destructed with 3 words", "late"]
        alone = subprocess.run([program], capture_output=True, text=True, timeout=300).stdout.splitlines()
        self.assertEqual(alone, [*lines, *reversed(ends)])
        for ranks, nodes in SHAPES:
            status, output = self.run_job("-n", ranks, "--nodes", nodes, "--threads", "2", program)
            self.assertEqual((status, output.splitlines()), (0, [*lines, *ends]))
        status, output = self.run_job("-n", "2", "--nodes", "2", "--threads", "1", "--check", "yes", program)
        self.assertEqual((status, output.splitlines()), (0, [*lines, *ends]))

    def test_a_plugin(self) -> None:
        program = self.plugin_main()
        (FOLDER / "plugins").mkdir(exist_ok=True)
        library = self.library("plugins/plugin.so")
        lines = ["constructed", "1 2, 499500, 4950", "destructed with 2 words", "late"]
        for ranks, nodes in SHAPES:
            for file in (library, "plugin.so"):
                status, output = self.run_job("-n", ranks, "--nodes", nodes, "--threads", "2", program, file)
                self.assertEqual((status, output.splitlines()), (0, lines))
        status, output = self.run_job("-n", "2", "--nodes", "2", "--threads", "1", "--check", "yes", program, library)
        self.assertEqual((status, output.splitlines()), (0, lines))
        status, output = self.run_job("-n", "2", program, library, "in_region")
        self.assertEqual(status, 1, output)
        self.assertIn("plugin.so, a library of the program, in a parallel region", output)
        status, output = self.run_job("-n", "2", "--nodes", "2", program, library, "copies")
        self.assertEqual(status, 1, output)
        self.assertIn("which dlopen() has opened, copies a threadprivate variable of main", output)

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_a_plain_plugin_that_a_region_calls(self) -> None:
        text = """
#include <dlfcn.h>
int main(int c, char** v) {
  int (*function)(int) = (int (*)(int))dlsym(dlopen(v[1], RTLD_NOW), "twice");
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 8; ++i) sum += c > 2 ? function(i) : 2 * i;
  return sum == function(28) ? 0 : 3;
}
"""
        plugin = self.plain_library("twice", "int twice(int x) { return 2 * x; }", "gcc")
        program = self.build("calls_plain_plugin", text, "-fopenmp-nodes")
        self.assertEqual(self.run_job("-n", "2", "--nodes", "2", program, plugin), (0, ""))
        status, output = self.run_job("-n", "2", "--nodes", "2", program, plugin, "in_region")
        self.assertNotEqual(status, 0, output)
        self.assertIn("libtwice.so, which main has opened by dlopen() (link it by hirobacc", output)

    def test_two_libraries_at_one_address(self) -> None:
        place = "-Wl,-Ttext-segment=0x208200000000"
        first, second = self.library("libfirst.so", place), self.library("libsecond.so", place)
        text = "#include <dlfcn.h>\nint main(int c, char** v) { while (*++v) if (!dlopen(*v, RTLD_NOW)) return 3; }"
        program = self.build("opens_two", text, "-fopenmp-nodes")
        self.assertEqual(self.run_job("-n", "2", program, first)[0], 0)
        status, output = self.run_job("-n", "2", program, first, second)
        self.assertEqual(status, 1, output)
        self.assertIn("libsecond.so lies at", output)
        self.assertIn("link one of them for others, as by -Wl,-Ttext-segment=0x208210000000", output)

    def test_an_instruction_in_a_library(self) -> None:
        library = self.plain_library("swap", SWAP, HIROBACC, "-fopenmp-nodes")
        status, output = self.run_job("-n", "2", "--nodes", "2", self.build_with("uses_swap", USES_SWAP, library))
        self.assertEqual(status, 1, output)
        self.assertIn("an atomic operation of the program is an instruction, in swap (swap.c:4)", output)

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_variables_of_a_plain_library_that_main_changes(self) -> None:
        program = self.build_with("uses_plain", USES_PLAIN, self.plain_library("plain", PLAIN, "gcc"))
        for transport in ("shm", *wires()):  # whose own libraries main does not know
            self.assertEqual(self.run_job("-n", "2", "--nodes", "2", "--transport", transport, program), (0, ""))
        status, output = self.run_job("-n", "2", "--nodes", "2", program, "changes")
        self.assertEqual(status, 0, output)
        self.assertEqual(output.count("main has changed variables of"), 1, output)
        self.assertIn("libplain.so, which are each rank's own", output)

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_a_program_that_is_not_for_nodes(self) -> None:
        library = self.plain_library("nodes", PLAIN, HIROBACC, "-fopenmp-nodes")
        words = ["gcc", "-fopenmp", "-x", "c", "-", "-x", "none", library, f"-Wl,-rpath,{FOLDER}"]
        program = str(FOLDER / "gcc_alone")
        subprocess.run([*words, "-o", program], input=USES_PLAIN, text=True, check=True, timeout=300)
        self.assertEqual(subprocess.run([program], timeout=300).returncode, 0)
        self.assertIn("libnodes.so was linked by hirobacc -fopenmp-nodes, but", self.run_job("-n", "2", program)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
