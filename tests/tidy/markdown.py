"""Pages of at most 120 columns: the rule, and what mends a breach: `python3 tests/tidy/markdown.py PAGE...` fills the
paragraphs and list items anew that have a longer line, and no others. Rows of tables stay, since Markdown cannot break
them; code does, too, and has to be shortened by hand. Python standard library only."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from source import File, Finding

MOST_COLUMNS = 120
ITEM = re.compile(r"( *)([-*+]|\d+\.) +")
FENCE = re.compile(r" *(```|~~~)")


def is_table(line: str) -> bool:
    return line.lstrip().startswith("|")


def check_page(file: File) -> Iterator[Finding]:
    if file.suffix != ".md":
        return
    for number, line in enumerate(file.lines, 1):
        if len(line) > MOST_COLUMNS and not is_table(line) and " " in line.strip():
            what = f"{len(line)} columns, more than {MOST_COLUMNS}"
            remedy = "break it (./dev lint --fix)"
            yield Finding(file.path, number, "page-columns", what, "a change of a word shows as a short line", remedy)


def fill(words: list[str], first: str, rest: str) -> list[str]:
    """Lines of these words, the first with one indentation, the others with another."""
    lines, line = [], first
    for word in words:
        joined = line + word if line in (first, rest) else f"{line} {word}"
        # A line must not begin with what Markdown takes for an item or a heading.
        if len(joined) > MOST_COLUMNS and line not in (first, rest) and not re.match(r"([-*+>#]+|\d+\.)$", word):
            lines.append(line)
            joined = rest + word
        line = joined
    return [*lines, line]


def words_of(lines: list[str]) -> list[str]:
    """A link or a piece of code with blanks is one word."""
    text = " ".join(line.strip() for line in lines)
    return re.findall(r"(?:`[^`]*`|\[[^\]\n]*\]\([^)]*\)|[^\s`\[]|[`\[])+", text)


def reflow(text: str) -> str:
    out: list[str] = []
    block: list[str] = []
    code = False

    def end_block() -> None:
        if any(len(line) > MOST_COLUMNS for line in block):
            item = ITEM.match(block[0])
            first = item.group() if item else re.match(" *", block[0]).group()  # type: ignore[union-attr]
            rest = " " * len(first)
            out.extend(fill(words_of([block[0][len(first) :], *block[1:]]), first, rest))
        else:
            out.extend(block)
        block.clear()

    for line in text.split("\n"):
        fence = FENCE.match(line)
        indented = not block and line.startswith("    ") and not ITEM.match(line)
        if code or fence or is_table(line) or line.startswith("#") or not line.strip() or indented:
            end_block()
            out.append(line)
            code ^= bool(fence)
            continue
        if ITEM.match(line):
            end_block()
        block.append(line)
    end_block()
    return "\n".join(out)


def main() -> int:
    for name in sys.argv[1:]:
        path = Path(name)
        text = path.read_text()
        filled = reflow(text)
        if filled != text:
            path.write_text(filled)
            print(f"{name}: filled anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())
