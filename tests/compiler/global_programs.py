"""Random programs in XcalableMP's global view, each a function that compares with a sequential run of the same in
private memory: templates, distributions, alignments, shadows, loops, reflect and sections of gmove."""

from __future__ import annotations

import random

HEAD = """#include <stdio.h>
#include <xmp.h>
static int wrong, n;
/* Sizes of gblock: any that add up. */
static void cut(int sizes[], int pieces, int extent, int away) {
  for (int i = 0; i < pieces; i++) {
    sizes[i] = i == pieces - 1 ? extent : (extent * (i + away)) % (extent + 1);
    extent -= sizes[i];
  }
}
static void fail(const char* what, long at) {
  if (wrong++ < 3) printf("rank %d: %s at %ld\\n", xmpc_node_num(), what, at);
}
"""
MAIN = """int main(void) {
  n = xmp_num_nodes();
  CALLS
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
# The nodes of as many divided dimensions as there are nodes for: `*` is what the others leave.
GRID = ["2 - n % 2", "*", "n % 8 ? 1 : 2", "1", "1", "1", "1"]


class Array:
    """An array and its alignment with a template of its own."""

    def __init__(self, rng: random.Random, name: str, kind: str, extents: list[int], may_shadow: bool) -> None:
        self.rng, self.name, self.kind, self.extents = rng, name, kind, extents
        dims = len(extents)
        self.order = list(range(dims))
        rng.shuffle(self.order)
        aligned = self.order[: rng.randint(1, dims)]
        # The dimensions of the template: that of the array, or None where nodes have copies.
        self.axes: list[int | None] = [*aligned]
        if rng.random() < 0.3 and len(self.axes) < 7:
            self.axes.insert(rng.randint(0, len(self.axes)), None)
        self.lower = [rng.choice([0, 0, 3]) for _ in self.axes]
        self.offset = {d: self.lower[t] + rng.choice([0, 0, 2]) for t, d in enumerate(self.axes) if d is not None}
        choices = ["block", "block", "gblock", "cyclic", "cyclic(2)", "cyclic(3)", "*"]
        self.formats = [rng.choice(choices) for _ in self.axes]
        if all(f == "*" for f in self.formats):
            self.formats[0] = "block"
        self.shadow = [0] * dims
        if may_shadow:
            for t, d in enumerate(self.axes):
                if d is not None and self.formats[t] in ("block", "gblock"):
                    self.shadow[d] = rng.choice([0, 1, 2])
        self.round = rng.random() < 0.4
        self.is_fixed_later, self.is_pointer = rng.random() < 0.3, rng.random() < 0.3

    def extent(self, t: int) -> int:
        d = self.axes[t]
        return 5 if d is None else self.extents[d] + self.offset[d] - self.lower[t] + 1

    def listed(self, parts: list[str]) -> str:
        return f"({','.join(reversed(parts))})" if self.round else "".join(f"[{p}]" for p in parts)

    def subscript(self, t: int, names: str = NAMES) -> str:
        d = self.axes[t]
        if d is None:
            return "*"
        return names[d] + (f" + {self.offset[d]}" if self.offset[d] else "")

    def declare(self) -> list[str]:
        divided = [t for t, f in enumerate(self.formats) if f != "*"]
        grid = GRID[: len(divided)] if len(divided) > 1 else ["n"]
        self.rng.shuffle(grid)
        bounds = [
            f"{low}:{low + self.extent(t) - 1}" if self.round else f"{low}:{self.extent(t)}"
            for t, low in enumerate(self.lower)
        ]
        a, t = self.name, f"t{self.name}"
        nodes = f"({','.join(grid)})" if self.rng.random() < 0.5 else "".join(f"[{g}]" for g in grid)
        counts = [grid[::-1], grid][nodes.startswith("[")]
        pieces = dict(zip(divided, counts, strict=True))
        many = {"*": f"n / (2 - n % 2){' / (n % 8 ? 1 : 2)' * (len(divided) > 2)}"}
        cuts = [t for t, f in enumerate(self.formats) if f == "gblock"]
        open_ = self.is_fixed_later and self.rng.random() < 0.5
        given = [f"gblock({'*' if open_ else f's{a}{x}'})" if f == "gblock" else f for x, f in enumerate(self.formats)]
        formats = [f.upper().replace(f"S{a.upper()}", f"s{a}") if self.round else f for f in given]
        sources = "".join(f"[{NAMES[d] if d in self.axes else '*'}]" for d in range(len(self.extents)))
        out = [
            f"#pragma xmp nodes p{a}{nodes}",
            *(
                f"  int s{a}{x}[16]; cut(s{a}{x}, {many.get(pieces[x], pieces[x])}, {self.extent(x)},"
                f" {self.rng.randint(0, 5)});"
                for x in cuts
            ),
            f"#pragma xmp template {t}{self.listed([':'] * len(bounds) if self.is_fixed_later else bounds)}",
            f"#pragma xmp distribute {t}{self.listed(formats)} onto p{a}",
            f"  {self.kind} {self.declared()}; static int o{a}{self.shape()};",
            f"#pragma xmp align {a}{sources} with {t}{self.listed([self.subscript(x) for x in range(len(self.axes))])}",
        ]
        if any(self.shadow):
            out.append(f"#pragma xmp shadow {a}{''.join(f'[{w}]' for w in self.shadow)}")
        if self.is_fixed_later:
            sizes = [f"gblock(s{a}{x})" if f == "gblock" else f for x, f in enumerate(self.formats)]
            out.append(f"#pragma xmp template_fix{self.listed(sizes) if open_ else ''} {t}{self.listed(bounds)}")
        if self.is_pointer:
            out.append(f"  {a} = xmp_malloc(xmp_desc_of({a}), {', '.join(map(str, self.extents))});")
        return out

    def declared(self) -> str:
        if not self.is_pointer:
            return f"{self.name}{self.shape()}"
        return f"(*{self.name}){''.join(f'[{e}]' for e in self.extents[1:])}"

    def shape(self) -> str:
        return "".join(f"[{e}]" for e in self.extents)

    def nest(self, body: str, first: int = 0, step: int = 1, private: bool = False, clause: str = "") -> list[str]:
        """Loops over all elements from `first` on; those of an aligned array are shared."""
        names = [NAMES[d] for d in self.order]
        shared = [d for d in self.order if d in self.axes]
        order = [*shared, *(d for d in self.order if d not in self.axes)]
        names = [NAMES[d] for d in order]
        out = []
        if not private:
            on = self.listed([self.subscript(t) for t in range(len(self.axes))])
            indices = ",".join(NAMES[d] for d in shared)
            out.append(f"#pragma xmp loop ({indices}) on t{self.name}{on}{clause}")
        down = self.rng.random() < 0.2
        for name, d in zip(names, order, strict=True):
            last = self.extents[d] - 1
            last -= (last - first) % step
            out.append(
                f"  for (int {name} = {last}; {name} >= {first}; {name} -= {step})" if down
                else f"  for (int {name} = {first}; {name} < {self.extents[d]}; {name} += {step})"
            )  # fmt: skip
        return [*out, f"    {body}"]

    def element(self, of: str = "", shift: dict[int, int] | None = None) -> str:
        moved = shift or {}
        return (of or self.name) + "".join(
            f"[{NAMES[d]}{f' + {moved[d]}' if d in moved else ''}]" for d in range(len(self.extents))
        )

    def compare(self, what: str) -> list[str]:
        """Gathers the array on each node, and compares."""
        whole = "[:]" * len(self.extents)
        alone = self.rng.random() < 0.3
        return [
            f"  {{ __typeof__({self.name}{'[0]' * len(self.extents)}) all{self.shape()};",
            *["#pragma xmp barrier"] * alone,
            f"#pragma xmp gmove{' in' * alone}",
            f"  all{whole} = {self.name}{whole};",
            *["#pragma xmp barrier"] * alone,
            *self.nest(
                f'if ({self.element("all")} != {self.element("o" + self.name)}) fail("{what}", i);'.replace(
                    ", i)", f", {NAMES[self.order[0]]})"
                ),
                private=True,
            ),
            "  }",
        ]


def sections(rng: random.Random, a: Array, b: Array) -> tuple[str, str] | None:
    """Two sections of equal counts."""
    left: list[str] = []
    right: list[str] = []
    for d in range(max(len(a.extents), len(b.extents))):
        ranges = []
        count = rng.randint(2, 4)
        for array, out in ((a, left), (b, right)):
            if d >= len(array.extents):
                continue
            step = rng.choice([1, 1, 2, -1])
            span = (count - 1) * abs(step) + 1
            if d >= min(len(a.extents), len(b.extents)):
                out.append(str(rng.randrange(array.extents[d])))
                continue
            if span > array.extents[d]:
                return None
            base = rng.randint(0, array.extents[d] - span) + (span - 1 if step < 0 else 0)
            ranges.append((out, base, step))
        for out, base, step in ranges:
            out.append(f"{base}:{count}" + (f":{step}" if step != 1 else ""))
    return "".join(f"[{s}]" for s in left), "".join(f"[{s}]" for s in right)


def assignment(rng: random.Random, a: Array, dims: int) -> list[str]:
    """Sets a section, whose ranges have an index here and there, by `array`."""
    left, on = [], ["*"] * len(a.axes)
    for d, extent in enumerate(a.extents):
        first = rng.randrange(extent)
        count = rng.randint(1, extent - first)
        one = rng.random() < 0.2
        left.append(str(first) if one else f"{first}:{count}")
        if d in a.axes:
            begin = first + a.offset[d]
            on[a.axes.index(d)] = str(begin) if one else f"{begin}:{begin + count - 1 if a.round else count}"
    ranges = [
        f"({NAMES[d]} >= {part} && {NAMES[d]} < {part.replace(':', ' + ')})".replace(
            f">= {part}", ">= " + part.split(":")[0]
        )
        if ":" in part
        else f"({NAMES[d]} == {part})"
        for d, part in enumerate(left)
    ]
    element = a.element("oa")
    return (
        [
            f"#pragma xmp array on t{a.name}{a.listed(on)}",
            f"  {a.name}{''.join(f'[{part}]' for part in left)} += 3;",
            *a.nest(f"if ({' && '.join(ranges[:dims])}) {element} += 3;", private=True),
            *a.compare("array"),
        ]
        if any(":" in part for part in left)
        else []
    )


def case(rng: random.Random, number: int) -> str:
    dims = rng.choice(DIMS)
    extents = [rng.randint(5, 12) if dims < 4 else rng.randint(4, 6 - dims // 5) for _ in range(dims)]
    kind = rng.choice(["double", "int", "short"])
    a = Array(rng, "a", kind, extents, True)
    b = Array(rng, "b", kind, [rng.randint(5, 9) for _ in range(rng.randint(1, 3))], False)
    if dims > 3:
        b = Array(rng, "b", kind, [rng.randint(4, 5) for _ in range(dims)], False)
    value = " + ".join(f"{[100, 10, 1, 1000, 3, 30, 300][d]} * {NAMES[d]}" for d in range(dims))
    first, step = rng.choice([(0, 1), (0, 1), (1, 2), (2, 3)])
    value_b = " + ".join(f"{[7, 70, 700, 1, 11, 110, 1100][d]} * {NAMES[d]}" for d in range(len(b.extents)))
    out = [
        f"static void case{number}(void) {{ typedef {kind} element;",
        *a.declare(),
        *b.declare(),
        "  unsigned long sum = 3, expected = 3;",
    ]
    for array, text, begin, by in ((a, value, first, step), (b, value_b, 0, 1)):
        out += array.nest(f"{array.element()} = {text};", begin, by)
        out += array.nest(f"{array.element('o' + array.name)} = 0;", 0, 1, True)
        out += array.nest(f"{array.element('o' + array.name)} = {text};", begin, by, True)
        out += array.compare("loop")
    operator, combine = rng.choice(list(REDUCED.items()))
    take = "{{ const unsigned long x = {}; {}; }}"
    out += a.nest(take.format(a.element(), combine), clause=f" reduction({operator}:sum)")
    out += a.nest(take.format(a.element("oa"), combine.replace("sum", "expected")), private=True)
    out += [f'  if (sum != expected) fail("{operator} of a loop", sum);']
    wide = [d for d in range(dims) if a.shadow[d]]
    if wide:
        d, away = rng.choice(wide), rng.choice([-1, 1])
        away *= a.shadow[d]
        widths = ["/periodic/" if x == d else "0" for x in range(dims)]
        out += [f"#pragma xmp reflect(a) width({','.join(widths)})"]
        index = f"({NAMES[d]} + {away} + {extents[d]}) % {extents[d]}"
        moved = "oa" + "".join(f"[{index if x == d else NAMES[x]}]" for x in range(dims))
        out += a.nest(f'if ({a.element("", {d: away})} != {moved}) fail("shadow", {NAMES[d]});')
    for to, source in ((a, b), (b, a), (a, a)):
        found = sections(rng, to, source)
        if found is not None and len(to.extents) == len(source.extents):
            started = rng.random() < 0.3
            mode = "" if to is source else rng.choice(["", "", " in", " out"])
            target, given = f"{to.name}{found[0]}", f"{source.name}{found[1]}"
            out += [
                "  {",
                *["#pragma xmp barrier"] * bool(mode),
                f"#pragma xmp gmove{mode}{' async(7)' * started}\n  {target} = {given};",
                *["#pragma xmp wait_async(7)"] * started,
                *["#pragma xmp barrier"] * bool(mode),
                f"  o{target} = o{given};",
                "  }",
                *to.compare("gmove"),
            ]
    out += assignment(rng, a, dims)
    at = "".join(f"[{rng.randrange(e)}]" for e in extents)
    out += [
        "  { element one = 0;",
        "#pragma xmp gmove",
        f"  one = a{at};",
        f'  if (one != oa{at}) fail("element", one); }}',
    ]
    return "\n".join([*out, "}"])


def program(seed: int, cases: int) -> str:
    rng = random.Random(seed)
    functions = [case(rng, i) for i in range(cases)]
    calls = "\n  ".join(f"case{i}();" for i in range(cases))
    return "\n".join([HEAD, *functions, MAIN.replace("CALLS", calls)])


if __name__ == "__main__":
    import sys

    print(program(int(sys.argv[1]), int(sys.argv[2])))
