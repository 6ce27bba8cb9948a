"""XcalableMP's coarrays as users write them: each form that its only public compiler refuses, one by one; what ends a
job, with its words; what --explain says; and no call for an element whose image is on the node."""

import pathlib
import re
import unittest

from compiling import HIROBARUN, ONCE, CompilerTest, execute

# What is tried stands behind this. There are four images; `next` and `before` are those beside `me`.
PROLOGUE = """#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>
#pragma xmp nodes p4[*], q4(*)
#pragma xmp nodes turned[2] = p4[3:2:-1]
int s:[*];
xmp_lock_t l:[*];
#pragma xmp coarray on turned :: s, l
struct pair { int x, y; };
int a[8]:[*], b[8]:[*], grid[3][4]:[2][*];
double d[8]:[*];
struct pair v[4]:[*];
static int twice(int value) { return 2 * value; }
int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, before = (me + n - 1) % n, i = 3, x = 0;
  int c[8], *p = malloc(8 * sizeof(int)), wrong = 0;
  struct pair t = {1, 2};
  for (int k = 0; k < 8; k++) a[k] = 100 * me + k, b[k] = 1000 * me + k, c[k] = k, p[k] = -k, d[k] = 0;
  for (int k = 0; k < 12; k++) grid[k / 4][k % 4] = 100 * me + k;
  for (int k = 0; k < 4; k++) v[k].x = v[k].y = 10 * me + k;
  xmp_sync_all(NULL);
"""
EPILOGUE = """
  (void)next, (void)before, (void)i, (void)x, (void)c, (void)t, (void)twice;
#pragma xmp reduction(+:wrong)
  if (me == 0) puts(wrong ? "wrong" : "OK");
  free(p);
}
"""
SYNC = "  xmp_sync_all(NULL);\n"
ROWS = {
    "get": "x = a[2]:[next]; wrong += x != 100 * next + 2;",
    "put": "x = 7; a[2]:[next] = x; SYNC wrong += a[2] != 7;",
    "sections on both sides": "a[0:4]:[next] = b[4:4]; SYNC wrong += a[3] != 1000 * before + 7;",
    "constant": "a[1]:[next] = 5; SYNC wrong += a[1] != 5;",
    "expression": "a[1]:[next] = i*i; SYNC wrong += a[1] != 9;",
    "operand": "x = a[2]:[next] + 1; wrong += x != 100 * next + 3;",
    "argument": "x = twice(a[2]:[next]); wrong += x != 200 * next + 4;",
    "compound": "a[2]:[next] += 5; SYNC wrong += a[2] != 100 * me + 7;",
    "three parties": "a[0:2]:[next] = b[2:2]:[before]; SYNC wrong += a[1] != 1000 * ((me + n - 2) % n) + 3;",
    "member": "v[2].x:[next] = 7; SYNC wrong += v[2].x != 7 || v[2].y != 10 * me + 2;",
    "whole struct": "t = v[1]:[next]; wrong += t.x != 10 * next + 1 || t.y != 10 * next + 1;",
    "pointer": "p[0:3] = a[2:3]:[next]; wrong += p[2] != 100 * next + 4 || p[3] != -3;",
    "static": "static int s[4]:[*]; s[3] = me; SYNC wrong += s[3]:[next] != next; SYNC",
    "local, several": "{ int l[8]; l[:]=7; x = l[3]; l[0:4]=c[0:4]+c[4:4]*2; x++; l[7:4:-2]=c[0:4];"
    " wrong += x != 8 || l[0] != 8 || l[2] != 14 || l[7] != 0 || l[1] != 3 || l[6] != 7; }",
    "plain uses": "int *q = &a[0]; wrong += q[3] != 100 * me + 3 || sizeof(a) != 8 * sizeof(int) || *a != q[0];",
    "codimensions": "x = grid[0][1]:[1][0] + grid[0][1]:[1][1]; wrong += x != 100 + 1 + 300 + 1;",
    "initialiser": "static int s:[*] = 2; wrong += s:[next] != 2;",
    "accumulate": "a[3]:[next] += b[3]; SYNC wrong += a[3] != 100 * me + 3 + 1000 * before + 3;",
    "get-accumulate": "x = 1; x += a[3]:[next]; wrong += x != 100 * next + 4;",
    "conversion": "d[0:4]:[next] = c[4:4]; SYNC wrong += d[1] != 5; x = d[3]:[next] / 2; wrong += x != 3;",
    "two dimensions": "int g[2][2]; g[:][:] = grid[1:2][0:2:3]:[next % 2][next / 2];"
    " wrong += g[1][1] != 100 * next + 11;",
    "spread": "a[1:3:2]:[next] = twice(i); SYNC wrong += a[5] != 6 || a[4] != 100 * me + 4;",
    "negative step": "c[0:4] = a[6:4:-2]:[next]; wrong += c[0] != 100 * next + 6 || c[3] != 100 * next;",
    "condition": "if (a[1]:[next] == 100 * next + 1 && a[0]:[next] >= 0) x = 1; wrong += x != 1;",
    "increment": "a[1]:[next]++; ++a[1]:[next]; --a[2]:[next]; SYNC"
    " wrong += a[1] != 100 * me + 3 || a[2] != 100 * me + 1;",
}
DIRECTIVES = {
    "barrier": "a[0]:[next] = 5;\n#pragma xmp barrier\nwrong += a[0] != 5;",
    "barrier on": "a[0]:[next] = 5;\n#pragma xmp barrier on p4[0:n]\nwrong += a[0] != 5;",
    "task": "#pragma xmp task on p4[1:2]\n{ x = xmpc_this_image() + 1; wrong += a[0]:[0] != 100; }\n"
    "wrong += x != (me == 1 || me == 2 ? me : 0);",
    "reduction": "x = me;\n#pragma xmp reduction(MAX:x)\nwrong += x != n - 1;",
    "reduction on": "x = me;\n#pragma xmp reduction(+:x) on p4[2:2]\nwrong += x != (me < 2 ? me : 5);",
    "bcast": "c[:] = me;\n#pragma xmp bcast(c) from p4[2]\nwrong += c[7] != 2;",
    "bcast on": "x = me;\n#pragma xmp bcast(x) from q4(2) on q4(2:3)\nwrong += x != (me == 2 ? 1 : me);",
    "gmove": "#pragma xmp gmove\na[:] = b[:]:[next];\nwrong += a[7] != 1000 * next + 7;",
    "gmove in": "#pragma xmp gmove in\nc[0:2] = b[6:2]:[next];\nwrong += c[1] != 1000 * next + 7;",
    "gmove out": "#pragma xmp gmove out\na[0:2]:[next] = c[6:2];\nSYNC wrong += a[1] != 7;",
    "reduction async": "x = me; double sum = 1;\n#pragma xmp reduction(+:x, sum) async(3)\ni = 3 * i;\n"
    "#pragma xmp wait_async(3)\nwrong += x != n * (n - 1) / 2 || sum != n || i != 9;",
    "bcast async on": "x = me;\n#pragma xmp bcast(x) from p4[2] on p4[1:2] Async(i)\n"
    "#pragma xmp wait_async(i) on p4[1:2]\nwrong += x != (me == 1 ? 2 : me);",
    "gmove async": "#pragma xmp gmove async(1)\na[:] = a[:]:[next];\n#pragma xmp gmove async(2)\n"
    "b[0:4] = b[4:4]:[before];\nwhile (!xmp_test_async(2)) x++;\n#pragma xmp wait_async(2, 1)\n"
    "wrong += a[7] != 100 * next + 7 || b[0] != 1000 * before + 4 || b[4] != 1000 * me + 4;",
    "gmove in and out async": "#pragma xmp gmove in async(1)\nc[0:2] = b[6:2]:[next];\n#pragma xmp gmove out async(1)\n"
    "a[0:2]:[next] = 8;\n#pragma xmp wait_async(1)\nwrong += c[1] != 1000 * next + 7; SYNC wrong += a[1] != 8;",
    "own part, counted on other nodes": "if (me > 1) {\n#pragma xmp lock(l)\nxmp_atomic_fetch_add(s, me);\n"
    "#pragma xmp unlock(l)\n}\nSYNC wrong += s != (me > 1 ? me : 0);",
    "post and wait": "a[0]:[next] = 5;\n#pragma xmp post(p4[next], 3)\n#pragma xmp wait(p4[before], 3)\n"
    "wrong += a[0] != 5;",
    "wait for anybody": "a[0]:[next] = 5;\n#pragma xmp post(q4(next + 1), 3)\n#pragma xmp wait\nwrong += a[0] != 5;",
    "sync_memory": "a[0]:[next] = 5;\n#pragma xmp sync_memory\nSYNC wrong += a[0] != 5;",
    "sync_images": "a[0]:[next] = 5; int both[] = {next, before};\n#pragma xmp sync_images(2, both)\n"
    "wrong += a[0] != 5;",
    "lock": "static xmp_lock_t l:[*]; static int count:[*];\n"
    "for (i = 0; i < 20; i++) {\n#pragma xmp lock(l:[1])\n count:[1] = count:[1] + 1;\n#pragma xmp unlock(l:[1])\n}\n"
    "SYNC wrong += count:[1] != 20 * n; SYNC",
    "atomic": "xmp_atomic_define(a[0]:[next], 5); SYNC xmp_atomic_ref(&x, a[0]:[before]); wrong += x != 5; SYNC",
    "descriptor": "int ndims, size; xmp_array_ndims(xmp_desc_of(grid), &ndims);"
    " xmp_nodes_size(xmp_desc_of(p4), 1, &size); wrong += ndims != 2 || size != n;",
}
MISUSE = {
    "x = a[1]:[n];": r"xmp\.c:\d+: image 4 of a\[8\] does not exist: there are images 0\.\.3",
    "x = a[1]:[me - 9];": r"xmp\.c:\d+: image -\d of a\[8\] does not exist",
    "x = a[i + 5]:[next];": r"xmp\.c:\d+: a\[i \+ 5\]:\[next\]: index 8 of dimension 1 is out of bounds",
    "a[i:8]:[next] = c[:];": r"xmp\.c:\d+: a\[i:8\]:\[next\]: section 3:8:1 .* out of bounds",
    "c[:] = a[4:4:-i]:[next];": r"xmp\.c:\d+: a\[4:4:-i\]:\[next\]: section .* out of bounds",
    "a[0:i]:[next] = b[0:4];": r"xmp\.c:\d+: the shapes do not match: \[3\] of coarray a.* = \[4\] of this image's",
    "c[0:i] = a[0:4]:[next] + 1;": r"xmp\.c:\d+: c\[0:i\] and a\[0:4\]:\[next\] do not fit: 3 and 4 elements",
    "x = grid[0][0]:[i][0];": r"xmp\.c:\d+: coindex 3 of coarray grid is out of range",
    "\n#pragma xmp reduction(+:x) async(1)\n#pragma xmp wait_async(1, i)\n": r"xmp\.c:\d+: .*nothing with async\(3\)",
    "\n#pragma xmp bcast(x) async(1)\n": r"nobody has waited for the bcast at xmp\.c:\d+; write #pragma xmp wait_async",
    "if (me == 3) a[0:4]:[me - n] = b[0:4];": r"xmp\.c:\d+: image -1 of a\[8\] does not exist",  # not: each image
    "x = a[0]:[1LL << 32];": r"xmp\.c:\d+: image 2147483647 of a\[8\] does not exist",
    "x = grid[0][0]:[0][me - n];": r"xmp\.c:\d+: coindex -\d of coarray grid is out of range: codimension 2",
    "p = NULL; p[0:4] = a[0:4]:[next];": r"xmp\.c:\d+: a section \[4\] of memory at address NULL",
    "x = me;\n#pragma xmp sync_image(n)\n": r"xmp\.c:\d+: image 4 of the executing set",
    "c[0:i - 3:0] = 1;": r"xmp\.c:\d+: c\[0:i - 3:0\]: dimension 1 has a step of 0",
}


