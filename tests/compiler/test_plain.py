"""Which commands the C compiler gets at once, and which not: a notation may be in any text that it reads."""

import importlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

from compiling import HERE, HIROBACC, ONCE, ROOT, CompilerTest, execute, execute_hirobacc

sys.path.insert(0, str(ROOT / "python"))

command = importlib.import_module("hiroba.compiler.command")
plain = importlib.import_module("hiroba.compiler.plain")

OURS = str(ROOT / "include/hiroba")
LOOP = "int main(void) {\n  PARALLEL\n  for (int i = 0; i < N; i++) a[i] = i;\n}\n"
# What is in the folder beside main.c, and words of the command; the text of main.c.
NOT_PLAIN: dict[str, tuple[str, dict[str, str], str]] = {
    "a directive": ("", {}, "#pragma SMint barrier\n"),
    "over lines": ("", {}, "#pragma SM\\\nint barrier\n"),
    "by _Pragma": ("", {}, '_Pragma("hiroba taskwait")\n'),
    "in a macro of a header": ("", {"a.h": '#define P _Pragma("xmp barrier")\n'}, '#include "a.h"\n'),
    "pasted": (
        "",
        {"a.h": "#define P(a, b) Q(a ## b barrier)\n"},
        '#include "a.h"\n#define Q(a) _Pragma(#a)\nP(SM, int)',
    ),
    "by an option": ("-DP='_Pragma(\"SMint barrier\")'", {}, "int f(void) {\n  P\n}\n"),
    "by an option of the preprocessor": ("-Wp,-DP=SMint", {}, "int x;\n"),
    "a declaration": ("", {}, "shared double a[9]::[NPROCS](0, NPROCS);\n"),
    "a declaration on a line": ("", {}, "#define N 9\n  shared double a[N]::[NPROCS](0, NPROCS);\n"),
    "a declaration after another": ("", {}, "int x; extern shared double a[9]::[NPROCS](0, NPROCS);\n"),
    "a coarray": ("", {}, "double a[9] : [*];\n"),
    "a section": ("", {}, "void f(double* a) { a[0 : 2] = 1; }\n"),
    "our header": ("", {}, "#include <sms.h>\n"),
    "its other name": ("", {}, "# include /* ours */ <hiroba/task.h>\n"),
    "MPI's header": ("", {"mpi.h": ""}, '#include "mpi.h"\n'),
    "after a comment": ("", {"a.h": "#include <smint.h>\n"}, '/* here */ #include "a.h"\n'),
    "a header of a header": ("-Ib", {"b/a.h": '#include "c.h"\n', "b/c.h": "#include <xmp.h>\n"}, "#include <a.h>\n"),
    "the next header": (
        "-Ib -Ic",
        {"b/a.h": "#include_next <a.h>\n", "c/a.h": "#pragma SMint barrier\n"},
        "#include <a.h>\n",
    ),
    "under a condition": ("", {}, "#if __has_include(<sms.h>)\nint x;\n#endif\n"),
    "a name by a macro": ("-DNAME='\"a.h\"'", {"a.h": "#include <sms.h>\n"}, "#include NAME\n"),
    "a name by a macro of a header": (
        "",
        {"a.h": "#include <sms.h>\n", "b.h": "# define NAME(x) #x\n"},
        '#include "b.h"\n#include NAME(a.h)\n',
    ),
    "a name on the next line": ("", {"a.h": "#include <sms.h>\n"}, '#\\\ninclude \\\n"a.h"\n'),
    "a word on two lines": ("", {"a.h": "#include <sms.h>\n"}, '#inc\\\nlude "a.h"\n'),
    "forced": ("-include a.h", {"a.h": "#include <sms.h>\n"}, "int x;\n"),
    "forced in one word": ("-imacrosa.h", {"a.h": "#define S SMint\n"}, "int x;\n"),
    "forced in many": ("--include=b/a.h", {"b/a.h": "#include <sms.h>\n"}, "int x;\n"),
    "in a response file": ("@words", {"words": "-Ib", "b/a.h": "#include <sms.h>\n"}, "#include <a.h>\n"),
    "for quotes only": ("-iquote b", {"b/a.h": "#include <sms.h>\n"}, '#include "a.h"\n'),
    "after the system's": ("-idirafter b", {"b/a.h": "#include <sms.h>\n"}, "#include <a.h>\n"),
    "a folder by a prefix": ("-iprefix ./ -iwithprefix b", {"b/a.h": "#include <sms.h>\n"}, "#include <a.h>\n"),
    "another spelling": ("", {"a.h": "#include <sms.h>\n"}, '%:include "a.h"\n'),
    "imported": ("", {"a.h": "#include <sms.h>\n"}, '#import "a.h"\n'),
    "its calls": ("", {}, "int sms_barrier(void);\n"),
    "after a comment in a string": ("", {}, 'const char* s = "/*";\n#pragma SMint barrier\n'),
    "after quotes": ("", {}, """char q = '"', r = '\\'', *s = "\\\\"; // "\nint f(int* a) { return a[0]:[1]; }\n"""),
    "after an apostrophe": ("", {}, "#if 0\nisn't\n#endif\n#pragma SMint barrier\n"),
}
PLAIN: dict[str, tuple[str, dict[str, str], str]] = {
    "nothing": ("", {}, "int x;\n"),
    "headers of the system": ("-pthread", {}, "#include <stdio.h>\n#include <pthread.h>\n#include <math.h>\n"),
    "words in comments": (
        "",
        {},
        "/* SMint, xmp: a shared library a[1]:[2], #include FILE */\nint shared; // hiroba\n",
    ),
    "a conditional index": ("", {}, "int f(int* a, int x) { return a[x ? 1 : 2]; }\n"),
    "words after an escaped quote": ("", {}, """const char *s = "\\" xmp", c = '\\''; // sms_\n"""),
    "words in strings": ("", {}, 'const char* s = "shared double a[1]:[2] hiroba";\n'),
    "an own header with our name": ("", {"task.h": "int t;\n"}, '#include "task.h"\n'),
    "OpenMP by _Pragma": ("-fopenmp", {}, "#define P(x) _Pragma(#x)\nint f(void) { P(omp barrier) return 0; }\n"),
    "a header that is not there": ("", {}, "#ifdef WINDOWS\n#include <windows.h>\n#endif\n"),
    "a macro that nobody defines": ("", {}, "#ifdef USER_H\n#include USER_H\n#endif\n"),
    "headers in a circle": ("-I.", {"a.h": "#include <b.h>\n", "b.h": "#include <a.h>\n"}, '#include "a.h"\n'),
}


