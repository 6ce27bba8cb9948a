"""The rules of tidy.py, each on a small bad tree in a temporary folder that differs from a good one in one breach."""

import tempfile
import unittest
import unittest.mock
from pathlib import Path
from typing import ClassVar

import classes
import markdown
import tidy
from functions import c_functions
from source import blank_comments

# Two floors, a room, a program and a page, without any breach.
GOOD = {
    "src/CMakeLists.txt": "hiroba_floor(base SOURCES base/a.cpp)\nhiroba_floor(transport SOURCES b.cpp USES base)\n"
    "hiroba_floor(memory\n  USES transport\n  SOURCES c.cpp)\nhiroba_floor(notation SOURCES d.cpp)\n",
    "src/memory/c.cpp": '#include "transport/transport.hpp"\n',
    "src/base/a.hpp": "// One function.\n#pragma once\n\nint a();\n",
    "src/base/a.cpp": '#include "base/a.hpp"\n\nint a() { return 1; }\n',
    "src/transport/transport.hpp": '// The contract.\n#pragma once\n\n#include "base/a.hpp"\n',
    "src/transport/registry.cpp": '#include "transport/shm/shm.hpp"\n',
    "src/transport/shm/shm.hpp": '// A room.\n#pragma once\n\n#include "transport/transport.hpp"\n',
    "include/hiroba/sms.h": "/* The interface. */\n#ifndef SMS_H\n#define SMS_H\n#endif\n",
    "src/notation/sms/sms.cpp": "#include <sms.h>\n",
    "apps/hello.c": "#include <sms.h>\n#include <stdio.h>\n",
    "docs/page.md": "# A page\n\n[up](../apps/hello.c) [here](#a-page) `src/base/a.cpp` `bench/NAME/run.py`\n",
    "tools/tool.py": '"""A tool."""\n',
}


