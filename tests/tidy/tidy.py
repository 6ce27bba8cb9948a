"""Checks the include graph and the mechanical style rules of a tree: `python3 tests/tidy/tidy.py [ROOT]`. Prints one
line per finding (file:line, rule, what, why, remedy) and ends with 1 if there is any. Run by ctest and `./dev lint`.
Python standard library only."""

import sys
from pathlib import Path

import classes
import includes
import layers
import names
import style
from source import Finding, read_tree


def findings(root: Path) -> list[Finding]:
    files = read_tree(root)
    tree = {file.path: file for file in files}
    found = [finding for rule in includes.RULES + classes.RULES + layers.RULES + names.RULES for finding in rule(files)]
    for file in files:
        found += [finding for rule in style.RULES for finding in rule(file)]
        found += style.check_links(file, tree)
    return sorted(set(found))


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]
    found = findings(root)
    for finding in found:
        print(finding)
    print(f"tidy: {len(found)} findings" if found else "tidy: nothing to mend")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