class Plain(CompilerTest):
    def setUp(self) -> None:
        super().setUp()
        before, here = dict(os.environ), pathlib.Path.cwd()
        self.addCleanup(os.environ.update, before)
        self.addCleanup(os.chdir, here)
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")
        os.chdir(self.folder)

    def is_plain(self, words: str, files: dict[str, str], text: str) -> bool:
        for name, contents in {**files, "main.c": text}.items():
            self.write(name, contents)
        return plain.is_plain(command.read_command([*command.split_words(words), "-c", "main.c"]), OURS)

    def test_not_plain(self) -> None:
        for name, (words, files, text) in NOT_PLAIN.items():
            with self.subTest(name):
                self.assertFalse(self.is_plain(words, files, text))

    def test_plain(self) -> None:
        for name, (words, files, text) in PLAIN.items():
            with self.subTest(name):
                self.assertTrue(self.is_plain(words, files, text))

    def test_words_in_comments(self) -> None:
        """They need no second look, which takes long."""
        for name in ("words in comments", "words in strings", "words after an escaped quote"):
            self.assertIsNotNone(plain.included_names(PLAIN[name][2].encode()), name)

    def test_by_the_environment(self) -> None:
        os.environ["CPATH"] = "b"
        self.addCleanup(os.environ.pop, "CPATH")
        self.assertFalse(self.is_plain("", {"b/a.h": "#include <sms.h>\n"}, "#include <a.h>\n"))

    def test_cache(self) -> None:
        """It answers like the compiler, notices changed headers, and is never in the way."""
        files = {"b/include/a.h": "int x;\n"}
        self.assertTrue(self.is_plain("-B b", files, "#include <a.h>\n"))
        cached = list(pathlib.Path("cache/hiroba").iterdir())
        self.assertEqual(len(cached), 1)
        self.assertIn("b/include/a.h", cached[0].read_text())
        self.assertFalse(self.is_plain("-B b", {"b/include/a.h": "#include <sms.h>\n"}, "#include <a.h>\n"))
        for damaged in ("", "other\n", cached[0].read_text()[:-9], cached[0].read_text().replace("\t", " ")):
            cached[0].write_text(damaged)
            self.assertTrue(self.is_plain("-B b", files, "#include <a.h>\n"))
        for folder in ("/dev/null", "/proc/none", ""):
            os.environ["XDG_CACHE_HOME"] = folder
            os.environ["HOME"] = folder
            self.assertTrue(self.is_plain("", {}, "#include <stdio.h>\n"))

    def test_cost(self) -> None:
        """A small file takes at most 30 ms more than with the compiler alone, which has 20; here at most twice that, as
        a ratio, because machines differ. Time of the processor, of which the fastest of some runs is taken."""
        self.write("main.c", "#include <stdio.h>\nint main(void) { return 0; }\n")

        def fastest(compiler: str) -> float:
            out = []
            for _ in range(7):
                begun = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([compiler, "-c", "main.c"], check=True)
                ended = resource.getrusage(resource.RUSAGE_CHILDREN)
                out.append(ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime)
            return min(out)

        fastest(HIROBACC)
        self.assertLess(fastest(HIROBACC) / fastest("cc"), 4)


