"""C11's name spaces and scopes in programs whose shared array is called x: each entry is the body of a function, all
are compiled by the C compiler, with an array of its own, and by hirobacc, in each notation, and print the same."""

import re
import shutil
import unittest

from compiling import CompilerTest, execute

# By clause of C11, or extension of GNU C.
BODIES = {
    "6.2.1 typedef in a block": "typedef float x; return sizeof(x);",
    "6.2.1 typedef of a struct": "typedef struct { double re, im; } x; x v = {1, 2}; return sizeof(x) + (int)v.im;",
    "6.2.1 typedef in a cast": "typedef int x; return (x)2.5;",
    "6.2.1 typedef in a literal": "typedef int x; return ((x[]){1, 2})[1];",
    "6.2.1 typedef, pointer or product": "typedef char x; x *p = 0; int y = sizeof(x) * sizeof *p; return y;",
    "6.2.1 typedef around": "typedef char x; { x c = 3; { double x[2] = {c}; return sizeof x + (int)x[0]; } }",
    "6.2.1 variable": "int x = 4; return x;",
    "6.2.1 its own initialiser": "int x = sizeof x; return x;",
    "6.2.1 its own extent": "char x[sizeof x / sizeof x[0]]; return sizeof x;",
    "6.2.1 behind a block": "int y = x[1]; { int x = 3; y += x; } return y + x[2];",
    "6.2.1 between two blocks": "int y; { typedef char x; y = sizeof(x); } y += x[3]; { int x = 5; y += x; } return y;",
    "6.2.1 static variable": "static int x = 7; return x++;",
    "6.2.1 register variable": "register int x = 7; return x;",
    "6.2.1 for": "int y = 0; for (int x = 0; x < 3; x++) y += x; return y + x[4];",
    "6.2.1 body of a for": "int y = 0; for (int i = 0; i < 3; i++) { int x = i; y += x; } return y + x[5];",
    "6.2.1 condition of an if": "if (sizeof(enum { x = 9 }) && x == 9) return x; return 0;",
    "6.2.1 extern in a block": "extern double x[40]; return x[6];",
    "6.2.1 extern behind a variable": "int x = 1; { extern double x[40]; return x[7]; } return x;",
    "6.2.1 prototype in a block": "int takes(double x, int (*)[sizeof x]); return takes(x[8], 0);",
    "6.2.1 parameter": "return parameter(3) + x[1];",
    "6.2.1 parameter of a pointer": "int (*p)(int x) = parameter; return p(4) + x[1];",
    "6.2.1 parameter of a cast": "return ((int (*)(int x))(void *)parameter)(5);",
    "6.2.1 extent of a parameter": "return extent(3, (double[3]){1, 2, 3});",
    "6.2.3 tag": "struct x v = {3}; return v.q + sizeof(struct x);",
    "6.2.3 tag in a block": "struct x { char c[5]; }; return sizeof(struct x);",
    "6.2.3 tag of a union": "union u { struct x x; int i; } v = {.x = {4}}; return v.i + v.x.q;",
    "6.2.3 member": "struct particle p = {1, 2}, *q = &p; return p.x + q->x + (*q).x;",
    "6.2.3 member of a member": "struct { struct particle x; } p = {{1, 2}}; p.x.x = 7; return p.x.x;",
    "6.2.3 member of an unnamed struct": "struct { struct { int x; }; } p = {{5}}; return p.x;",
    "6.2.3 bit-field": "struct { unsigned x : 3; } p = {9 & 7}; p.x++; return p.x;",
    "6.2.3 member that is an array": "struct { int n, x[3]; } p = {0, {1, 2, 3}}; return p.x[1] + x[p.x[1]];",
    "6.2.3 label": "int y = 0; x: y++; if (y < 3) goto x; return y;",
    "6.2.3 label in a switch": "switch ((int)x[1]) { case 0: return 1; case 1: goto x; x: return 2; } return 3;",
    "6.2.3 enumerator": "enum { y, x }; return x;",
    "6.2.3 enumerator of its own value": "enum { y = sizeof x, x = y + 1 }; return x;",
    "6.2.3 tag of an enum": "enum x { y = 4 } e = y; return e;",
    "6.5.1.1 generic selection": "return _Generic(&x[0], struct x *: 1, double *: (int)x[3], default: 2);",
    "6.5.2.5 compound literal": "return ((struct x){.q = x[2]}).q + ((struct particle){.x = x[3]}).x;",
    "6.5.3.4 sizeof": "return sizeof x + sizeof(x) + sizeof(x[0]) + sizeof *x;",
    "6.7.9 designators": "struct particle p[2] = {[1].x = x[2], [0] = {.x = x[3], .mass = 1}}; return p[0].x + p[1].x;",
    "6.7.10 static assertion": '_Static_assert(sizeof(struct x) == sizeof(int), "x"); return 1;',
    "7.16 va_arg": "return variable(1, (struct x){6});",
    "7.19 offsetof": "return offsetof(struct particle, x);",
    "7.19 offsetof of such": "struct s { struct { int n, x[3]; } x; }; return offsetof(struct s, x.x[2]);",
    "GNU types_compatible_p": "return __builtin_types_compatible_p(struct x, struct particle);",
    "GNU typeof": "__typeof__(x[0]) y = x[3]; __typeof__(&x) p = &x; return y + (*p)[4];",
    "GNU typeof a tag": "__typeof__(struct x) v = {3}; return v.q;",
    "GNU auto type": "__auto_type x = 3; return x;",
    "GNU statement expression": "return ({ int x = 3; x; }) + ({ int y = x[4]; y; });",
    "GNU nested function": "int inner(int x) { return x + 1; } return inner(x[2]);",
    "GNU nested function without parameter": "int inner(void) { return x[2]; } return inner();",
    "GNU address of a label": "void *l = &&x; goto *l; x: return 1;",
    "GNU and, behind a value": "int y = 1; return y && x[1];",
    "GNU local label": "return ({ __label__ x; int y = 0; x: if (++y < 4) goto x; y; });",
    "GNU asm operand": 'int r = 3; __asm__("" : [x] "+r"(r)); return r;',
    "GNU asm operands": 'int r = x[2], s; __asm__("" : [x] "=r"(s) : "0"(r), [z] "m"(x[3])); return s;',
    "GNU old designator": "struct particle p = {x: x[5], mass: 1}; return p.x;",
    "GNU attribute": 'int y __attribute__((unused, aligned(sizeof(struct x)))) = 5; return y;',
    "GNU case range": "switch ((int)x[3]) { case 1 ... 3: { int x = 2; return x; } } return 0;",
    "GNU left out operand": "return x[3] ?: 7;",
    "macros": "struct particle p = {1, 2}; return SELF(x) + MEMBER(p);",
}  # fmt: skip
BEFORE = """struct particle { double mass, x; };
struct x { int q; };
int takes(double x, int (*p)[sizeof x]) { return (int)x + sizeof *p / sizeof **p; }
static int parameter(int x) { return x; }
static int extent(int n, double x[n]) { return (int)x[n - 1]; }
static int old(x, n) double *x; int n; { return (int)x[n]; }
static int variable(int n, ...) {
  va_list l;
  va_start(l, n);
  struct x v = va_arg(l, struct x);
  va_end(l);
  return v.q;
}
"""
HEADERS = (
    "#define SELF(v) ((v)[9])\n#define MEMBER(v) v.x\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdio.h>\n"
)
NOTATIONS = {
    "smint": ("#include <smint.h>\n", "#pragma SMint shared ::[NPROCS](0,NPROCS)\ndouble x[40];\n", "", ""),
    "static": ("#include <smint.h>\n", "#pragma SMint shared ::[NPROCS](0,NPROCS)\nstatic double x[40];\n", "", ""),
    "mpc": ("#include <mpc.h>\n", "shared double x[40]::[NPROCS](0,NPROCS);\n", "mpc_init(0, 0);", "mpc_exit();"),
    "coarray": ("#include <xmp.h>\n", "double x[40]:[*];\n", "", ""),
    "coarray by directive": ("#include <xmp.h>\n", "double x[40];\n#pragma xmp coarray x:[*]\n", "", ""),
}  # fmt: skip


