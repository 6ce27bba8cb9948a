"""Random programs in XcalableMP's global view, each a function that compares with a sequential run of the same in
private memory: templates, distributions, alignments, shadows, loops, reflect and sections of gmove. What a function
does is random, and most of its numbers are drawn when it runs: extents, bounds, nodes, widths, sections. So one
compilation tries each function with many numbers. To repeat one of them alone:

    python3 global_programs.py SEED 20 > a.c; hirobacc a.c -o a; hirobarun -n 3 a DRAW DRAW+1 FUNCTION
"""

from __future__ import annotations

import random
import re

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>
static int wrong, n, function, draw;
static unsigned long long state;
/* A number from `low` to `high`, the same one on all nodes. */
static int between(int low, int high) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return low + (int)((state >> 33) % (unsigned)(high - low + 1));
}
/* A divisor of `nodes`. */
static int factor(int nodes) {
  int chosen = between(1, nodes);
  while (nodes % chosen) chosen--;
  return chosen;
}
static int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a < b ? b : a; }
/* Sizes of gblock: any that add up. */
static void cut(int sizes[], int pieces, int extent) {
  for (int i = 0; i < pieces; i++) {
    sizes[i] = i == pieces - 1 ? extent : between(0, least(extent, 2 * extent / (pieces - i) + 1));
    extent -= sizes[i];
  }
}
static void fail(const char* what, long at) {
  if (wrong++ < 3) printf("rank %d: function %d, draw %d: %s at %ld\\n", xmpc_node_num(), function, draw, what, at);
}
"""
# Arguments: the first draw, and the one after the last; and a function, which is executed alone.
MAIN = """int main(int argc, char* argv[]) {
  static void (*const functions[])(void) = {FUNCTIONS};
  const int first = argc > 1 ? atoi(argv[1]) : 0, end = argc > 2 ? atoi(argv[2]) : 1;
  n = xmp_num_nodes();
  for (draw = first; draw < end; draw++)
    for (function = 0; function < (int)(sizeof functions / sizeof functions[0]); function++) {
      if (argc > 3 && function != atoi(argv[3])) continue;
      if (xmpc_node_num() == 0) fprintf(stderr, "function %d, draw %d\\n", function, draw);
      state = 1000u * (unsigned)draw + (unsigned)function;
      between(0, 1);
      functions[function]();
    }
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  return wrong != 0;
}
"""
NAMES = "ijkluvw"  # of the dimensions of an array
DIMS = [1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7]  # of the larger array
# Reductions of unsigned long: what a loop does with each element.
REDUCED = {
    "+": "sum += x", "-": "sum -= x", "*": "sum *= 2 * x + 1", "&": "sum &= x | 8", "|": "sum |= x", "^": "sum ^= x",
    "&&": "sum = sum && x != 11", "||": "sum = sum || x == 11", "max": "if (x > sum) sum = x",
    "min": "if (x < sum) sum = x",
}  # fmt: skip


class Numbers:
    """The numbers of one function, as C."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []  # for the begin of the function

    def name(self, value: str) -> str:
        self.lines.append(f"  const int c{len(self.lines)} = {value};")
        return f"c{len(self.lines) - 1}"

    def between(self, low: int | str, high: int | str) -> str:
        """Returns a number that is written if the bounds are, and drawn else."""
        if isinstance(low, int) and isinstance(high, int) and self.rng.random() < 0.2:
            return str(self.rng.randint(low, high))
        return self.name(f"between({low}, {high})")

    def one_of(self, *values: int) -> str:
        if self.rng.random() < 0.2:
            return str(self.rng.choice(values))
        return self.name(f"(const int[]){{{', '.join(map(str, values))}}}[between(0, {len(values) - 1})]")

    def grid(self, dims: int) -> list[str]:
        """Returns the extents of a node array of all nodes."""
        out, left = [], "n"
        for _ in range(dims - 1):
            out.append(self.name(f"factor({left})"))
            left += f" / {out[-1]}"
        out.append(self.name(left))
        self.rng.shuffle(out)
        return out