class TidyTest(unittest.TestCase):
    large_classes: ClassVar[dict[str, int]] = {}

    def rules(self, changes: dict[str, str]) -> list[str]:
        """The rules broken by the good tree with these files changed or added, as 'path:line rule'."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (GOOD | changes).items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            with unittest.mock.patch.dict(classes.LARGE_CLASSES, self.large_classes, clear=True):
                found = tidy.findings(Path(folder))
        for finding in found:
            self.assertRegex(str(finding), r"^\S+:\d+: \S+: .+\. Why: .+\. Remedy: .+\.$")
        return [f"{finding.path}:{finding.line} {finding.rule}" for finding in found]

    def broken(self, path: str, text: str, *expected: str) -> None:
        self.assertEqual(self.rules({path: text}), list(expected))

    def test_good_tree(self) -> None:
        self.assertEqual(self.rules({}), [])

    # The include graph

    def test_upward(self) -> None:
        text = 'int x;\n#include "transport/transport.hpp"\n'
        # The circle is told at the include that closes it, which is the other one.
        circle = "src/transport/transport.hpp:4 include-cycle"
        self.broken("src/base/b.cpp", text, "src/base/b.cpp:2 include-floor", circle)

    def test_commented_include_does_not_count(self) -> None:
        self.broken("src/base/b.cpp", '/*\n#include "transport/transport.hpp"\n*/\n')

    def test_unknown_floor(self) -> None:
        self.broken("src/attic/x.cpp", "int x;\n", "src/attic/x.cpp:1 unknown-floor")

    def test_contract_only(self) -> None:
        inside = '#include "transport/shm/shm.hpp"\n'
        self.broken("src/memory/m.cpp", inside, "src/memory/m.cpp:1 include-contract")

    def test_wrappers_forward_everything(self) -> None:
        contract = (
            '// The contract.\n#pragma once\n\n#include "base/a.hpp"\n\nclass Transport {\n public:\n'
            "  virtual ~Transport() = default;\n  virtual void put(int a);\n  virtual bool fence() const = 0;\n};\n"
        )
        wrapper = "// It forwards.\n#pragma once\n\nclass Wrapper : public Transport {\n  void put(int a) override;\n"
        path = "src/transport/wrapper.hpp"
        forwards = wrapper + "  bool fence() const override { return true; }\n};\n"
        lacks = wrapper + "  // bool fence() const override;\n};\n"
        for text, expected in ((forwards, []), (lacks, [f"{path}:4 wrapper-forwards"])):
            self.assertEqual(self.rules({"src/transport/transport.hpp": contract, path: text}), expected)

    def test_methods_per_class(self) -> None:
        few = "".join(f"  int m{n}(int a, std::function<void(int)> f) const;\n" for n in range(25))
        others = (
            " public:\n  A();\n  explicit A(int a) : a_(a) {}\n  ~A();\n  A& operator=(const A&) = delete;\n"
            "  void put(int a) override;\n  static_assert(sizeof(int) == 4);\n  using Job = void (*)(int);\n"
            "  struct In {\n    int more() { return other(1); }\n  };\n private:\n  std::function<void(int)> told_;\n"
            "  int (*run_)(int) = nullptr;\n  int a_ = f(3);\n  static constexpr uint64_t most = g(1) << 2;\n"
        )
        head = "// A.\n#pragma once\n\n"
        self.broken("src/base/b.hpp", f"{head}class A : public B {{\n{others}{few}}};\n")
        for one in ("Status more();", "template <typename T>\n  void more(const T& t) {\n    t(1);\n  }", "A& more();"):
            text = f"{head}class A final : public B {{\n{others}{few}  {one}\n}};\n"
            self.broken("src/base/b.hpp", text, "src/base/b.hpp:4 class-methods")

    def test_a_class_has_a_name_of_its_own(self) -> None:
        def text(inside: str) -> str:
            return f"// A.\n#pragma once\n\nnamespace hiroba {{\n\n{inside}\n\n}}  // namespace hiroba\n"

        first = {"src/base/b.hpp": text("struct Order {\n  int a = 1;\n};")}
        finding = ["src/base/c.hpp:6 class-name"]
        for inside, expected in (
            ("class Order final : public B {\n};", finding),
            ("enum class Order { first };", finding),
            ("class Order;\nOrder& order();\nstruct Order::In {\n};", []),
            ("struct Other {\n  struct Order {\n  };\n};", []),
            ("namespace other {\nstruct Order {\n};\n}  // namespace other", []),
        ):
            self.assertEqual(self.rules(first | {"src/base/c.hpp": text(inside)}), expected)
        hidden = text("namespace {\nstruct Order {\n};\n}  // namespace").replace("#pragma once\n\n", "")
        self.assertEqual(self.rules(first | {"src/base/c.cpp": hidden}), [])

    def test_large_class_may_only_shrink(self) -> None:
        text = "// A.\n#pragma once\n\nclass A {\n" + "".join(f"  int m{n}();\n" for n in range(27)) + "};\n"
        finding = "src/base/b.hpp:4 class-methods"
        for known, expected in ((27, []), (26, [finding]), (28, [finding])):
            with unittest.mock.patch.object(self, "large_classes", {"src/base/b.hpp A": known}):
                self.broken("src/base/b.hpp", text, *expected)

    def test_contract_shows_what_its_floor_says(self) -> None:
        text = '// The contract.\n#pragma once\n\n#include "base/a.hpp"\n#include "transport/shm/ring.hpp"\n'
        ring = {"src/transport/shm/ring.hpp": "// A part.\n#pragma once\n"}
        lines = GOOD["src/CMakeLists.txt"].replace("USES base)", "USES base SHOWS shm/ring)")
        self.assertEqual(self.rules({"src/transport/transport.hpp": text, "src/CMakeLists.txt": lines} | ring), [])

    def test_contract_hides(self) -> None:
        text = '// The contract.\n#pragma once\n\n#include "base/a.hpp"\n#include "transport/ring.hpp"\n'
        ring = {"src/transport/ring.hpp": "// A part.\n#pragma once\n"}
        found = self.rules({"src/transport/transport.hpp": text} | ring)
        self.assertEqual(found, ["src/transport/transport.hpp:5 contract-insides"])

    def test_contract_parts_hide_too(self) -> None:
        lines = GOOD["src/CMakeLists.txt"] + "hiroba_floor(collective SHOWS team/team SOURCES e.cpp)\n"
        team = {"src/collective/team/team.hpp": '// A part.\n#pragma once\n\n#include "collective/trees.hpp"\n'}
        trees = {"src/collective/trees.hpp": "// Inside.\n#pragma once\n"}
        found = self.rules({"src/CMakeLists.txt": lines} | team | trees)
        self.assertEqual(found, ["src/collective/team/team.hpp:4 contract-insides"])

    def test_launcher_does_not_know_notations(self) -> None:
        notation = {"src/notation/sms/report.hpp": "// Report.\n#pragma once\n"}
        lines = GOOD["src/CMakeLists.txt"] + "hiroba_floor(launcher USES base SOURCES l.cpp)\n"
        launcher = {"src/CMakeLists.txt": lines, "src/launcher/l.cpp": '#include "notation/sms/report.hpp"\n'}
        self.assertIn("src/launcher/l.cpp:1 include-floor", self.rules(notation | launcher))

    def test_uses(self) -> None:
        lines = GOOD["src/CMakeLists.txt"].replace("USES base", "")
        self.broken("src/CMakeLists.txt", lines, "src/transport/transport.hpp:4 include-floor")
        lines = GOOD["src/CMakeLists.txt"].replace("USES transport", "USES transport base")
        self.broken("src/CMakeLists.txt", lines, "src/CMakeLists.txt:3 unused-uses")

    def test_floors_are_declared_bottom_up(self) -> None:
        first, rest = GOOD["src/CMakeLists.txt"].split("\n", 1)
        lines = rest + first + "\n"
        self.broken("src/CMakeLists.txt", lines, "src/CMakeLists.txt:1 floor-order")

    def test_rooms_of_another_library(self) -> None:
        sparse = {"src/sparse/sparse.hpp": "// The contract.\n#pragma once\n"}
        lines = {
            "src/CMakeLists.txt": GOOD["src/CMakeLists.txt"]
            + "hiroba_floor(sparse SOURCES s.cpp)\nhiroba_floor(notation/sparse USES sparse SOURCES n.cpp)\n"
        }
        room = {"src/notation/sparse/operators.cpp": '#include "sparse/sparse.hpp"\n'}
        self.assertEqual(self.rules(sparse | lines | room), [])
        self.assertEqual(self.rules(sparse | lines), ["src/CMakeLists.txt:8 unused-uses"])
        beside = {"src/notation/sms/heap.cpp": room["src/notation/sparse/operators.cpp"]}
        self.assertEqual(self.rules(sparse | lines | room | beside), ["src/notation/sms/heap.cpp:1 include-floor"])

    def test_spelling(self) -> None:
        self.broken("src/base/b.cpp", '#include "a.hpp"\n', "src/base/b.cpp:1 include-spelling")
        self.broken("src/base/b.cpp", '#include "../base/a.hpp"\n', "src/base/b.cpp:1 include-spelling")

    def test_public_header_below_notation(self) -> None:
        self.broken("src/base/b.cpp", "#include <sms.h>\n", "src/base/b.cpp:1 include-public")

    def test_programs_see_public_headers_only(self) -> None:
        self.broken("apps/hello.c", '#include "base/a.hpp"\n', "apps/hello.c:1 include-program")
        self.broken("bench/b.cpp", '#include "../src/base/a.hpp"\n', "bench/b.cpp:1 include-program")

    def test_source_included(self) -> None:
        self.broken("tests/t.cpp", '#include "base/a.cpp"\n', "tests/t.cpp:1 include-source")

    def test_cycle_between_rooms(self) -> None:
        shm = GOOD["src/transport/shm/shm.hpp"] + '#include "transport/trace/trace.hpp"\n'
        trace = '// Another.\n#pragma once\n\n#include "transport/shm/shm.hpp"\n'
        rooms = {"src/transport/shm/shm.hpp": shm, "src/transport/trace/trace.hpp": trace}
        self.assertEqual(self.rules(rooms), ["src/transport/trace/trace.hpp:4 include-cycle"])

    def test_cycle_between_floor_and_room(self) -> None:
        text = '#include "transport/shm/shm.hpp"\n'
        self.broken("src/transport/other.cpp", text, "src/transport/shm/shm.hpp:4 include-cycle")
        # What puts the rooms together names them all.
        self.broken("src/transport/transport.cpp", text)
        self.broken("src/transport/parts.hpp", "// Parts.\n#pragma once\n\n" + text)

    # Layers of Python packages

    def test_python_layers(self) -> None:
        def module(*lines: str) -> str:
            return "\n".join(['"""X."""', *lines, ""])

        package = "python/hiroba/compiler"
        good = {
            f"{package}/core/source.py": module(),
            f"{package}/core/notation.py": module("from .source import Source", "from . import source"),
            f"{package}/smint/notation.py": module("import re", "from ..core.notation import Notation"),
            f"{package}/xmp/words.py": module("from ..core import source", "from . import notation"),
            f"{package}/xmp/notation.py": module("from .words import WORDS"),
            f"{package}/registry.py": module("from .smint.notation import SMINT", "from .xmp.notation import XMP"),
            f"{package}/driver.py": module("from .core.source import Source", "from .registry import NOTATIONS"),
        }
        self.assertEqual(self.rules(good), [])

        def broken(name: str, line: str) -> None:
            path = f"{package}/{name}"
            self.assertEqual(self.rules(good | {path: module("import re", line)}), [f"{path}:3 python-layer"])

        broken("core/text.py", "from ..smint.notation import SMINT")
        broken("core/text.py", "from ..registry import NOTATIONS")
        broken("core/text.py", "import hiroba.compiler.xmp.words")
        broken("smint/words.py", "from ..xmp import words")
        broken("smint/words.py", "from ..driver import main")
        broken("smint/words.py", "from .. import xmp")
        broken("driver.py", "from .xmp.words import WORDS")
        broken("driver.py", "from hiroba.compiler import smint")
        unnamed = {f"{package}/task/notation.py": module()}
        self.assertEqual(self.rules(good | unnamed), [f"{package}/task/notation.py:1 python-registry"])

    # Style

    def test_blanks(self) -> None:
        self.broken("docs/x.md", "a\tb\n", "docs/x.md:1 tab")
        self.broken("docs/x.md", "a \n", "docs/x.md:1 trailing-blank")
        self.broken("docs/x.md", "a", "docs/x.md:1 last-newline")

    def test_length(self) -> None:
        self.broken("apps/x.c", "int x;\n" * 500)
        self.broken("apps/x.c", "int x;\n" * 501, "apps/x.c:501 file-length")
        self.broken("apps/x.c", "/" * 121 + "\n", "apps/x.c:1 columns")

    def test_ruler(self) -> None:
        self.broken("src/base/b.cpp", f"// ---- words {'-' * 106}\n/* ---- words ---- */\n  // ---- words ----\n")
        self.broken("src/base/b.cpp", "/* ---- words -----\n */\n", "src/base/b.cpp:1 ruler")
        self.broken("src/base/b.cpp", "// ---- words\n", "src/base/b.cpp:1 ruler")
        two = ["src/base/b.cpp:1 ruler", "src/base/b.cpp:2 ruler"]
        self.broken("src/base/b.cpp", "/* ---- words\n * ------ */\n", *two)
        self.broken("tools/tool.py", '"""A tool."""\n# ------\n', "tools/tool.py:2 ruler")

    def test_page_columns(self) -> None:
        long = "word " * 24 + "x"  # 121 columns
        self.broken("docs/page.md", f"{long}\n", "docs/page.md:1 page-columns")
        self.broken("docs/page.md", f"```\n{long}\n```\n", "docs/page.md:2 page-columns")
        self.broken("docs/page.md", f"| {long} |\n{'x' * 121}\n{long[:119]}x\n")

    def test_depth(self) -> None:
        self.broken("apps/a/b/x.c", "int x;\n")
        self.broken("apps/a/b/c/x.c", "int x;\n", "apps/a/b/c/x.c:1 folder-depth")
        module = '"""X."""\n'
        self.broken("python/a/b/c/x.py", module)
        self.broken("python/a/b/c/d/x.py", module, "python/a/b/c/d/x.py:1 folder-depth")

    def test_function_length(self) -> None:
        self.broken("apps/x.c", "int f(void) {\n" + "  f();\n" * 68 + "}\n")
        self.broken("apps/x.c", "int x;\nint f(void) {\n" + "  f();\n" * 69 + "}\n", "apps/x.c:2 function-length")
        python = '"""X."""\n\n\ndef f():\n' + "    f()\n" * 70
        self.broken("tools/x.py", python, "tools/x.py:4 function-length")

    def test_header(self) -> None:
        self.broken("src/base/b.hpp", "#pragma once\n", "src/base/b.hpp:1 header-comment")
        self.broken("src/base/b.hpp", "// A header.\n", "src/base/b.hpp:1 header-guard")
        self.broken("include/hiroba/x.h", "/* A header. */\n", "include/hiroba/x.h:1 header-guard")
        self.broken("tools/tool.py", "x = 1\n", "tools/tool.py:1 docstring")

    def test_printing(self) -> None:
        for call in ("printf(x)", "std::cout << 1", "fprintf(stderr, x)", "std::printf(x)", "fputs(x, stdout)"):
            with self.subTest(call=call):
                self.broken("src/base/b.cpp", f"void f() {{ {call}; }}\n", "src/base/b.cpp:1 printing")
        allowed = {"src/base/log.cpp", "src/launcher/main.cpp", "apps/x.c"}
        lines = GOOD["src/CMakeLists.txt"] + "hiroba_floor(launcher SOURCES launcher/main.cpp)\n"
        found = self.rules({"src/CMakeLists.txt": lines} | dict.fromkeys(allowed, "void f() { printf(x); }\n"))
        self.assertEqual(found, [])
        for other in ("snprintf(x)", "fprintf(file, x)", 'g("printf(x)")', "text_printf(x)"):
            with self.subTest(other=other):
                self.broken("src/base/b.cpp", f"void f() {{ {other}; }}  // not printf(x)\n")

    def test_unfinished(self) -> None:
        self.broken("docs/x.md", "Todo\n")
        self.broken("docs/x.md", "TO" + "DO\n", "docs/x.md:1 unfinished")

    def test_absolute_path(self) -> None:
        self.broken("apps/x.c", 'open("/ho' + 'me/me");\n', "apps/x.c:1 absolute-path")
        self.broken("apps/x.c", 'open("/dev/shm"); // and/or, https://a.example/b/c\nint b = a/c/d;\n')

    def test_dead_code(self) -> None:
        self.broken("apps/x.c", "// int y = f();\n// return y;\n", "apps/x.c:1 dead-code")
        self.broken("apps/x.c", "// Use it so:\n//   int y = f();\n//   return y;\n")
        self.broken("apps/x.c", "// It returns at once (see f);\n// then all is said.\n")
        self.broken("apps/x.c", "#if 0\n#endif\n", "apps/x.c:1 dead-code")

    def test_links(self) -> None:
        self.broken("docs/x.md", "[a](no.md)\n", "docs/x.md:1 link")
        self.broken("docs/x.md", "[a](page.md#nowhere)\n", "docs/x.md:1 link")
        self.broken("docs/x.md", "`src/base/no.cpp`\n", "docs/x.md:1 link")
        self.broken("docs/x.md", "[a](page.md#a-page) [b](https://a.example/x) [c](../src/base/)\n")


class ParsingTest(unittest.TestCase):
    def names(self, text: str) -> list[tuple[str, int, int]]:
        return list(c_functions(blank_comments(text).split("\n")))

    def test_blank_comments(self) -> None:
        self.assertEqual(blank_comments('a("x//y"); // b\n/* c\n */ d'), 'a("    ");     \n    \n    d')
        self.assertEqual(blank_comments('c(\'"\', 1\'000) + "\\"" x'), "c(' ', 1'000) + \"  \" x")
        self.assertEqual(blank_comments('R"(a\n")" b'), 'R   \n  " b')

    def test_reflow(self) -> None:
        long = "word " * 24 + "[two words](x.md) `a  b` "
        page = f"# {long}\n\nshort\nlines\n\n- {long}\n  more\n- {long}- 2. c\n\n```\n{long}\n```\n\n| {long}|\n"
        lines = "word " * 22 + "word"
        item = f"- {lines}\n  word [two words](x.md) `a  b`"
        filled = f"# {long}\n\nshort\nlines\n\n{item} more\n{item} - 2. c\n\n```\n{long}\n```\n\n| {long}|\n"
        self.assertEqual(markdown.reflow(page), filled)
        self.assertEqual(markdown.reflow(filled), filled)

    def test_functions(self) -> None:
        text = """namespace a {
struct B : C {
 public:
  B() : x{1}, y(2) {
    go();
  }
  int f() const override { return 1; }
  int table[2] = {1, 2};
};
template <class T>
auto g(T t) -> int {
  if (t) { h([&] { return 1; }); }
  return 1;
}
#define M(x) do { \\
  } while (0)
TEST_P(Suite, Name) {
}
}  // namespace a
extern "C" int h(void)
{
}
"""
        found = self.names(text)
        self.assertIn(("B", 4, 6), found)
        self.assertEqual(
            [function for function in found if function[0] != "B"],
            [("f", 7, 7), ("g", 10, 14), ("TEST_P", 17, 18), ("h", 20, 22)],
        )


if __name__ == "__main__":
    unittest.main()