class Xmp(CompilerTest):
    def build(self, body: str, *flags: str) -> str:
        self.write("xmp.c", PROLOGUE + "  " + body.replace("SYNC", SYNC) + EPILOGUE)
        self.compiled("-O2", "-Wall", "-Wextra", "-Werror", *flags, "xmp.c", "-o", "xmp")
        return str(self.folder / "xmp")

    def check(self, bodies: dict[str, str]) -> None:
        for name, body in bodies.items():
            with self.subTest(name):
                program = self.build(body)
                for settings in (["-n", "4"], ["-n", "4", "--nodes", "2"]):
                    ended = execute([HIROBARUN, *settings, program], self.folder)
                    self.assertEqual((ended.returncode, ended.stdout), (0, "OK\n"), ended.stderr)

    @unittest.skipIf(ONCE, "all at once have them, too")
    def test_rows(self) -> None:
        self.check(ROWS)

    @unittest.skipIf(ONCE, "all at once have them, too")
    def test_directives(self) -> None:
        self.check(DIRECTIVES)

    def test_all_at_once_over_networks(self) -> None:
        """One program with every row, on each transport that there is."""
        body = "".join(f"{{\n{row} SYNC}}\n  RESET" for row in (*ROWS.values(), *DIRECTIVES.values()))
        reset = PROLOGUE[PROLOGUE.index("  for (int k = 0; k < 8") : PROLOGUE.rindex("  xmp_sync_all")] + SYNC
        program = self.build(body.replace("RESET", "x = 0, i = 3;\n" + reset))
        info = execute([str(pathlib.Path(HIROBARUN).with_name("hiroba")), "info"], self.folder).stdout
        for transport in ("shm", "mpi", "ucx"):
            if not re.search(rf"^\W*{transport}\b", info, re.MULTILINE):
                continue
            with self.subTest(transport):
                words = [HIROBARUN, "-n", "4", "--nodes", "2", "--transport", transport, program]
                environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
                ended = execute(words, self.folder, env=environment)
                self.assertEqual((ended.returncode, ended.stdout), (0, "OK\n"), ended.stderr)

    def test_misuse(self) -> None:
        """What can only be seen at run time ends the job with one message that says where."""
        cases = "".join(f"  if (which == {number}) {{\n{body}\n  }}\n" for number, body in enumerate(MISUSE))
        program = self.build(f'int which = atoi(getenv("CASE"));\n{cases}')
        for number, (body, message) in enumerate(MISUSE.items()):
            with self.subTest(body):
                ended = execute([HIROBARUN, "-n", "4", program], self.folder, env={"CASE": str(number)})
                self.assertNotEqual(ended.returncode, 0)
                self.assertRegex(ended.stderr, message)

    def test_image_is_no_fraction(self) -> None:
        self.write("half.c", "#include <xmp.h>\nint a:[*];\nint main(void) { return a:[0.5]; }\n")
        ended = self.compile("half.c", "-o", "half")
        self.assertNotEqual(ended.returncode, 0)
        self.assertRegex(ended.stderr, r"half\.c:3:.*invalid operands")

    def test_check_names_both_places(self) -> None:
        """Of a put and a read of the same section that nothing orders: also of the reader's own, which is a loop."""
        body = "  if (me == 1) a[2:4]:[0] = b[0:4];\n  if (me == {0}) c[0:2] = a[3:2]{1} + 1;\n"
        for reader, image in ((2, ":[0]"), (0, "")):
            program = self.build(body.format(reader, image))
            for nodes in ("1", "4"):
                words = [HIROBARUN, "-n", "4", "--nodes", nodes, "--check", program]
                ended = execute(words, self.folder)
                races = re.findall(r"check: (race .*);", ended.stderr)
                self.assertEqual(len(races), 1, ended.stderr)
                self.assertRegex(races[0], r"race on a\[8\] of image 0: .*element 3 .*")
                places = re.findall(r"rank (\d) (\w+) \w+(?: \d)? \(at xmp\.c:(\d+)\)", races[0])
                first = PROLOGUE.count("\n") + 1
                self.assertEqual(
                    sorted(places), sorted([("1", "writes", str(first)), (str(reader), "reads", str(first + 1))])
                )
            ordered = self.build(body.format(reader, image).replace("\n", "\n  xmp_sync_all(NULL);\n", 1))
            ended = execute([HIROBARUN, "-n", "4", "--check", ordered], self.folder)
            self.assertNotIn("race", ended.stderr)

    def test_explain(self) -> None:
        self.write(
            "explained.c",
            "#include <xmp.h>\nint a[8]:[*];\nint main(void) {\n  int c[8], x = a[1]:[0];\n  a[2]:[0] = x;\n"
            "  a[2]:[0] += 1;\n  c[:] = a[:]:[0];\n  a[0:2]:[0] = 3;\n  c[:] = a[:]:[0] + c[:];\n"
            "#pragma xmp barrier\n}\n",
        )
        ended = self.compile("--explain", "-c", "explained.c")
        lines = ended.stderr.splitlines()
        wanted = {
            4: "a load if the image is on this node, else xmp_get",
            5: "a store if the image is on this node, else xmp_put",
            6: "xmp_update_element",
            7: "xmp_assign",
            8: "xmp_fill",
            9: "fetched first",
            10: "xmp_barrier",
        }
        for line, words in wanted.items():
            self.assertTrue(any(f":{line}:" in each and words in each for each in lines), (line, words, lines))

    def test_no_call_for_an_element(self) -> None:
        """The way through the code for an image on the node has no call; what calls lies behind it."""
        self.write("element.c", "#include <xmp.h>\nint a[8]:[*];\nint get(int k) { return a[3]:[k]; }\n")
        self.compiled("-O2", "-S", "element.c", "-o", "element.s")
        body = (self.folder / "element.s").read_text().split("\nget:")[1].split(".cfi_endproc")[0]
        fast = body.split("\tret")[0]
        self.assertIn("\tret", body)
        self.assertNotIn("call", fast)
        self.assertIn("xmp_get", body)


if __name__ == "__main__":
    unittest.main()
