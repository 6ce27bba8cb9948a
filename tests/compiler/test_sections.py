"""Random array assignments, of every mixture of images, ranks, steps, operators and types, against a model of what they
mean: the right side is read before the left is written, element by element in the order of C."""

import itertools
import random
import unittest
from collections.abc import Iterator

from compiling import HIROBARUN, ONCE, CompilerTest, execute

IMAGES, STATEMENTS, SEEDS = 3, 40, (1,) if ONCE else (1, 2, 3)
ARRAYS = {"a": (5, 6), "b": (30,), "c": (2, 3, 5), "e": (30,), "f": (5, 6), "s": (30,)}  # s is of short
COARRAYS = ("a", "b", "c", "s")
OPERATORS = ("+", "-", "*")
Values = list[dict[str, list[int]]]  # by image and array


def first_value(array: str, image: int, number: int) -> int:
    return (image + 2) * (number % 11 + 1) + ord(array) % 7


class Section:
    """A random part of an array, with at least one range."""

    def __init__(self, source: random.Random, array: str, lengths: tuple[int, ...] | None) -> None:
        self.array = array
        extents = ARRAYS[array]
        wanted = list(lengths) if lengths is not None else [source.randint(1, min(extents)) for _ in extents]
        ranges = sorted(source.sample(range(len(extents)), len(wanted)))
        self.lengths = tuple(wanted)
        self.indices: list[list[int]] = []
        self.words = ""
        for d, extent in enumerate(extents):
            if d not in ranges:
                self.indices.append([source.randrange(extent)])
                self.words += f"[{self.indices[-1][0]}]"
                continue
            length = wanted[ranges.index(d)]
            self.indices.append(self._range(source, extent, length))

    def _range(self, source: random.Random, extent: int, length: int) -> list[int]:
        most = (extent - 1) // (length - 1) if length > 1 else 3
        step = source.randint(1, max(1, min(most, 3))) * source.choice((1, -1))
        span = (length - 1) * step
        base = source.randint(max(0, -span), extent - 1 - max(0, span))
        if length == extent and step == 1 and source.random() < 0.5:
            self.words += source.choice(("[:]", "[0:]", f"[:{extent}]"))
        elif length == extent and step == -1:
            self.words += "[::-1]"
        else:
            self.words += f"[{base}:{length}" + (f":{step}" if step != 1 or source.random() < 0.3 else "") + "]"
        return [base + i * step for i in range(length)]

    def numbers(self) -> Iterator[int]:
        """Of the elements in the array, in the order of C."""
        for place in itertools.product(*self.indices):
            number = 0
            for extent, index in zip(ARRAYS[self.array], place, strict=True):
                number = number * extent + index
            yield number


def fits(array: str, lengths: tuple[int, ...]) -> bool:
    extents = ARRAYS[array]
    return len(extents) >= len(lengths) and all(length <= min(extents) for length in lengths)


class Statement:
    """L op= R, done by all images at once; no image writes what another one reads."""

    def __init__(self, source: random.Random) -> None:
        target = source.choice(list(ARRAYS))
        self.left = Section(source, target, None)
        self.to = source.choice((0, 1, 2)) if target in COARRAYS and source.random() < 0.7 else None  # images further
        self.operator = source.choice(("", "", *OPERATORS))
        self.terms: list[tuple[Section, int | None]] = []
        alone = self.to is None or self.to == 0
        for _ in range(source.choice((0, 1, 1, 1, 2))):
            arrays = [x for x in ARRAYS if fits(x, self.left.lengths) and (x != target or alone)]
            if not arrays:
                break
            array = source.choice(arrays)
            remote = array in COARRAYS and array != target and source.random() < 0.6
            self.terms.append((Section(source, array, self.left.lengths), source.choice((0, 1, 2)) if remote else None))
        self.constant = source.randint(1, 9)
        self.between = source.choice(OPERATORS)
        self.added = not self.terms or source.random() < 0.4

    def text(self) -> str:
        words = [f"{s.array}{s.words}" + (f":[{image(i)}]" if i is not None else "") for s, i in self.terms]
        value = f" {self.between} ".join(words)
        value = (f"({value}) + {self.constant}" if words else str(self.constant)) if self.added else value
        left = f"{self.left.array}{self.left.words}" + (f":[{image(self.to)}]" if self.to is not None else "")
        return f"{left} {self.operator}= {value};"

    def run(self, before: Values) -> Values:
        after = [{name: list(values) for name, values in memory.items()} for memory in before]
        for me in range(IMAGES):
            columns = [
                [before[(me + (i or 0)) % IMAGES][s.array][number] for number in s.numbers()] for s, i in self.terms
            ]
            target = after[(me + (self.to or 0)) % IMAGES][self.left.array]
            old = before[(me + (self.to or 0)) % IMAGES][self.left.array]
            for place, number in enumerate(self.left.numbers()):
                values = [column[place] for column in columns]
                value = values[0] if values else 0
                for other in values[1:]:
                    value = computed(self.between, value, other)
                value += self.constant if self.added else 0
                target[number] = computed(self.operator, old[number], value) if self.operator else value
                if self.left.array == "s":
                    target[number] = (target[number] + 32768) % 65536 - 32768
        return after