class Registered(unittest.TestCase):
    def test_what_is_repeated(self) -> None:
        """To look at a command takes no imports of the notations, so some words stand twice."""
        execute_hirobacc(["--version"], HERE)  # which finds the parser
        plain, registry = (importlib.import_module(f"hiroba.compiler.{name}") for name in ("plain", "registry"))
        for family in (notation.family for notation in registry.NOTATIONS if notation.family):
            self.assertIn(family.lower().encode(), plain.FAMILIES)
        option = importlib.import_module("hiroba.compiler.core.every_rank").OPTION
        self.assertLessEqual({f"-Wno-{option}", f"-Wno-error={option}"}, command.OWN_WARNINGS)


class Words(unittest.TestCase):
    def test_response_files(self) -> None:
        """As GCC reads them."""
        text = 'a  b\\ c\n\'d "e\' "f \'g\\"h" i"j"\'k\' \'\' \\\\ "x\ny"'
        self.assertEqual(command.split_words(text), ["a", "b c", 'd "e', "f 'g\"h", "ijk", "", "\\", "x\ny"])


def wait_until_begun(process: int) -> None:
    """Returns when hirobacc has taken Python's own handler of SIGINT away, or has ended."""
    handled = False
    while True:
        fields = dict(re.findall(r"(\w+):\s+(\S+)", pathlib.Path(f"/proc/{process}/status").read_text()))
        before, handled = handled, bool(int(fields["SigCgt"], 16) & 1 << signal.SIGINT - 1)
        if (before and not handled) or fields["State"] == "Z":
            return
        time.sleep(0.001)