class Array:
    """An array and its alignment with a template of its own. Its extents are C."""

    def __init__(self, numbers: Numbers, name: str, kind: str, extents: list[str], may_shadow: bool) -> None:
        self.numbers, self.name, self.kind, self.extents = numbers, name, kind, extents
        rng = self.rng = numbers.rng
        dims = len(extents)
        self.order = list(range(dims))
        rng.shuffle(self.order)
        aligned = self.order[: rng.randint(1, dims)]
        # The dimensions of the template: that of the array, or None where nodes have copies.
        self.axes: list[int | None] = [*aligned]
        if rng.random() < 0.3 and len(self.axes) < 7:
            self.axes.insert(rng.randint(0, len(self.axes)), None)
        self.lower = [numbers.one_of(0, 0, 3, -4) for _ in self.axes]
        # What is added to an index of the array for that of the template.
        self.offset: dict[int, str] = {}
        self.size: list[str] = []  # of the template, which may have indices without element
        for low, d in zip(self.lower, self.axes, strict=True):
            if d is None:
                self.size.append(numbers.between(4, 6))
                continue
            more = numbers.one_of(0, 0, 2)
            self.offset[d] = "0" if low == more == "0" else numbers.name(f"{low} + {more}")
            self.size.append(numbers.name(f"{extents[d]} + {more} + {numbers.one_of(0, 1, 3)}"))
        choices = ["block", "block", "block(w)", "gblock", "cyclic", "cyclic(w)", "cyclic(w)", "*"]
        self.formats = [rng.choice(choices) for _ in self.axes]
        if all(f == "*" for f in self.formats):
            self.formats[0] = "block"
        self.formats = [f.replace("w", numbers.between(1, 4)) if "w" in f else f for f in self.formats]
        # Of each dimension: the widths below and above, or "*", which is all of it.
        self.shadow: list[tuple[str, str] | str] = [("0", "0")] * dims
        for t, d in enumerate(self.axes) if may_shadow else ():
            if d is not None and rng.random() < 0.1:
                self.shadow[d] = "*"
            elif d is not None and "block" in self.formats[t]:
                self.shadow[d] = (numbers.between(0, 2), numbers.between(0, 2))
        self.round = rng.random() < 0.4
        self.is_fixed_later, self.is_pointer = rng.random() < 0.3, rng.random() < 0.3

    def listed(self, parts: list[str]) -> str:
        return f"({','.join(reversed(parts))})" if self.round else "".join(f"[{p}]" for p in parts)

    def subscript(self, t: int) -> str:
        d = self.axes[t]
        if d is None:
            return "*"
        return NAMES[d] + (f" + {self.offset[d]}" if self.offset[d] != "0" else "")

    def declare(self) -> list[str]:
        rng, a, t = self.rng, self.name, f"t{self.name}"
        divided = [x for x, f in enumerate(self.formats) if f != "*"]
        grid = self.numbers.grid(len(divided))
        pieces = dict(zip(divided, grid, strict=True))
        cuts = [x for x, f in enumerate(self.formats) if f == "gblock"]
        open_ = self.is_fixed_later and rng.random() < 0.5
        if rng.random() < 0.3:
            grid[rng.randrange(len(grid))] = "*"
        nodes = f"({','.join(reversed(grid))})" if rng.random() < 0.5 else "".join(f"[{g}]" for g in grid)
        bounds = [
            f"{low}:{low} + {size} - 1" if self.round else f"{low}:{size}"
            for low, size in zip(self.lower, self.size, strict=True)
        ]
        given = [f"gblock({'*' if open_ else f's{a}{x}'})" if f == "gblock" else f for x, f in enumerate(self.formats)]
        if self.round:
            given = [re.sub("gblock|block|cyclic", lambda word: word[0].upper(), f) for f in given]
        sources = "".join(f"[{NAMES[d] if d in self.axes else '*'}]" for d in range(len(self.extents)))
        out = [
            f"#pragma xmp nodes p{a}{nodes}",
            *(f"  int s{a}{x}[16]; cut(s{a}{x}, {pieces[x]}, {self.size[x]});" for x in cuts),
            f"#pragma xmp template {t}{self.listed([':'] * len(bounds) if self.is_fixed_later else bounds)}",
            f"#pragma xmp distribute {t}{self.listed(given)} onto p{a}",
            f"  {self.kind} {self.declared()}, o{a}{self.shape()};",
            f"#pragma xmp align {a}{sources} with {t}{self.listed([self.subscript(x) for x in range(len(self.axes))])}",
        ]
        if any(widths != ("0", "0") for widths in self.shadow):
            widths = ["[*]" if w == "*" else f"[{w[0]}:{w[1]}]" if w[0] != w[1] else f"[{w[0]}]" for w in self.shadow]
            out.append(f"#pragma xmp shadow {a}{''.join(widths)}")
        if self.is_fixed_later:
            sizes = [f"gblock(s{a}{x})" if f == "gblock" else f for x, f in enumerate(self.formats)]
            out.append(f"#pragma xmp template_fix{self.listed(sizes) if open_ else ''} {t}{self.listed(bounds)}")
        if self.is_pointer:
            out.append(f"  {a} = xmp_malloc(xmp_desc_of({a}), {', '.join(self.extents)});")
        return out

    def declared(self) -> str:
        if not self.is_pointer:
            return f"{self.name}{self.shape()}"
        return f"(*{self.name}){''.join(f'[{e}]' for e in self.extents[1:])}"

    def shape(self) -> str:
        return "".join(f"[{e}]" for e in self.extents)

    def nest(
        self, body: str, first: str = "0", step: str = "1", private: bool = False, clause: str = "", short: str = "0"
    ) -> list[str]:
        """Loops over all elements from `first` on, without the last `short`; those of an aligned array are shared."""
        shared = [d for d in self.order if d in self.axes]
        order = [*shared, *(d for d in self.order if d not in self.axes)]
        out = []
        if not private:
            on = self.listed([self.subscript(t) for t in range(len(self.axes))])
            indices = ",".join(NAMES[d] for d in shared)
            out.append(f"#pragma xmp loop ({indices}) on t{self.name}{on}{clause}")
        down = self.rng.random() < 0.2
        for d in order:
            name, end = NAMES[d], f"{self.extents[d]} - {short}"
            last = f"{end} - 1 - ({end} - 1 - {first}) % {step}"
            out.append(
                f"  for (int {name} = {last}; {name} >= {first}; {name} -= {step})" if down
                else f"  for (int {name} = {first}; {name} < {end}; {name} += {step})"
            )  # fmt: skip
        return [*out, f"    {body}"]

    def element(self, of: str = "", other: dict[int, str] | None = None) -> str:
        """Returns an element of this array, or of another one; of some dimensions with other subscripts."""
        return (of or self.name) + "".join(f"[{(other or {}).get(d, NAMES[d])}]" for d in range(len(self.extents)))

    def compare(self, what: str) -> list[str]:
        """Gathers the array on each node, and compares."""
        whole = "[:]" * len(self.extents)
        alone = self.rng.random() < 0.3
        wanted, found = self.element("o" + self.name), self.element("all")
        return [
            f"  {{ {self.kind} all{self.shape()};",
            *["#pragma xmp barrier"] * alone,
            f"#pragma xmp gmove{' in' * alone}",
            f"  all{whole} = {self.name}{whole};",
            *["#pragma xmp barrier"] * alone,
            *self.nest(f'if ({found} != {wanted}) fail("{what}", {NAMES[self.order[0]]});', private=True),
            "  }",
        ]