def program(header: str, declaration: str, first: str, last: str) -> str:
    bodies = {name: body for name, body in BODIES.items() if "static" not in declaration or "extern" not in body}
    functions = "".join(f"static int f{i}(void) {{ {body}\n}}\n" for i, body in enumerate(bodies.values()))
    calls = "".join(f'  printf("%s: %d\\n", "{name}", f{i}());\n' for i, name in enumerate(bodies))
    above = "#pragma SMint single\n" if "smint" in header else ""
    fill = f"{above}  for (int i = 0; i < 40; i++) x[i] = i;\n"
    main = f'int main(void) {{\n  {first}\n{fill}  printf("%d\\n", old(x, 4));\n{calls}  {last}\n  return 0;\n}}\n'
    return header + HEADERS + declaration + BEFORE + functions + main


# Ways to write main; BODY is what it does. test_scopes.py has more.
MAINS = {
    "GNU style": "int\nmain (void)\nBODY",
    "old parameters without type": "main(argc, argv)\n  char **argv;\nBODY",
    "a macro, called elsewhere": "int main();\nint f(void) { return\nmain(); }\n#define MAIN int main(void)\nMAIN BODY",
}
MAIN_BODY = """{
  double s = 0;
#pragma SMint parallel for
  for (int i = 0; i < 40; i++) x[i] = i;
#pragma SMint parallel for reduction(+:s)
  for (int i = 0; i < 40; i++) s += x[i];
  if (MYPID == 0) printf("%g\\n", s);
}
"""

