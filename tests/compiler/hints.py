"""Statements of loops that lack a reduction, each with the operator that combines what ranks have: "" if none does.
The test that uses them follows the hint, and compares with the serial program."""

# x is double, n and k int, b bool; n is 1, k and b are 0; a[i] is a power of two, c[i] an int from 0 to 4.
STATEMENTS = (
    ("max", "x = fmax(x, a[i]);"),
    ("max", "x = fmax(a[i], x);"),
    ("max", "x = x > a[i] ? x : a[i];"),
    ("max", "x = (a[i] >= x) ? a[i] : x;"),
    ("max", "if (a[i] > x) x = a[i];"),
    ("min", "if (a[i] < x) x = a[i];"),
    ("min", "if (x > a[i]) { x = a[i]; }"),
    ("min", "x = fmin(x, a[i]);"),
    ("max", "x = MAX(x, a[i]);"),
    ("max", "x = MAX(MAX(x, a[i]), 0.3);"),
    ("max", "x = GNU_MAX(x, a[i]);"),
    ("max", "x = larger(x, a[i]);"),
    ("min", "x = lesser(a[i], x);"),
    ("+", "x = added(x, a[i]);"),
    ("+", "x = minus(x, a[i]);"),
    ("", "x = minus(a[i], x);"),
    ("max", "if (a[i] <= x) continue; x = a[i];"),
    ("min", "if (!(a[i] >= x)) x = a[i];"),
    ("max", "double d = fabs(a[i] - 1); if (d > x) x = d;"),
    ("max", "if (fabs(a[i]) > x) x = fabs(a[i]);"),
    ("max", "if (x < a[i] && c[i]) x = a[i];"),
    ("max", "a[i] > x && (x = a[i]);"),
    ("max", "if (isgreater(a[i], x)) x = a[i];"),
    ("max", "for (int j = 0; j < 3; j++) x = fmax(x, a[i] * j);"),
    ("", "if (a[i] > x) x = a[i] + 1;"),
    ("", "x = fmax(x, a[i]) + 1;"),
    ("+", "x += a[i];"),
    ("+", "x -= a[i];"),
    ("+", "x = x - a[i];"),
    ("", "x = a[i] - x;"),
    ("+", "x = a[i] + x + 1;"),
    ("+", "x = x + a[i] - 2;"),
    ("+", "if (c[i] > 1) x += a[i]; else x -= a[i];"),
    ("*", "x *= a[i];"),
    ("*", "x = a[i] * x;"),
    ("*", "x /= a[i];"),
    ("", "x /= a[i]; x += 1;"),
    ("", "x += a[i]; x *= 2;"),
    ("", "x = -x;"),
    ("", "double y = x; y += a[i]; x = y;"),
    ("", "double y = x, z = y + a[i]; x = 2 * z;"),
    ("", "x += a[i]; a[i] = x;"),
    ("|", "n |= c[i] > 2;"),
    ("&", "n &= c[i] + 5;"),
    ("^", "n ^= i;"),
    ("|", "n = n | c[i];"),
    ("&", "n = c[i] & n;"),
    ("^", "n = n ^ c[i];"),
    ("&&", "n = n && c[i] > 0;"),
    ("||", "k = k || c[i] > 3;"),
    ("||", "k = c[i] == 3 || k;"),
    ("||", "if (c[i] == 3) k = 1;"),
    ("||", "if (!k && c[i] == 3) k = 1;"),
    ("&&", "if (c[i] != 3) n = 0;"),
    ("||", "if (c[i] == 3) b = true;"),
    ("&&", "if (c[i] == 3) n = false;"),
    ("||", "k = c[i] == 3 ? 1 : k;"),
    ("&&", "n = c[i] != 3 ? n : 0;"),
    ("+", "n = c[i] ? n + 1 : n;"),
    ("+", "n += c[i] > 2;"),
    ("+", "if (c[i]) n++;"),
    ("+", "n--;"),
    ("", "n <<= 1;"),
    ("", "n = n * 2 + c[i];"),
    ("", "n %= 3;"),
    ("", "n /= c[i] + 1;"),
    ("", "c[n++ % 4] = 1;"),
    ("", "if (c[i] == 3 && n > 2) n = 7;"),
    ("+", "h[c[i]]++;"),
    ("+", "h[i % 5] += c[i];"),
    ("max", "h[c[i]] = h[c[i]] > i ? h[c[i]] : i;"),
    ("|", "h[c[i]] |= i;"),
)
# The same with a variable that is set beside a maximum or minimum, its location.
LOCATED = (
    ("firstmax:x/k/", "if (a[i] > x) { x = a[i]; k = i; }"),
    ("lastmax:x/k/", "if (a[i] >= x) { x = a[i]; k = i; }"),
    ("firstmin:x/k/", "if (x > a[i]) x = a[i], k = i;"),
    ("firstmin:x/k/", "if (a[i] >= x) continue; k = i; x = a[i];"),
    ("lastmin:x/k, n/", "if (a[i] <= x) { k = i; n = c[i]; x = a[i]; }"),
)

HEAD = """#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#define N 37
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define GNU_MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
"""
FUNCTIONS = """
static double larger(double x, double y) { return x > y ? x : y; }
static double lesser(double p, double q) {
  if (p < q) return p;
  return q;
}
static double added(double x, double y) { return x + y; }
static double minus(double p, double q) { return p - q; }
"""
FILL = "for (int i = 0; i < N; i++) a[i] = i * 7 % 3 == 0 ? 0.5 : i * 7 % 3, c[i] = i * i % 5;"
DECLARED = {
    "": "double a[N]; int c[N];",
    "smint": "#include <smint.h>\n#pragma SMint shared ::[NPROCS](0,NPROCS)\ndouble a[N];\n"
    "#pragma SMint shared ::[NPROCS](0,NPROCS)\nint c[N];",
    "xmp": """#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N]; int c[N];
#pragma xmp align a[i] with t[i]
#pragma xmp align c[i] with t[i]""",
}
ABOVE = {"": "", "smint": "#pragma SMint parallel for", "xmp": "#pragma xmp loop on t[i]"}
FIRST = {"": "", "smint": "if (MYPID == 0) ", "xmp": "if (xmpc_node_num() == 0) "}


def program(notation: str, statements: list[str], clauses: list[str]) -> tuple[str, list[int]]:
    """Returns a program in which each statement has a function, and the lines where the statements are."""
    text, lines = f"{HEAD}{DECLARED[notation]}{FUNCTIONS}", []
    for number, (statement, clause) in enumerate(zip(statements, clauses, strict=True)):
        text += f"static void f{number}(void) {{\n  double x = 0.75;\n  int n = 1, k = 0, h[5] = {{0}};\n"
        text += f"  bool b = false;\n{ABOVE[notation]} {clause * bool(notation)}\n  for (int i = 0; i < N; i++) {{\n"
        lines.append(text.count("\n") + 1)
        text += f"    {statement}\n  }}\n"
        text += f'  {FIRST[notation]}printf("{number} %g %d %d %d %d %d\\n", x, n, k, b, h[1], h[4]);\n}}\n'
    calls = " ".join(f"f{number}();" for number in range(len(statements)))
    return f"{text}int main(void) {{\n{ABOVE[notation]}\n  {FILL}\n  {calls}\n}}\n", lines
