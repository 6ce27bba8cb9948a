"""Random programs with transactions, from a seed: C without another notation, which a compiler that does not know the
directive takes for a sequential program. With AGAIN each block runs twice, the first time in vain."""

import random

HEAD = """#include <stdio.h>
#ifdef RESTARTED
#include <hiroba/transaction.h>
int first_time(int place) __attribute__((const));
#define AGAIN if (first_time(__LINE__)) hiroba_tx_restart();
#else
#define AGAIN
#endif
struct part { int n; unsigned bits : 5, more : 9; long v[3]; struct part* next; };
static int i0 = 3, i1 = -4, many[6] = {1, 2, 3, 4, 5, 6};
static long l0 = 77; static short s0 = 12; static unsigned char c0 = 200; static unsigned u0 = 5; static double d0 = 2;
static struct part p0 = {1, 2, 3, {4, 5, 6}, 0}, p1 = {7, 8, 9, {10, 11, 12}, &p0}, *pp = &p1;
static int add(int a, int b) { i1 ^= b; return a + b; }
static void raise(int* at, int n) { if (n > 0) { *at += n; raise(at, n / 2); } }
static long walk(struct part* at) {
  long sum = 0;
  for (; at; at = at->next) sum += at->n + at->v[at->bits % 3];
  return sum;
}
static void swap(long* a, long* b) { long t = *a; *a = *b; *b = t; }
"""
TAIL = """  printf("%d %d %ld %d %d %u %g %d %d\\n", i0, i1, l0, s0, c0, u0, d0, x, y);
  printf("%d %u %u %ld %ld ", p0.n, p0.bits, p0.more, p0.v[2], walk(&p1));
  printf("%d %u %ld %d\\n", p1.n, p1.more, p1.v[1], w0);
  for (int i = 0; i < 6; i++) printf(" %d", many[i]);
  printf(" %d %d\\n", own[0], own[1]);
  return (w1 + w2) & 0;
}
"""
# Its state is in another file, so that no block undoes it.
FIRST_TIME = "int first_time(int place) { static char seen[10000]; return (seen[place % 10000] ^= 1) != 0; }\n"
MEMBERS = ("p0.n", "p1.bits", "pp->more", "pp->v[{}]", "pp->n", "p0.v[{}]")
NUMBERS = (*MEMBERS, "i0", "i1", "s0", "c0", "u0", "l0", "many[{}]", "x", "y", "own[{}]", "(*q)")
OPERATORS = ("=", "+=", "-=", "*=", "^=", "|=", "&=")
POINTED = (
    "pp = pp->next ? pp->next : &p1;",
    "q = q == &x ? &i0 : &x;",
    "d0 += 1.5;",
    "p1.v[0] = p0.v[1]; swap(&p0.v[2], &p1.v[1]);",
    "pp->v[0] = walk(&p1) & 0xffff;",
)


class Program:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.depth = 0

    def place(self) -> str:
        text = self.random.choice(NUMBERS)
        return (
            text.format(f"({self.value()}) & {1 if 'own' in text else 2 if '->' not in text else 1}")
            if "{" in text
            else text
        )

    def value(self) -> str:
        """An expression without effects, whose operands may be evaluated in any order."""
        self.depth += 1
        kind = self.random.randrange(9 if self.depth < 4 else 2)
        try:
            if kind == 0:
                return str(self.random.randrange(-9, 30))
            if kind == 1:
                return f"(int){self.place()}"
            if kind in (2, 3):
                return f"({self.value()} {self.random.choice('+-^|&')} {self.value()})"
            if kind == 4:
                return f"({self.value()} < {self.value()} ? {self.value()} : {self.value()})"
            if kind == 5:
                return f"({self.value()} && {self.value()})"
            if kind == 6:
                return "((int)(sizeof many / sizeof *many) + (int)walk(pp))"
            if kind == 7:
                return f"(int)(d0 / 4) + !{self.value()}"
            return f"(unsigned char)(({self.value()}) >> 3)"
        finally:
            self.depth -= 1

    def statement(self, depth: int = 0) -> str:
        kind = self.random.randrange(12 if depth < 2 else 7)
        inner = " ".join(self.statement(depth + 1) for _ in range(self.random.randrange(1, 4))) if kind > 6 else ""
        if kind < 3:
            return f"{self.place()} {self.random.choice(OPERATORS)} {self.value()};"
        if kind == 3:
            text = self.random.choice(("{}++", "++{}", "{}--", "--{}")).format(self.place())
            return self.random.choice((f"{text};", f"w{depth} = (int){text};"))
        if kind == 4:
            return self.random.choice(POINTED)
        if kind == 5:
            calls = (f"raise(&many[1], ({self.value()}) & 31);", f"raise(q, ({self.value()}) & 7);")
            return self.random.choice(
                (*calls, f"y = add(x, {self.value()});", "{ struct part t = p0; t.n++; p0.n = t.n; }")
            )
        if kind == 6:
            return f"{{ int t{depth} = {self.value()}; int* r = &t{depth}; raise(r, 3); y ^= *r; }}"
        if kind in (7, 8):
            return f"if ({self.value()}) {{ {inner} }} else {{ {self.statement(depth + 1)} }}"
        if kind == 9:
            return f"for (int k{depth} = 0; k{depth} < {self.random.randrange(1, 4)}; k{depth}++) {{ {inner} }}"
        if kind == 10:
            cases = f"case 0: {inner} break; case 1: y--; break; default: i0 &= 0xffff;"
            return f"switch (({self.value()}) & 3) {{ {cases} }}"
        return f"{{\n#pragma hiroba atomic\n{{ {inner} }}\n}}"

    def text(self) -> str:
        blocks = []
        for _ in range(self.random.randrange(3, 7)):
            inside = "\n  ".join(self.statement() for _ in range(self.random.randrange(2, 7)))
            outside = self.statement(1)
            blocks.append(f"{outside}\n#pragma hiroba atomic\n{{\n  {inside}\n  AGAIN\n}}")
        variables = "int x = 1, y = 2, own[2] = {3, 4}, *q = &x, w0 = 0, w1 = 0, w2 = 0;"
        return "\n".join([f"{HEAD}int main(void) {{", f"  {variables}", *blocks, TAIL])
