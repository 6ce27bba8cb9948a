"""The C file of some cases. It runs the cases that its arguments name, or all."""

from __future__ import annotations

from cases import Author, Case
from stencils import stencil

HEAD = """\
#ifdef hiroba_serial
#include "serial.h"
#define SERIAL(x) x
#else
#include <mpc.h>
#include <smint.h>
#define MAP(...) __VA_ARGS__
#define SERIAL(x)
#endif
#include <stdio.h>
#include <stdlib.h>

typedef struct { int a; double b; char c; } rec;
static int ix[64];
#define LESS(a, b) ((a) < (b) ? (a) : (b))
static void set_double(double *p, long v) { *p = v; }
static void set_float(float *p, long v) { *p = v; }
static void set_int(int *p, long v) { *p = v; }
static void set_long(long *p, long v) { *p = v; }
static void set_char(char *p, long v) { *p = v; }

static unsigned long faults_now(void) {
  sms_statistics now;
  sms_stats(NULL, &now);
  return now.read_faults;
}
static void expect_no_faults(int number, int step, unsigned long faults) {
  if (faults != 0 && getenv("FUZZ_FAULTS"))
    printf("case %d, step %d: %lu read faults on rank %d\\n", number, step, faults, MYPID);
}
"""


def function_of(case: Case, keep: frozenset[int]) -> list[str]:
    n = case.number
    out = [array.declaration(case.mpc) for array in case.arrays]
    for name in case.scalars:
        directive = ["#pragma SMint shared ::[1](0,1)", f"long {name};"]
        out += [f"shared long {name} MAP(::[1](0,1));"] if case.mpc else directive
    for name, first in case.params.items():
        if name in case.shared_params and case.mpc:
            out += [f"shared int {name} MAP(::[1](1,1)) = {first};"]
        elif name in case.shared_params:
            out += ["#pragma SMint shared ::[1](1,1)", f"int {name} = {first};"]
        else:
            out += [f"static int {name} = {first};"]
    for function in case.functions:
        out += function
    out += [f"static void case_{n}(void) {{", "  long red = 1;", "  (void)red;"]
    for k, piece in enumerate(case.pieces):
        if k in keep:
            out += ["  {", *(line if line.startswith("#") else f"    {line}" for line in piece), "  }"]
    out += ["  if (MYPID == 0) {", "    unsigned long h;"]
    for array in case.arrays:
        loops = "".join(f"for (int {v} = 0; {v} < {m}; {v}++) " for v, m in zip("ijk", array.dims, strict=False))
        place = array.name + "".join(f"[{v}]" for v, _ in zip("ijk", array.dims, strict=False))
        fields = (".a", ".b", ".c") if array.kind == "rec" else ("",)
        value = " + 3 * ".join(f"(unsigned long)(long){place}{f}" for f in fields)
        out += ["    h = 0;", f"    {loops}h = h * 31 + {value};"]
        out += [f'    printf("case {n} {array.name} %lu\\n", h);']
    out += [f'    printf("case {n} {name} %ld\\n", {name});' for name in case.scalars]
    return [*out, f'    printf("case {n} red %ld\\n", red);', "  }", "}", ""]


def draw_cases(seed: int, count: int, left_out: frozenset[str]) -> list[Case]:
    """One case in ten counts faults, in programs with directives only."""
    return [stencil(seed, n) if n % 10 == 9 else Author(seed, n, left_out).draw() for n in range(count)]


def text_of(cases: list[Case], keep: dict[int, frozenset[int]] | None = None) -> str:
    """`keep` says which pieces of a case stay; the others keep all."""
    out = [HEAD]
    for case in cases:
        out += function_of(case, (keep or {}).get(case.number, frozenset(range(len(case.pieces)))))
    mpc = any(case.mpc for case in cases)
    out += ["int main(int argc, char **argv) {", *(["  mpc_init(&argc, &argv);"] if mpc else [])]
    out += ["  for (int k = 0; k < 64; k++) ix[k] = (k * 37 + 11) % 64;"]
    out += ["  for (int k = 1; k < argc || k == 1; k++) {", "    const int wanted = argc > 1 ? atoi(argv[k]) : -1;"]
    out += [f"    if (wanted < 0 || wanted == {case.number}) case_{case.number}();" for case in cases]
    out += ["  }", *(["  mpc_exit();"] if mpc else []), "  return 0;", "}", ""]
    return "\n".join(out)