class Endings(CompilerTest):
    """As with cc: silently, or with one line."""

    def big(self) -> None:
        text = "#pragma SMint shared ::[NPROCS](0, NPROCS)\nint a[9];\nint main(void) {\n"
        loop = "#pragma SMint parallel for\n  for (int i = 0; i < 9; i++) a[i] = i;\n"
        self.write("big.c", text + loop + "}\n" + "".join(f"int v{i};\n" for i in range(20000)))

    def ended(self, line: str) -> tuple[int, str]:
        ended = execute(["bash", "-c", line], self.folder)
        self.assertNotIn("Traceback", ended.stderr)
        self.assertLess(ended.stderr.count("\n"), 5, ended.stderr)
        self.assertFalse(list(pathlib.Path("/tmp").glob(f"hirobacc-{self.folder.name}*")))
        return ended.returncode, ended.stderr

    def test_closed_pipe(self) -> None:
        self.big()
        for words in ("-E", "--show"):
            status, said = self.ended(f"set -o pipefail; {HIROBACC} {words} big.c | head -1")
            self.assertEqual((status, said), (141, ""))

    def test_full_folder(self) -> None:
        """A folder for temporary files that takes none."""
        self.big()
        for folder in ("/proc", "/none"):
            status, said = self.ended(f"TMPDIR={folder} {HIROBACC} -c big.c")
            self.assertEqual(status in (0, 1), True, said)
        self.assertEqual(self.ended(f"{HIROBACC} -E big.c > /dev/full")[0], 1)

    def test_output_that_is_closed_or_full(self) -> None:
        """To compile needs no standard output; what is written there is an error, said once."""
        self.big()
        for closed in (">&-", ">&- <&-", "2>&- >&- <&-", "2>&-"):
            self.assertEqual(self.ended(f"{HIROBACC} -c big.c {closed}"), (0, ""))
        for words in ("--show big.c", "--help"):
            for place, why in (("&-", "Bad file descriptor"), ("/dev/full", "No space left on device")):
                said = (1, f"hirobacc: error: output: {why}\n")
                self.assertEqual(self.ended(f"{HIROBACC} {words} >{place}"), said)

    def test_interrupt(self) -> None:
        self.big()
        temporary = self.folder / "tmp"
        temporary.mkdir()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            env = {**os.environ, "TMPDIR": str(temporary)}
            words = [HIROBACC, "-O2", "-c", "big.c"]
            with subprocess.Popen(words, cwd=self.folder, env=env, stderr=subprocess.PIPE) as child:
                while not any(temporary.iterdir()):
                    time.sleep(0.01)
                os.kill(child.pid, number)
                _, said = child.communicate(timeout=20)
            self.assertEqual((child.returncode, said), (-number, b""))
            self.assertEqual(list(temporary.iterdir()), [])

    def test_interrupt_at_each_place(self) -> None:
        """Ctrl-C in a file with notation, at any time after the interpreter has begun, also with a script around the
        compiler: no word, and nothing is left."""
        temporary = self.folder / "tmp"
        temporary.mkdir()
        self.write("a.c", "#include <smint.h>\n#pragma SMint shared ::[](0,1)\nint v;\nint main(void) { return v; }\n")
        env = {**os.environ, "TMPDIR": str(temporary)}
        wrapper = self.write("wrapper", '#!/bin/sh\ngcc "$@"\nexit $?\n')
        wrapper.chmod(0o755)
        for step in range(6 if ONCE else 36):
            words = [HIROBACC, *(["--cc", str(wrapper)] if step % 3 == 0 else []), "-c", "a.c"]
            with subprocess.Popen(words, cwd=self.folder, env=env, stderr=subprocess.PIPE) as child:
                wait_until_begun(child.pid)
                time.sleep(0.015 * step)
                os.kill(child.pid, signal.SIGINT)
                _, said = child.communicate(timeout=20)
            self.assertIn((child.returncode, said), ((-signal.SIGINT, b""), (0, b"")))
            self.assertEqual(list(temporary.iterdir()), [])

    def test_sources_like_programs(self) -> None:
        """A file that may be executed is a file."""
        for name in ("src/g.cc", "gcc.c", "libx.so.1", "prog"):
            self.write(name, "int g;\n").chmod(0o755)
            alone = execute(["cc", name, "-c", "-o", "g.o"], self.folder)
            ours = execute([HIROBACC, name, "-c", "-o", "g.o"], self.folder)
            self.assertEqual((ours.returncode, ours.stderr), (alone.returncode, alone.stderr), name)

    def test_compiler_that_is_this_one(self) -> None:
        (self.folder / "cc").symlink_to(HIROBACC)
        status, said = self.ended(f"PATH=$PWD:$PATH {HIROBACC} -c none.c")
        self.assertEqual((status, said), (1, "hirobacc: `cc` is hirobacc itself; name a C compiler with --cc\n"))

    def test_odd_files(self) -> None:
        self.write("dir.c/x", "")
        (self.folder / os.fsdecode(b"\xff.c")).write_bytes(
            b"#pragma SMint barrier\nint \xe9 = 1, f(void) { return none; }\n"
        )
        for words in ("dir.c", "none.c", "'' -c", "$'\\xff.c' -c", "-c @none", "-c main.c -include none.h"):
            alone, ours = (execute(["bash", "-c", f"{cc} {words}"], self.folder) for cc in ("cc", HIROBACC))
            self.assertNotIn("Traceback", ours.stderr)
            self.assertEqual(ours.returncode, alone.returncode, ours.stderr)


if __name__ == "__main__":
    unittest.main()