def reflect(numbers: Numbers, a: Array) -> list[str]:
    """Brings the shadow of one dimension, and compares what each node has then."""
    rng = numbers.rng
    full = [d for d, widths in enumerate(a.shadow) if widths == "*"]
    d = rng.choice([d for d, widths in enumerate(a.shadow) if widths != ("0", "0")])
    name, extent, widths = NAMES[d], a.extents[d], a.shadow[d]
    if widths == "*":
        begin, end, index, words = "0", extent, "q", ""
    else:
        low, high = (numbers.between(0, widths[side]) for side in (0, 1))
        is_periodic = rng.random() < 0.6 and not full
        given = [f"{'/periodic/' * is_periodic}{low}:{high}" if x == d else "0" for x in range(len(a.extents))]
        words = f" width({','.join(given)})" if not full else ""
        begin, end = f"{name} - {low}", f"{name} + {high} + 1"
        index = f"(q + {extent}) % {extent}"
        if not is_periodic:
            begin, end, index = f"most(0, {begin})", f"least({extent}, {end})", "q"
    found, wanted = a.element("", {d: "q"}), a.element(f"o{a.name}", {d: index})
    compared = f'for (int q = {begin}; q < {end}; q++) if ({found} != {wanted}) fail("shadow", {name});'
    return [f"#pragma xmp reflect({a.name}){words}", *a.nest(compared)]