def computed(operator: str, a: int, b: int) -> int:
    return {"+": a + b, "-": a - b, "*": a * b}[operator]


def image(further: int | None) -> str:
    return f"(me + {further}) % n" if further else "me"


def program(statements: list[Statement], start: Values) -> str:
    declared = {
        name: f"{'short' if name == 's' else 'int'} {name}{''.join(f'[{e}]' for e in extents)}"
        + ":[*]" * (name in COARRAYS)
        for name, extents in ARRAYS.items()
    }
    out = ["#include <stdio.h>", "#include <xmp.h>", *(f"{text};" for text in declared.values())]
    out += ["static int number, bad;", "static void check(long got, long wanted, int line, const char* name) {"]
    out += ['  if (got != wanted && !bad++) printf("line %d: %s is %ld, not %ld\\n", line, name, got, wanted);', "}"]
    out += ["int main(void) {", "  int me = xmpc_this_image(), n = xmp_num_images();"]
    for statement in statements:
        for name, extents in ARRAYS.items():
            total = 1
            for extent in extents:
                total *= extent
            kind = "short" if name == "s" else "int"
            out.append(
                f"  for (number = 0; number < {total}; number++) (({kind}*){name})[number] ="
                f" (me + 2) * (number % 11 + 1) + {ord(name) % 7};"
            )
        out += ["  xmp_sync_all(NULL);", f"  {statement.text()}", "  xmp_sync_all(NULL);"]
        line = len(out) - 1
        after = statement.run(start)
        kind = "short" if statement.left.array == "s" else "int"
        name = statement.left.array
        for memory in range(IMAGES):
            for number, value in enumerate(after[memory][name]):
                if value != start[memory][name][number]:
                    text = f'(({kind}*){name})[{number}], {value}, {line}, "{name}[{number}]"'
                    out.append(f"  if (me == {memory}) check({text});")
        sums = [sum(after[memory][name]) for memory in range(IMAGES)]
        out.append(f"  {{ const long sums[] = {{{', '.join(map(str, sums))}}}; long sum = 0;")
        out.append(f"    for (number = 0; number < {len(start[0][name])}; number++) sum += (({kind}*){name})[number];")
        out.append(f'    check(sum, sums[me], {line}, "the sum of {name}"); }}')
    return "\n".join([*out, "  return bad != 0;", "}", ""])


class Sections(CompilerTest):
    def test_random(self) -> None:
        for seed in SEEDS:
            source = random.Random(seed)
            start: Values = []
            for memory in range(IMAGES):
                start.append({})
                for name, extents in ARRAYS.items():
                    total = 1
                    for extent in extents:
                        total *= extent
                    start[-1][name] = [first_value(name, memory, number) for number in range(total)]
            self.write("sections.c", program([Statement(source) for _ in range(STATEMENTS)], start))
            self.compiled("-O2", "-Wall", "-Wextra", "-Werror", "sections.c", "-o", "sections")
            for nodes in ("1", "2"):
                with self.subTest(seed=seed, nodes=nodes):
                    words = [HIROBARUN, "-n", str(IMAGES), "--nodes", nodes, str(self.folder / "sections")]
                    ended = execute(words, self.folder)
                    lines = (self.folder / "sections.c").read_text().split("\n")
                    first = ended.stdout.split(":")[0].removeprefix("line ")
                    told = lines[int(first) - 1] if first.isdigit() else ""
                    self.assertEqual((ended.returncode, ended.stdout), (0, ""), ended.stderr + told)


if __name__ == "__main__":
    unittest.main()
