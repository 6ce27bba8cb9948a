"""Random cases: each is a function of the program with shared arrays of its own, in pieces that can be left out one by
one. No piece has a race: what a parallel loop writes is addressed by the shared variable, and what it reads is written
by nobody, or by the same iteration."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from arrays import Array, Way, draw_array, draw_map, draw_way
from chains import chain
from nest import Scribe, Terms, Var


@dataclass
class Case:
    number: int
    arrays: list[Array]
    scalars: list[str]
    params: dict[str, int]
    pieces: list[list[str]] = field(default_factory=list)
    functions: list[list[str]] = field(default_factory=list)
    shared_params: set[str] = field(default_factory=set)
    mpc: bool = False


def affine_range(factor: int, constant: int, extent: int) -> tuple[int, int]:
    """The values of v for which factor * v + constant lies within [0, extent)."""
    if factor > 0:
        return -(constant // factor), (extent - 1 - constant) // factor
    low, high = affine_range(-factor, constant, extent)
    return -high, -low


class Body:
    """One parallel nest over the elements of an array: its loops, the access that it writes, and what it may read."""

    def __init__(
        self,
        scribe: Scribe,
        target: Array,
        readable: list[Array],
        around: list[Var],
        omp: bool,
        ways: dict[str, Way] | None = None,
    ) -> None:
        self.scribe, self.dice, self.target, self.omp = scribe, scribe.dice, target, omp
        self.ways = ways or {a.name: draw_way(self.dice, a, k, scribe.plain) for k, a in enumerate([target, *readable])}
        self.again = self.ways[target.name]  # how the body reads what it writes
        if ways is None and scribe.aliases and self.dice.random() < 0.5:
            self.again = draw_way(self.dice, target, 9, scribe.plain)
        self.readable, self.around = readable, around
        self.before: list[str] = []
        self.headers: list[str] = []
        self.variables: list[Var] = []
        self.own: list[tuple[Terms, int]] = [([], 0)] * len(target.dims)
        self.guards: list[str] = []
        self.rectangular = True
        scribe.copies = []
        self._draw_loops()
        self.collapse = len(self.variables) if omp and self.rectangular and self.dice.random() < 0.25 else 1
        # Each iteration of the whole nest touches its own element only.
        self.alone = self.collapse > 1 or scribe.inner_alone
        self.second = self._draw_second()

    def _draw_loops(self) -> None:
        dice, dims = self.dice, self.target.dims
        order = list(range(len(dims)))
        dice.shuffle(order)
        if dice.random() < 0.6:
            order.sort()
        self.decided = order[0]
        for k, d in enumerate(order):
            if k > 0 and dice.random() < 0.1:
                self.own[d] = ([], dice.randrange(dims[d]))
                continue
            factor = dice.choice([1, 1, 1, 1, 1, -1, 2])
            constant = dice.choice([0, 0, 0, 0, 1, -1, 2, 3])
            outside = not self.omp and dice.random() < 0.4
            low, high = affine_range(factor, constant, dims[d])
            wider = dice.random() < 0.1
            if wider:
                low, high = low - dice.randint(0, 6), high + dice.randint(0, 6)
            declaration = ""
            if k > 0 and not wider and not self.variables[-1].wide and dice.random() < 0.12:
                var, header = self._depending("ijk"[k], low, high)
            elif dice.random() < 0.08:
                var, header = self._block("ijk"[k], low, high)
            else:
                var, header, declaration = self.scribe.loop("ijk"[k], low, high, outside)
            self.own[d] = ([(factor, var)], constant)
            if wider:
                place = f"(int)({self.scribe.sum(*self.own[d])})"
                self.guards.append(f"{place} >= 0 && {place} < {self.scribe.number(dims[d])}")
            self.variables.append(var)
            self.headers.append(header)
            self.before += [declaration] if declaration else []

    def _depending(self, name: str, low: int, high: int) -> tuple[Var, str]:
        """A loop whose end, begin, or both depend on the one around it."""
        outer, dice = self.variables[-1], self.dice
        self.rectangular = False
        way, step = dice.randrange(3), dice.choice([1, 1, 2])
        apart = high - outer.high() - dice.randint(0, 2)
        if way == 0:
            end = f"{outer.name} {'+' if apart >= 0 else '-'} {abs(apart)}"
            header = f"for (int {name} = {low}; {name} <= {end}; {name} += {step})"
            return Var(name, range(low, outer.high() + apart + 1)), header
        least = low - outer.low() + dice.randint(0, 2)
        begin = f"{outer.name} {'+' if least >= 0 else '-'} {abs(least)}"
        if way == 1 or outer.low() + least > high - 3:
            header = f"for (int {name} = {begin}; {name} <= {high}; {name} += {step})"
            return Var(name, range(outer.low() + least, high + 1)), header
        width = max(1, high - outer.high() - least)
        if outer.high() + least + width - 1 > high:
            header = f"for (int {name} = {begin}; {name} < LESS({begin} + {width}, {high + 1}); {name} += {step})"
        else:
            header = f"for (int {name} = {begin}; {name} < {begin} + {width}; {name} += {step})"
        return Var(name, range(outer.low() + least, high + 1)), header

    def _block(self, name: str, low: int, high: int) -> tuple[Var, str]:
        """All values, in blocks: two loops."""
        self.rectangular = False
        size, b = self.dice.choice([2, 3, 8]), f"{name}b"
        self.headers.append(f"for (int {b} = {low}; {b} <= {high}; {b} += {size})")
        header = f"for (int {name} = {b}; {name} < LESS({b} + {size}, {high + 1}); {name}++)"
        return Var(name, range(low, high + 1)), header

    def _draw_second(self) -> list[str]:
        """A write to another array, to an element that only this value of the shared variable writes."""
        if not self.readable or self.alone or self.dice.random() < 0.7:
            return []
        array = self.dice.choice(self.readable)
        shared = self.variables[0]
        cut = self.dice.randrange(len(array.dims))
        constant = self.scribe.near([(1, shared)], array.dims[cut])
        if constant is None or not len(shared.values):
            return []
        inner = [v for v in self.variables if len(v.values)]
        texts = []
        for d, extent in enumerate(array.dims):
            text, condition = self.scribe.subscript(extent, inner)
            texts.append("0" if condition else text)
            if d == cut:
                texts[d] = self.scribe.copied(self.scribe.sum([(1, shared)], constant))
        self.readable = [a for a in self.readable if a.name != array.name]
        way = self.ways[array.name]
        place = way.access(texts) + (".a" if array.kind == "rec" else "")
        copies, self.scribe.copies = self.scribe.copies, []
        return [*copies, f"{place} = red % 7 + {self.variables[-1].name} % 11;"]

    def setting(self) -> list[str]:
        ways = {way.before: way for way in (*self.ways.values(), self.again)}
        return self.before + [line for way in ways.values() for line in way.before]

    def place(self) -> str:
        """The element of the target that this iteration owns."""
        texts = [self.scribe.copied(self.scribe.sum(terms, c)) for terms, c in self.own]
        way = self.ways[self.target.name]
        if len(texts) > 1 and self.scribe.addresses and self.dice.random() < 0.1:
            return self.scribe.row(f"{self.target.kind} *", way.access([*texts[:-1], "0"])) + f"[{texts[-1]}]"
        return way.access(texts)

    def slice(self) -> str:
        """An element that this value of the shared variable owns."""
        texts = [self.scribe.sum(terms, c) for terms, c in self.own]
        for d, extent in enumerate(self.target.dims):
            if d != self.decided and not self.alone and self.dice.random() < 0.6:
                text, condition = self.scribe.subscript(extent, self.variables)
                if not condition:
                    texts[d] = text
        return self.again.access(texts)

    def read(self, extra: list[Var]) -> str:
        """A value of type long."""
        dice = self.dice
        conditions: list[str] = []
        if not self.readable or dice.random() < 0.15:
            way, text = self.ways[self.target.name], self.slice()
        else:
            way = self.ways[dice.choice(self.readable).name]
            variables = [v for v in [*self.variables, *extra, *self.around] if len(v.values)]
            texts = []
            for d, extent in enumerate(way.array.dims):
                likely = [self.variables[d]] if d < len(self.variables) and dice.random() < 0.6 else variables
                text, condition = self.scribe.subscript(extent, [v for v in likely if len(v.values)])
                texts.append(text)
                conditions += [condition] if condition else []
            if not conditions and len(texts) > 1 and self.scribe.addresses and dice.random() < 0.1:
                row = self.scribe.row(f"const {way.array.kind} *", way.access([*texts[:-1], "0"]))
                text = f"{row}[{texts[-1]}]"
            else:
                text = way.access(texts)
        if self.scribe.addresses and dice.random() < 0.03:
            text = f"(*&{text})"
        value = f"(long){text}{way.field(dice)}"
        return f"({' && '.join(conditions)} ? {value} : {dice.randrange(9)})" if conditions else value

    def value(self) -> str:
        terms = [self.read([]) for _ in range(self.dice.choice([0, 1, 1, 2, 2, 3, 5]))]
        factors = [self.dice.choice(["", "", "2 * ", "3 * "]) for _ in terms]
        simple = [str(self.dice.randrange(9)), *(v.name for v in [*self.variables, *self.around]), "red % 5"]
        parts = [f"{f}{t}" for f, t in zip(factors, terms, strict=True)]
        parts += [f"(long){s}" if s.isalpha() else s for s in self.dice.sample(simple, min(2, len(simple)))]
        return " + ".join(parts)

    def statements(self) -> list[str]:
        dice, kind = self.dice, self.target.kind
        way = self.ways[self.target.name]
        if dice.random() < 0.25 and self.collapse == len(self.variables):
            return self._summing()
        place = self.place()
        if kind == "rec":
            if dice.random() < 0.4:
                write = f"{place} = (rec){{(int)(({self.value()}) % 97), (double)(({self.value()}) % 89), 7}};"
            else:
                write = f"{place}{way.field(dice)} = ({self.value()}) % 97;"
        else:
            write = dice.choice(
                [f"{place} = ({kind})(({self.value()}) % 97);"] * 6
                + [f"set_{kind}(&{place}, ({self.value()}) % 97);"]
                + [f"{place} += 1;", f"{place}++;", f"{place} -= ({kind})(({self.value()}) % 7);"]
            )
        if dice.random() < 0.15:
            write = f"if (({self.value()}) % 3 != 0) {write}"
        return [*self.scribe.copies, write]

    def _summing(self) -> list[str]:
        """A loop inside that adds up, as in a product of matrices."""
        var, header, _ = self.scribe.loop("m", 0, self.dice.choice([2, 3, 5, 9]), False)
        add = f"sum += {self.read([var])} * {self.dice.choice(['1', '2', self.read([var])])};"
        inside = list(self.scribe.copies)
        self.scribe.copies = []
        field_ = self.ways[self.target.name].field(self.dice)
        kind = "long" if self.target.kind == "rec" else self.target.kind
        write = f"{self.place()}{field_} = ({kind})(sum % 97);"
        return [*self.scribe.copies, "long sum = 1;", f"{header} {{", *inside, add, "}", write]

    def nest(self, statements: list[str]) -> list[str]:
        out = []
        statements = [*statements, *self.second]
        if self.guards and self.dice.random() < 0.5:
            statements = [f"if (!({' && '.join(self.guards)})) continue;", *statements]
        elif self.guards:
            statements = [f"if ({' && '.join(self.guards)}) {{", *statements, "}"]
        for depth, header in enumerate(self.headers):
            out.append("  " * depth + header + (" {" if depth == len(self.headers) - 1 else ""))
        return [*out, *(f"  {s}" for s in statements), "}"]


class Author:
    """Draws one case."""

    def __init__(self, seed: int, number: int, left_out: frozenset[str]) -> None:
        self.dice, self.left_out = random.Random(f"{seed} {number}"), left_out
        self.mpc = random.Random(seed).random() < 0.2
        self.case = Case(number, [], [], {}, mpc=self.mpc)
        for k in range(self.dice.choice([0, 1, 2, 3])):
            self.case.params[f"q{number}_{k}"] = self.dice.randint(0, 9)
            if self.dice.random() < 0.15:
                self.case.shared_params.add(f"q{number}_{k}")
        self.scribe = Scribe(self.dice, self.case.params)
        self.scribe.inner_alone, self.scribe.addresses = "inner" in left_out, "address" not in left_out
        self.scribe.aliases, self.scribe.plain = "alias" not in left_out, "pointers" in left_out
        for k in range(self.dice.choice([1, 2, 3, 3])):
            array = draw_array(self.dice, f"{'abc'[k]}{number}")
            self.case.arrays.append(array)
            if self.dice.random() < 0.5:
                twin = draw_map(self.dice, array.dims) if self.dice.random() < 0.5 else array.map
                self.case.arrays.append(Array(f"{'uvw'[k]}{number}", array.kind, array.dims, twin))

    def draw(self) -> Case:
        dice = self.dice
        for array in self.case.arrays:
            if dice.random() < 0.8:
                self.case.pieces.append(self._fill(array))
        kinds = [self._loop] * 8 + [self._reduce] * 2 + [self._critical, self._nowait, self._single]
        kinds += [self._swap, self._swap, self._function, self._by_hand, self._read_by_all, self._run_time]
        kinds += [self._steps] * 3
        kinds += [lambda: chain(self.dice, self.case.arrays, self.scribe)] * 4
        for _ in range(dice.choice([1, 2, 3, 4])):
            self.case.pieces.append(dice.choice(kinds)())
        return self.case

    def _fill(self, array: Array) -> list[str]:
        loops = "".join(f"for (int {v} = 0; {v} < {n}; {v}++) " for v, n in zip("ijk", array.dims, strict=False))
        place = array.name + "".join(f"[{v}]" for v, _ in zip("ijk", array.dims, strict=False))
        number = "(" + " + ".join(f"{f} * {v}" for v, f, _ in zip("ijk", (7, 5, 3), array.dims, strict=False)) + ")"
        value = f"{number} % {self.dice.choice([89, 97, 61])}"
        write = f"{place} = (rec){{{value}, {value}, {value}}};" if array.kind == "rec" else f"{place} = {value};"
        return [self.dice.choice(["#pragma SMint single", "#pragma SMint parallel for"]), loops + write]

    def _others(self, target: Array) -> list[Array]:
        others = [a for a in self.case.arrays if a.name != target.name]
        return self.dice.sample(others, self.dice.randint(0, len(others)))

    def _directives(self, body: Body, clauses: str = "", nowait: bool = False) -> list[str]:
        dice = self.dice
        ours = f"#pragma SMint parallel for{clauses}{' nowait' if nowait else ''}{dice.choice(['', '', '', ' repeat'])}"
        if not body.omp:
            return [ours]
        collapse = f" collapse({body.collapse})" if body.collapse > 1 else ""
        schedule = dice.choice(["", "", " schedule(static)", " schedule(dynamic, 3)"])
        return [ours + dice.choice(["", collapse]), f"#pragma omp parallel for{clauses}{collapse}{schedule}"]

    def _body(self, around: list[Var], target: Array | None = None, others: list[Array] | None = None) -> Body:
        target = target or self.dice.choice(self.case.arrays)
        readable = self._others(target) if others is None else others
        return Body(self.scribe, target, readable, around, self.dice.random() < 0.5)

    def _between(self, twins: tuple[Array, Array]) -> Body:
        """From src to dst."""
        a, b = twins
        ways = {a.name: Way(a, pointer="dst"), b.name: Way(b, pointer="src")}
        return Body(self.scribe, a, [b], [], self.dice.random() < 0.5, ways)

    def _loop(self) -> list[str]:
        times = self.dice.choice([1, 1, 2, 3])
        around = [Var("t", range(times))] if times > 1 else []
        out: list[str] = []
        for _ in range(1 if times == 1 else self.dice.choice([1, 2])):
            body = self._body(around)
            nest = body.nest(body.statements())
            out += ["{", *body.setting(), *self._directives(body), *nest, "}"]
        return out if times == 1 else [f"for (int t = 0; t < {times}; t++) {{", *out, "}"]

    def _steps(self) -> list[str]:
        """Several loops in a time loop that does nothing else: their barriers may wait for the next loop."""
        out: list[str] = []
        for _ in range(self.dice.choice([1, 2, 3, 4])):
            body = self._body([])
            nest = body.nest(body.statements())
            out += ["{", *body.setting(), *self._directives(body), *nest, "}"]
        return [f"for (int t = 0; t < {self.dice.choice([2, 4, 7])}; t++) {{", *out, "}"]

    def _nowait(self) -> list[str]:
        """Two loops that touch different arrays, the first without a barrier."""
        half = max(1, len(self.case.arrays) // 2)
        first, second = self.case.arrays[:half], self.case.arrays[half:]
        out: list[str] = []
        for group in (first, second):
            if group:
                body = self._body([], group[0], group[1:])
                nest = body.nest(body.statements())
                out += ["{", *body.setting(), *self._directives(body, nowait=group is first), *nest, "}"]
        return [*out, "#pragma SMint barrier"]

    def _reduce(self) -> list[str]:
        dice = self.dice
        body = self._body([])
        names, clauses, statements, begin, end = [], "", [], [], []
        for name in ["s", "u"][: dice.choice([1, 1, 2])]:
            operator = dice.choice(["+", "+", "-", "*", "min", "max", "&", "|", "^", "&&", "||"])
            numbers = ["double", "float"] if operator in ("+", "-", "*", "min", "max") else []
            kind = dice.choice(["int", "long", "unsigned", "char", *numbers, *numbers])
            kind = "long" if kind in ("unsigned", "char") and operator != "^" else kind
            first, statement = self._reducing(operator, name, kind, body)
            names.append(name)
            clauses += f" reduction({operator}:{name})"
            statements.append(statement)
            begin.append(f"{kind} {name} = {first};")
            end.append(f"red = (red * 3 + (long){name}) % 1009;")
        statements = [*self.scribe.copies, *statements]
        self.scribe.copies = []
        if dice.random() < 0.3:
            statements += body.statements()
        return ["{", *begin, *body.setting(), *self._directives(body, clauses), *body.nest(statements), *end, "}"]

    def _reducing(self, operator: str, name: str, kind: str, body: Body) -> tuple[int, str]:
        """A first value and a statement that folds in one more."""
        dice, value = self.dice, body.value()
        if operator in "+-":
            return dice.randint(-9, 9), f"{name} {operator}= ({kind})(({value}) % 97);"
        if operator == "*":
            return dice.randint(1, 3), f"{name} *= ({kind})(1 - 2 * (({value}) & 1));"
        if operator in ("min", "max"):
            sign = "<" if operator == "min" else ">"
            new = f"({kind})(({value}) % 97)"
            if dice.random() < 0.5:
                return dice.randint(-50, 50), f"{{ {kind} w = {new}; if (w {sign} {name}) {name} = w; }}"
            return dice.randint(-50, 50), f"{{ {kind} w = {new}; {name} = w {sign} {name} ? w : {name}; }}"
        if operator in "&|^":
            wide = " | 112" if operator == "&" else ""
            return dice.randint(0, 255), f"{name} {operator}= ({kind})(({value}) % 97{wide});"
        return dice.randint(0, 1), f"{name} = {name} {operator} (({value}) % {dice.choice([2, 5, 50])} != 0);"

    def _critical(self) -> list[str]:
        """Few iterations: each of them moves a lock between nodes."""
        dice, name = self.dice, f"total{self.case.number}"
        if name not in self.case.scalars:
            self.case.scalars.append(name)
        array = min(self.case.arrays, key=lambda a: a.dims[0])
        count = min(array.dims[0], 12)
        zeros = "".join(f"[{dice.randrange(n)}]" for n in array.dims[1:])
        read = f"(long){array.name}[i]{zeros}{'.a' if array.kind == 'rec' else ''}"
        body = dice.choice([f"{name} += {read};", f"{{ {name} += i; {name} += {read}; }}"])
        word = dice.choice(["", " (one)", " (two)"])
        omp = ["#pragma omp parallel for"] if dice.random() < 0.4 else []
        head = f"for (int i = 0; i < {count}; i++) {{"
        return ["#pragma SMint parallel for", *omp, head, f"#pragma SMint critical{word}", body, "}"]

    def _single(self) -> list[str]:
        body = self._body([])
        body.omp = False
        return ["{", *body.setting(), "#pragma SMint single", "{", *body.nest(body.statements()), "}", "}"]

    def _by_hand(self) -> list[str]:
        """MpC as the paper writes it: each rank computes its part of a dimension, and all meet."""
        array = self.dice.choice(self.case.arrays)
        n = array.dims[0]
        inner = "".join(f"for (int {v} = 0; {v} < {m}; {v}++) " for v, m in zip("jk", array.dims[1:], strict=False))
        place = array.name + "".join(f"[{v}]" for v, _ in zip("ijk", array.dims, strict=False))
        place += ".b" if array.kind == "rec" else ""
        head = f"for (int i = {n} * MYPID / NPROCS; i < {n} * (MYPID + 1) / NPROCS; i++) {inner}"
        barrier = "mpc_barrier();" if self.mpc else self.dice.choice(["#pragma SMint barrier", "sms_barrier();"])
        return [head + f"{place} = (i + 2 * (int){place}) % 61;", barrier]

    def _read_by_all(self) -> list[str]:
        array = self.dice.choice(self.case.arrays)
        place = array.name + "".join(f"[{self.dice.randrange(n)}]" for n in array.dims)
        preload = f"#pragma SMint preload {array.name}" + "".join(f"[0:{n}]" for n in array.dims)
        field_ = ".c" if array.kind == "rec" else ""
        before = [preload] if self.dice.random() < 0.5 else []
        return [*before, f"red = (red + (long){place}{field_}) % 1009;", "#pragma SMint barrier"]

    def _twins(self) -> tuple[Array, Array] | None:
        pairs = [(a, b) for a in self.case.arrays for b in self.case.arrays if a.name < b.name]
        pairs = [(a, b) for a, b in pairs if a.dims == b.dims and a.kind == b.kind]
        return self.dice.choice(pairs) if pairs else None

    def _function(self) -> list[str]:
        """A loop in a function whose parameters are arrays, called with one pair and then with the other."""
        twins = self._twins()
        if twins is None:
            return self._loop()
        a, b = twins
        body = self._between(twins)
        nest = body.nest(body.statements())
        name = f"f{self.case.number}_{len(self.case.functions)}"
        extents = [f"m{d}" for d in range(1, len(a.dims))]
        rest = "".join(f"[{e}]" for e in extents)
        numbers = "".join(f"int {e}, " for e in extents)
        head = f"static void {name}({numbers}long red, {a.kind} (*dst){rest}, {a.kind} src[]{rest}) {{"
        inside = ["(void)red, (void)src;", *body.setting(), *self._directives(body), *nest]
        self.case.functions.append([head, *inside, "}"])
        given = "".join(f"{n}, " for n in a.dims[1:])
        return [f"{name}({given}red, {x.name}, {y.name});" for x, y in ((a, b), (b, a), (a, b))]

    def _run_time(self) -> list[str]:
        """An array whose extent the program computes, and one that belongs to a block."""
        dice, n = self.dice, self.dice.choice([5, 7, 64, 1021])
        step = dice.choice([1, 2, 3])
        ours = "shared " if self.mpc else ""
        cut = "[n:NPROCS](0,NPROCS)"
        line = [f"shared double *v MAP(::{cut});"] if self.mpc else [f"#pragma SMint shared ::{cut}", "double *v;"]
        word = [] if ours else ["#pragma SMint shared ::[1](1,1)"]
        keep = f"static {ours}int kept[{n}]{' MAP(::[1](1,1))' if self.mpc else ''};"
        return [
            f"int n = {n};", *line, "SERIAL(v = calloc(n, sizeof *v);)", *word, keep,
            "#pragma SMint parallel for", f"for (int i = 0; i < n; i += {step}) v[i] = i % 31;",
            "#pragma SMint parallel for",
            f"for (int i = 1; i < {n} - 1; i++) kept[i] = (int)(v[i - 1] + 2 * v[i + 1]);",
            "long s = 0;", "#pragma SMint parallel for reduction(+:s)",
            f"for (int i = {n} - 1; i >= 0; i--) s += kept[i] * (i % 5) + (long)v[i];",
            "red = (red + s) % 1009;",
        ]  # fmt: skip

    def _swap(self) -> list[str]:
        """A double buffer whose pointers change places."""
        twins = self._twins()
        if twins is None:
            return self._loop()
        a, b = twins
        rest = "".join(f"[{n}]" for n in a.dims[1:])
        steps = self.dice.choice([2, 3, 5])
        body = self._between(twins)
        nest = body.nest(body.statements())
        pointers = f"{a.kind} (*dst){rest} = {a.name}, (*src){rest} = {b.name}, (*other){rest};"
        return [
            "{", pointers, f"for (int t = 0; t < {steps}; t++) {{", *body.setting(), *self._directives(body), *nest,
            "other = src; src = dst; dst = other;", "}", "}",
        ]  # fmt: skip