def sections(numbers: Numbers, a: Array, b: Array) -> tuple[str, str]:
    """Two sections of equal counts, of which the array of more dimensions has indices, too."""
    dims = [len(a.extents), len(b.extents)]
    texts = ["", ""]
    for d in range(max(dims)):
        sides = [(array.extents[d], numbers.one_of(1, 1, 2, -1, -3)) for array in (a, b) if d < len(array.extents)]
        if len(sides) == 1:
            texts[dims[1] > dims[0]] += f"[{numbers.between(0, f'{sides[0][0]} - 1')}]"
            continue
        most = [f"({extent} - 1) / abs({step}) + 1" for extent, step in sides]
        count = numbers.between(1, f"least({', '.join(most)})")
        for side, (extent, step) in enumerate(sides):
            span = f"({count} - 1) * abs({step})"
            base = numbers.name(f"{numbers.between(0, f'{extent} - 1 - {span}')} + ({step} < 0 ? {span} : 0)")
            texts[side] += f"[{base}:{count}]" if step == "1" else f"[{base}:{count}:{step}]"
    return texts[0], texts[1]


def gmove(numbers: Numbers, to: Array, source: Array) -> list[str]:
    found = sections(numbers, to, source)
    rng = numbers.rng
    started = rng.random() < 0.3
    mode = "" if to is source else rng.choice(["", "", " in", " out"])
    target, given = f"{to.name}{found[0]}", f"{source.name}{found[1]}"
    barrier = ["#pragma xmp barrier"] * bool(mode)
    return [
        *barrier,
        f"#pragma xmp gmove{mode}{' async(7)' * started}\n  {target} = {given};",
        *["#pragma xmp wait_async(7)"] * started,
        *barrier,
        f"  o{target} = o{given};",
        *to.compare("gmove"),
    ]


def assignment(numbers: Numbers, a: Array) -> list[str]:
    """Sets a section, whose ranges have an index here and there, by `array`."""
    left, on, here = [], ["*"] * len(a.axes), []
    some = numbers.rng.randrange(len(a.extents))
    for d, extent in enumerate(a.extents):
        name, first = NAMES[d], numbers.between(0, f"{extent} - 1")
        count = numbers.between(1, f"{extent} - {first}")
        one = d != some and numbers.rng.random() < 0.2
        left.append(first if one else f"{first}:{count}")
        here.append(f"{name} == {first}" if one else f"{name} >= {first} && {name} < {first} + {count}")
        if d in a.axes:
            begin = f"{first} + {a.offset[d]}"
            end = f"{begin} + {count} - 1" if a.round else count
            on[a.axes.index(d)] = begin if one else f"{begin}:{end}"
    return [
        f"#pragma xmp array on t{a.name}{a.listed(on)}",
        f"  {a.name}{''.join(f'[{part}]' for part in left)} += 3;",
        *a.nest(f"if ({' && '.join(here)}) {a.element('o' + a.name)} += 3;", private=True),
        *a.compare("array"),
    ]


