"""Random programs of loops whose tiles are tasks, beside the same loops without directives on other arrays. Subscripts
stay in the arrays; iterations of the outermost loop are independent."""

import random
import re

N = 24
HEAD = f"""#include <smint.h>
#include <stdio.h>
enum {{ N = {N} }};
#pragma SMint shared ::[NPROCS][](0, NPROCS)
long a[N][N], b[N][N], c[N][N];
#pragma SMint shared ::[NPROCS](0, NPROCS)
long x[N], y[N];
static long A[N][N], B[N][N], C[N][N], X[N], Y[N];
static int g, order[N];
int main(void) {{
"""
START = """for (int i = 0; i < N; i++) {
    x[i] = i * 7 % 13, y[i] = i * 5 % 11;
    for (int j = 0; j < N; j++) a[i][j] = (i * 31 + j * 17) % 101, b[i][j] = i * 3 + j * 57, c[i][j] = (i + j) % 7;
  }"""
TAIL = """  int wrong = 0;
  for (int i = 0; i < N; i++) {
    wrong += (x[i] != X[i]) + (y[i] != Y[i]);
    for (int j = 0; j < N; j++) wrong += (a[i][j] != A[i][j]) + (b[i][j] != B[i][j]) + (c[i][j] != C[i][j]);
  }
  if (wrong > 0) printf("%d wrong on rank %d\\n", wrong, MYPID);
  return wrong > 0;
}
"""
INNER = (("2", "N - 2"), ("2", "i"), ("i", "N - 2"), ("i - 2", "i + 2"))


def heads(dice: random.Random) -> tuple[str, str]:
    """Of two loops, the bounds of the inner one of which may follow the outer one."""
    low, high = 4 + dice.randint(0, 3), N - 4 - dice.randint(0, 3)
    step, step_inside = dice.choice((1, 1, 1, 2, 3)), dice.choice((1, 1, 1, 2, 3))
    first, end = dice.choice(INNER)
    outer = f"for (int i = {low}; i < {high}; i += {step})"
    if dice.random() < 0.3:
        outer = f"for (int i = {high} - 1; i >= {low}; i -= {step})"
    if dice.random() < 0.3:
        return outer, f"for (int j = {first}; j < ({end} < 14 ? {end} : 14); j += {step_inside})"
    if dice.random() < 0.3:
        return outer, f"for (int j = {end} - 1; j >= {first}; j -= {step_inside})"
    return outer, f"for (int j = {first}; j < {end}; j += {step_inside})"


def nest(dice: random.Random) -> tuple[str, str]:
    """A nest, and its clause."""
    outer, inner = heads(dice)
    to, one, other = dice.sample(("a", "b", "c"), 3)

    def read(name: str) -> str:
        return f"{name}[i{dice.choice(('', ' - 1', ' + 1', ' - 2'))}][j{dice.choice(('', ' - 1', ' + 1', ' + 2'))}]"

    value = f"({read(one)} + 3 * {read(one)} - {read(other)} + g + x[i]) % 1009"
    perfect = (
        f"{inner} {to}[i][j] = {value};",
        f"{inner} {to}[i][j] += {value};",
        f"{inner} if ((i + j) % 3 == {dice.randint(0, 2)}) {to}[i][j] = {value};",
        f"{inner} {to}[order[i]][j] = {value};",
        f"{inner} {to}[i][j] = ({one}[order[i]][j % 7 + j / 7] + {other}[order[n]][order[j]]) % 1009;",
        f"{inner} {{ {to}[j][i] = 5; for (int k = 0; k < n; k++) "
        f"{to}[j][i] = ({to}[j][i] * 7 + {one}[k][i] + {other}[i][k]) % 1009; }}",
    )
    others = (
        f"{{ y[i] = {dice.randint(1, 9)}; {inner} y[i] = (y[i] * 3 + {one}[i][j]) % 1009; }}",
        f"{{ x[i] = (x[i] + y[i - 1] + y[i + 1]) % 1009; {inner} {to}[i][j] = x[i] + j; }}",
    )
    body = dice.choice((*perfect, *others))
    deep = dice.randint(1, 2 if body in perfect else 1)
    sizes = ", ".join(dice.choice(("3", "5", "8", "auto", "n + 1")) for _ in range(deep))
    return f"{outer} {body}", f" tile({sizes})" if dice.random() < 0.85 else ""


def serial(text: str) -> str:
    return re.sub(r"\b[abcxy]\b(?=\[)", lambda found: found[0].upper(), text)


def program(seed: int) -> str:
    dice = random.Random(seed)
    pragma = "#pragma SMint parallel for tasks"
    tasks, plain = [f"{pragma} tile(7)", f"  {START}"], [f"  {serial(START)}"]
    for _ in range(12):
        times = dice.choice((1, 1, 4))
        head = f"  for (g = 0; g < {times}; g++) {{"
        tasks.append(head)
        plain.append(head)
        for text, clause in (nest(dice) for _ in range(1 + times // 4)):
            tasks += [pragma + clause, f"  {text}"]
            plain.append(f"  {serial(text)}")
        tasks.append("  }")
        plain.append("  }")
    order = f"  for (int i = 0; i < N; i++) order[i] = (i * {dice.choice((1, 5, 7))} + {dice.randint(0, 9)}) % N;"
    return "\n".join([f"{HEAD}  const int n = {dice.randint(0, 5)};", order, *tasks, *plain, TAIL])
