"""Draws docs/pictures/*.svg, the table of costs in docs/measurements.md, and that of 1,000 nodes in docs/scaling.md:
`python3 tools/pictures.py` writes, `--check` compares and ends with 1 if a file is not what this program draws. The
floors come from src/CMakeLists.txt, the costs from docs/results/front-page.json (front_page.py), the tasks from
docs/results/task-graph.dot (graph_picture.py), the 1,000 nodes from scaling_table.py. Python standard library only."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import front_page
import graph_picture
import scaling_table
from drawing import (
    BLUE,
    FAINT,
    GREY,
    INK,
    LIGHT_BLUE,
    LIGHT_GREEN,
    LIGHT_GREY,
    LIGHT_ORANGE,
    LIGHT_PURPLE,
    ORANGE,
    PURPLE,
    WIDTH,
    Drawing,
)

ROOT = Path(__file__).resolve().parent.parent

# ---- the address space -----------------------------------------------------------------------------------------------

PAGES, FIRST_X, PAGE_W, ROW_H = 8, 214, 70, 26
COPY = "url(#copy)"


def rows_of_pages(d: Drawing, y: float, label: str, mine: range, words: str, copy: int = -1) -> None:
    """A row of cells: pages of this node, at most one copy, and the rest, which is not there."""
    d.text(FIRST_X - 12, y + 18, label, anchor="end")
    own = LIGHT_BLUE if mine.start == 0 else LIGHT_GREEN
    for page in range(PAGES):
        x = FIRST_X + PAGE_W * page
        if page in mine:
            d.box(x, y, PAGE_W - 4, ROW_H, own)
            d.text(x + (PAGE_W - 4) / 2, y + 18, words, 12, "middle")
        elif page == copy:
            d.box(x, y, PAGE_W - 4, ROW_H, COPY, ORANGE)
            d.text(x + (PAGE_W - 4) / 2, y + 18, "copy", 12, "middle", bold=True)
        else:
            d.box(x, y, PAGE_W - 4, ROW_H, "white", GREY, dashed=True)


def address_space() -> Drawing:
    d = Drawing(506, "The address space: one range, homes and copies of pages")
    d.text(FIRST_X - 12, 42, "one shared array,", anchor="end", bold=True)
    d.text(FIRST_X - 12, 60, "same address in every rank", 12, "end")
    for rank in range(4):
        x = FIRST_X + 2 * PAGE_W * rank
        d.text(x + PAGE_W - 2, 22, f"home: rank {rank}", 12, "middle", FAINT)
        for page in (2 * rank, 2 * rank + 1):
            left = FIRST_X + PAGE_W * page
            d.box(left, 30, PAGE_W - 4, 34, LIGHT_BLUE if rank < 2 else LIGHT_GREEN)
            d.text(left + (PAGE_W - 4) / 2, 52, f"page {page}", 12, "middle")

    d.box(8, 80, WIDTH - 16, 138, LIGHT_GREY, GREY, round_=8)
    d.text(20, 170, "node 0", bold=True)
    rows_of_pages(d, 90, "what rank 0 sees", range(4), "mapped")
    rows_of_pages(d, 126, "what rank 1 sees", range(4), "mapped", 4)
    rows_of_pages(d, 178, "memory file of node 0", range(4), "master")
    d.box(8, 252, WIDTH - 16, 138, LIGHT_GREY, GREY, round_=8)
    rows_of_pages(d, 266, "memory file of node 1", range(4, 8), "master")
    rows_of_pages(d, 318, "what rank 2 sees", range(4, 8), "mapped", 3)
    rows_of_pages(d, 354, "what rank 3 sees", range(4, 8), "mapped")
    d.text(20, 308, "node 1", bold=True)

    third, fourth = FIRST_X + 3 * PAGE_W, FIRST_X + 4 * PAGE_W
    d.arrow([(third + 20, 204), (third + 20, 317)], BLUE)
    d.arrow([(third + 46, 318), (third + 46, 205)], ORANGE, dashed=True)
    d.arrow([(fourth + 20, 266), (fourth + 20, 153)], BLUE)
    d.arrow([(fourth + 46, 152), (fourth + 46, 265)], ORANGE, dashed=True)
    d.text(third - 10, 240, "transport", 13, "end", bold=True)
    d.arrow([(FIRST_X + 5 * PAGE_W, 230), (FIRST_X + 5 * PAGE_W + 26, 230)], BLUE)
    d.text(FIRST_X + 5 * PAGE_W + 32, 234, "page, when it is used", 12)
    d.arrow([(FIRST_X + 5 * PAGE_W, 246), (FIRST_X + 5 * PAGE_W + 26, 246)], ORANGE, dashed=True)
    d.text(FIRST_X + 5 * PAGE_W + 32, 250, "diff: bytes that changed", 12)

    legend = [
        (
            LIGHT_BLUE,
            INK,
            "a page of this node: all ranks of the node map its master copy; the hardware keeps it coherent",
        ),
        (COPY, ORANGE, "a copy of a page of another node, in the cache of one rank"),
        ("white", GREY, "not there: the first access faults and fetches the page from its home"),
        ("", "", "A page has the same offset in the address range, in memory files and in caches."),
    ]
    for number, (fill, line, words) in enumerate(legend):
        y = 404 + 25 * number
        if fill:
            d.box(20, y, 26, 17, fill, line, dashed=line == GREY)
        if fill == LIGHT_BLUE:
            d.box(50, y, 26, 17, LIGHT_GREEN)
        d.text(88, y + 13, words, 12)
    return d


# ---- a page's life ---------------------------------------------------------------------------------------------------

STEPS = [
    ("1", "fetch", "An access faults, or sms_preload; readahead fetches the pages that follow."),
    ("2", "write", "The first write: the kernel keeps the old bytes, the twin (--twin fetch: kept since 1)."),
    ("3", "release", "sms_barrier, sms_sync, sms_sync_drop, sms_unlock: this rank sends the diff home."),
    ("4", "invalidate", "sms_barrier, if a notice of another rank names the page; sms_sync_drop, sms_sync,"),
    ("", "", "sms_lock (unless this rank released the lock last): all copies of this rank."),
    ("5", "fetch", "The next access, or sms_preload; stale pages that follow come in the same request."),
    ("6", "evict", "The cache (--cache) is full: this rank gives up what came first."),
]


def state(d: Drawing, x: float, y: float, name: str, words: str, fill: str) -> None:
    d.box(x, y, 168, 54, fill, round_=8)
    d.text(x + 84, y + 23, name, 15, "middle", bold=True)
    d.text(x + 84, y + 42, words, 12, "middle")


def step(d: Drawing, x: float, y: float, number: str, name: str, anchor: str = "middle") -> None:
    d.text(x, y, f"{number} {name}", 13, anchor, bold=True)


def page_life() -> Drawing:
    d = Drawing(534, "The life of a copy of a page")
    d.box(20, 16, WIDTH - 40, 36, LIGHT_GREEN, round_=8)
    d.text(WIDTH / 2, 39, "home, on another node: the master copy; it merges the diffs of all writers", 13, "middle")
    state(d, 20, 128, "absent", "not in the cache", "white")
    state(d, 316, 128, "valid", "in the cache, readable", LIGHT_BLUE)
    state(d, 612, 128, "written", "valid, with a twin", LIGHT_ORANGE)
    state(d, 316, 254, "stale", "in the cache, out of date", LIGHT_PURPLE)

    d.arrow([(188, 144), (315, 144)])
    step(d, 251, 137, "1", "fetch")
    d.arrow([(484, 144), (611, 144)])
    step(d, 547, 137, "2", "write")
    d.arrow([(612, 168), (485, 168)])
    step(d, 549, 186, "3", "release")
    d.arrow([(370, 182), (370, 253)])
    step(d, 362, 222, "4", "invalidate", "end")
    d.arrow([(430, 254), (430, 183)])
    step(d, 438, 222, "5", "fetch", "start")
    d.arrow([(316, 168), (189, 168)])
    step(d, 251, 186, "6", "evict")
    d.arrow([(316, 281), (104, 281), (104, 183)])
    step(d, 205, 274, "6", "evict")

    d.arrow([(400, 52), (400, 127)], BLUE, dashed=True)
    d.text(392, 92, "page (1, 5)", 12, "end", BLUE)
    d.arrow([(696, 128), (696, 53)], ORANGE, dashed=True)
    d.text(688, 92, "diff (3; before 4 and 6)", 12, "end", ORANGE)

    d.line([(20, 330), (WIDTH - 20, 330)], GREY)
    for place, (number, name, words) in enumerate(STEPS):
        y = 352 + 20 * place
        if number:
            d.text(28, y, f"{number} {name}", 12.5, bold=True)
        d.text(132, y, words, 12.5)
    d.text(28, 500, "In each step but 2 the page is busy: one thread works on it; others that need it wait.", 12.5)
    d.text(28, 520, "Arrays of sms_promise_preload: a stale copy stays mapped, and step 5 refreshes it in place.", 12.5)
    return d


# ---- the floors ------------------------------------------------------------------------------------------------------


def floors_of(text: str) -> dict[str, list[str]]:
    """Floor: the floors that it uses, or its rooms do, in the order of src/CMakeLists.txt, which is bottom up."""
    lines = re.findall(r"^hiroba_floor\(\s*(\w+)(?:/\w+)?(.*?)\)", text, re.MULTILINE | re.DOTALL)
    found: dict[str, list[str]] = {}
    for name, rest in lines:
        used = re.search(r"\bUSES\s+((?:[a-z_]\w*\s*)+)", rest)
        known = found.setdefault(name, [])
        known += [other for other in (used[1].split() if used else []) if other not in known]
    return found


def purposes_of(text: str) -> dict[str, str]:
    """What each floor that is drawn is for."""
    return dict(re.findall(r'^hiroba_floor\(\s*(\w+)[^)]*?PURPOSE "([^"]*)"', text, re.MULTILINE))


def levels_of(floors: dict[str, list[str]]) -> list[list[str]]:
    """Floors that do not use each other stand beside each other, at most three of them."""
    level: dict[str, int] = {}
    for name, used in floors.items():
        level[name] = 1 + max((level[other] for other in used), default=-1)
        while list(level.values()).count(level[name]) > 3:
            level[name] += 1
    return [[name for name in floors if level[name] == height] for height in range(1 + max(level.values()))]


def rooms_of(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and any(entry.glob("*.cpp")))


def floors(root: Path) -> Drawing:
    text = (root / "src" / "CMakeLists.txt").read_text()
    purposes = purposes_of(text)
    uses = {name: [u for u in used if u in purposes] for name, used in floors_of(text).items() if name in purposes}
    levels = levels_of(uses)
    d = Drawing(132 + 64 * len(levels), "The floors of Hiroba, and which floors each uses")
    d.box(20, 14, WIDTH - 40, 34, LIGHT_ORANGE)
    d.text(WIDTH / 2, 36, "programs: apps/, examples/, bench/, and C that hirobacc writes", 13, "middle")
    d.arrow([(WIDTH / 2, 48), (WIDTH / 2, 63)])
    d.box(20, 64, WIDTH - 40, 34, LIGHT_GREEN)
    d.text(WIDTH / 2, 86, "include/hiroba/: what users include", 13, "middle")
    for number, names in enumerate(reversed(levels)):
        y, wide = 110 + 64 * number, (WIDTH - 40 - 12 * (len(names) - 1)) / len(names)
        for place, name in enumerate(names):
            x = 20 + (wide + 12) * place
            d.box(x, y, wide, 54, LIGHT_BLUE)
            beside = len(names) > 1  # less wide: three lines
            d.text(x + 14, y + (18 if beside else 23), f"src/{name}/", 14, bold=True)
            d.text(x + 14, y + (33 if beside else 43), purposes[name], 12)
            rooms = rooms_of(root / "src" / name) if name != "notation" else []  # these have the models' names
            if beside:
                used = ", ".join(floor for floor in uses[name] if floor != "base")  # all use base
                d.text(x + 14, y + 48, f"uses {used}", 11, "start", PURPLE)
                continue
            used = f"uses {', '.join(uses[name])}" if uses[name] else "uses no other floor"
            sizes = ((95, 12), (102, 11), (108, 10.5), (118, 9.5))
            size = next((size for length, size in sizes if len(used) < length), 9)
            d.text(x + wide - 14, y + 23, used, size, "end", PURPLE)
            if rooms:
                d.text(x + wide - 14, y + 43, f"rooms: {', '.join(rooms)}", 12, "end", FAINT)
    return d


# ---- all of them -----------------------------------------------------------------------------------------------------


def drawn(root: Path) -> tuple[dict[Path, str], list[str]]:
    """The text of every file that this program writes, and what is wrong with the drawings."""
    results = front_page.read(root)
    drawings = {
        "address-space": address_space(),
        "page-life": page_life(),
        "floors": floors(root),
        "costs": front_page.plot(results),
        "task-graph": graph_picture.task_graph(root),
    }
    files = {root / "docs" / "pictures" / f"{name}.svg": drawing.svg() for name, drawing in drawings.items()}
    measurements = root / "docs" / "measurements.md"
    files[measurements] = front_page.with_table(measurements.read_text(), results)
    scaling = root / "docs" / "scaling.md"
    files[scaling] = scaling_table.with_table(scaling.read_text())
    return files, [problem for drawing in drawings.values() for problem in drawing.problems()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--results", type=Path, help="take new figures from what ./dev bench has written here")
    options = parser.parse_args()
    if options.results:
        front_page.update(ROOT, options.results)
    files, problems = drawn(ROOT)
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if not options.check:
        for path in stale:
            path.write_text(files[path])
            print(f"{path.relative_to(ROOT)}: written anew")
        stale = []
    problems += [
        f"{path.relative_to(ROOT)}:1: not what tools/pictures.py writes. Remedy: run ./dev docs, and commit the file."
        for path in stale
    ]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