def reduction(numbers: Numbers, a: Array) -> list[str]:
    operator, combine = numbers.rng.choice(list(REDUCED.items()))
    take = "{{ const unsigned long x = {}; {}; }}"
    return [
        "  unsigned long sum = 3, expected = 3;",
        *a.nest(take.format(a.element(), combine), clause=f" reduction({operator}:sum)"),
        *a.nest(take.format(a.element("oa"), combine.replace("sum", "expected")), private=True),
        f'  if (sum != expected) fail("{operator} of a loop", sum);',
    ]


def values(numbers: Numbers, array: Array, factors: list[int]) -> list[str]:
    """Sets all or some elements by loops."""
    value = " + ".join(f"{factors[d]} * {NAMES[d]}" for d in range(len(array.extents)))
    first, step, short = numbers.one_of(0, 0, 1, 2), numbers.one_of(1, 1, 2, 3), numbers.one_of(0, 0, 1)
    zero, set_ = "{} = 0;", f"{{}} = {value};"
    private = array.element("o" + array.name)
    return [
        *array.nest(zero.format(array.element())),
        *array.nest(set_.format(array.element()), first, step, short=short),
        *array.nest(zero.format(private), private=True),
        *array.nest(set_.format(private), first, step, True, short=short),
        *array.compare("loop"),
    ]


def joined(number: int, kind: str, numbers: Numbers, lines: list[str]) -> str:
    """Returns a function: its numbers, and what it does with them."""
    return "\n".join([f"static void function{number}(void) {{ typedef {kind} element;", *numbers.lines, *lines, "}"])


def function(rng: random.Random, number: int) -> str:
    numbers = Numbers(rng)
    dims = rng.choice(DIMS)
    kind = rng.choice(["double", "int", "short"])
    extents = [numbers.between(5, 12) if dims < 4 else numbers.between(4, 6 - dims // 5) for _ in range(dims)]
    a = Array(numbers, "a", kind, extents, True)
    few = [numbers.between(5, 9) for _ in range(rng.randint(1, 3))]
    b = Array(numbers, "b", kind, few if dims < 4 else [numbers.between(4, 5) for _ in range(dims)], False)
    out = [*a.declare(), *b.declare()]
    out += values(numbers, a, [100, 10, 1, 1000, 3, 30, 300])
    out += values(numbers, b, [7, 70, 700, 1, 11, 110, 1100])
    out += reduction(numbers, a)
    if any(widths != ("0", "0") for widths in a.shadow):
        out += reflect(numbers, a)
    for to, source in ((a, b), (b, a), (a, a)):
        out += gmove(numbers, to, source)
    out += assignment(numbers, a)
    at = "".join(f"[{numbers.between(0, f'{e} - 1')}]" for e in extents)
    out += [
        "  { element one = 0;",
        "#pragma xmp gmove",
        f"  one = a{at};",
        f'  if (one != oa{at}) fail("element", one); }}',
    ]
    return joined(number, kind, numbers, out)


def together(functions: list[str]) -> str:
    names = ", ".join(f"function{i}" for i in range(len(functions)))
    return "\n".join([HEAD, *functions, MAIN.replace("FUNCTIONS", names)])


def program(seed: int, functions: int) -> str:
    rng = random.Random(seed)
    return together([function(rng, i) for i in range(functions)])


if __name__ == "__main__":
    import sys

    print(program(int(sys.argv[1]), int(sys.argv[2])))
