"""hiroba report and hiroba compare; hirobarun --report calls `finish`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from hiroba import own_files
from hiroba.report import compare, path, rules, traces
from hiroba.report.data import Report, ReportError, incomplete


def write(file: Path, text: str) -> None:
    """The whole file or nothing, also if two jobs write it."""
    try:
        own_files.write_whole(file, text, own_files.PRIVATE)
    except OSError as error:
        raise ReportError(f"cannot write {file}: {error.strerror}") from error


def printable(line: str) -> str:
    """Texts of programs, and of files that others have made, may control a terminal."""
    return "".join(c if c.isprintable() else "?" for c in line)


def finished(report: Report) -> str:
    report.data["advice"] = rules.advice(report)
    report.data["path"] = path.critical_path(report)
    return json.dumps(report.data, separators=(",", ":"))


def make(data: Path, out: Path) -> None:
    report = Report.read(str(data))
    if out.suffix not in (".html", ".json", ".otf2"):
        raise ReportError(f"{out}: the name ends in neither .html nor .json nor .otf2")
    if out.suffix == ".otf2":
        return traces.write_otf2(report, out)
    if out.name.endswith(".perfetto.json"):
        return write(out, traces.perfetto(report))
    text = finished(report)
    if out.suffix == ".html":
        page = (Path(__file__).resolve().parent / "page.html").read_text(encoding="utf-8")
        text = page.replace("@DATA@", text.replace("<", "\\u003c"))
    return write(out, text)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="hiroba", description="Reports of runs: pages and comparisons.")
    parser.add_argument("--build", help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", required=True, metavar="report | compare")
    report = commands.add_parser("report", help="make a page, or a trace, of the data FILE.json")
    report.add_argument("data", type=Path, metavar="DATA.json")
    report.add_argument("page", type=Path, metavar="PAGE.html|NAME.perfetto.json|NAME.otf2")
    finish = commands.add_parser("finish")
    finish.add_argument("data", type=Path)
    finish.add_argument("page", type=Path)
    comparison = commands.add_parser("compare", help="compare two reports, pages or data")
    comparison.add_argument("before")
    comparison.add_argument("after")
    comparison.add_argument(
        "--limit", type=float, default=5, metavar="PERCENT", help="exit with 1 if the second is slower by more (5)"
    )
    wish = parser.parse_args(words)
    try:
        if wish.command == "compare":
            text, slower = compare.compare(Report.read(wish.before), Report.read(wish.after), wish.limit / 100)
            print("\n".join(map(printable, text.split("\n"))), flush=True)
            return 1 if slower else 0
        make(wish.data, wish.page)
        if wish.command == "finish" and wish.page != wish.data:
            wish.data.unlink()
    except OSError as error:
        if error.filename is not None:
            raise
        print(f"hiroba: cannot write the output ({error.strerror})", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter would say it again at its end
        return 1
    # Data may lack something, have it of another type, or beyond what numbers of floating point can be.
    except (ReportError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        files = f"{wish.before} or {wish.after}" if wish.command == "compare" else wish.data
        whole = error if isinstance(error, ReportError) else f"{files} is no whole report: {incomplete(error)}"
        print(printable(f"hiroba: {whole}"), file=sys.stderr)
        return 2 if wish.command == "compare" else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