# Names beyond ASCII in each notation: declarations, directives, macros in directives, and universal character names.
WIDE = {
    "xmp": """#define GRÖSSE 100
#pragma xmp nodes π[*]
#pragma xmp template größe[GRÖSSE]
#pragma xmp distribute größe[block] onto π
double h\\u00f6he[GRÖSSE];
#pragma xmp align höhe[ä] with größe[ä]
int bild[4]:[*];
int main(void) {
  double Σ = 0, größte = 0;
#pragma xmp loop on größe[ä] reduction(+:Σ) reduction(max:größte)
  for (int ä = 0; ä < GRÖSSE; ä++) { höhe[ä] = ä; Σ += höhe[ä]; größte = größte > ä ? größte : ä; }
  bild[0:4] = xmpc_this_image();
#pragma xmp barrier
  int é = bild[1]:[0];
#pragma xmp bcast(é) from π[0] on π
#pragma xmp task on π[0]
  printf("%g %g größe\\n", Σ + é, größte);
}
""",
    "smint": """#pragma SMint shared ::[NPROCS](0,NPROCS)
double höhe[100];
int main(void) {
  double Σ = 0;
#pragma SMint parallel for reduction(+:Σ)
  for (int ä = 0; ä < 100; ä++) { höhe[ä] = ä; Σ += höhe[ä]; }
#pragma SMint critical(zähler)
  Σ += 0;
#pragma hiroba task inout(höhe[0:100]) label(größer)
  höhe[3] = 99;
#pragma hiroba taskwait
#pragma hiroba atomic
  { höhe[2] += Σ; }
  if (MYPID == 0) printf("%g %g größe\\n", Σ, höhe[3]);
}
""",
    "mpc": """shared double größe[100]::[NPROCS](0,NPROCS);
int main(int n, char** v) {
  mpc_init(&n, &v);
  for (int ä = MYPID; ä < 100; ä += NPROCS) größe[ä] = ä;
  mpc_barrier();
  double Σ = 0;
  for (int ä = 0; ä < 100; ä++) Σ += größe[ä];
  if (MYPID == 0) printf("%g %g größe\\n", Σ, größe[99]);
  mpc_exit();
}
""",
}


class Names(CompilerTest):
    maxDiff = None

    def test_each_name_space_in_each_notation(self) -> None:
        compiler = shutil.which("gcc") or "cc"
        for notation, parts in NOTATIONS.items():
            plain = re.sub(r"shared (double.*)::.*;", r"\1;", parts[1]).replace(":[*]", "")
            file = self.write("plain.c", program("", re.sub(r"#.*\n", "", plain), "", ""))
            built = execute([compiler, "-w", "-std=gnu17", str(file), "-o", "plain"], self.folder)
            self.assertEqual((built.returncode, built.stderr), (0, ""))
            expected = execute([str(self.folder / "plain")], self.folder)
            file = self.write("ours.c", program(*parts))
            with self.subTest(notation):
                self.compiled("-w", "-std=gnu17", "--cc", compiler, file, "-o", "ours")
                got = self.launch(1, 1, self.folder / "ours")
                self.assertEqual((got.returncode, got.stdout), (0, expected.stdout))

    def test_each_way_to_write_main(self) -> None:
        for name, shape in MAINS.items():
            file = self.write("main.c", "".join(NOTATIONS["smint"][:2]) + HEADERS + shape.replace("BODY", MAIN_BODY))
            with self.subTest(name):
                self.compiled("-w", "-std=gnu17", file, "-o", "main")
                self.assertEqual(self.launch(1, 1, self.folder / "main").stdout, "780\n")

    def test_beyond_ascii(self) -> None:
        for notation, text in WIDE.items():
            with self.subTest(notation):
                self.write("wide.c", f"#include <stdio.h>\n#include <{notation}.h>\n{text}")
                self.compiled("-fopenmp", "wide.c", "-o", "wide")
                self.check_answer(self.folder / "wide", "4950 99 größe\n", jobs=[(3, 2)])
        text = "#include <xmp.h>\n#pragma xmp nodes p[*]\nint main(void) {\n  int größe = 1;\n"
        self.write("wrong.c", text + "  (void)größe;\n#pragma xmp task on π[0]\n  ;\n}\n")
        ended = self.compile("-c", "wrong.c")
        self.assertIn("wrong.c:6:21: error: `π` is no node array", ended.stderr)
        self.assertIn("    6 | #pragma xmp task on π[0]\n", ended.stderr)


if __name__ == "__main__":
    unittest.main()
