"""Compares docs/options.md with what `hiroba info --options-markdown` prints, or writes it with --write:
`options_page.py [--write] HIROBA`. Python standard library only."""

import argparse
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "options.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hiroba", help="the command bin/hiroba of a build")
    parser.add_argument("--write", action="store_true", help="write the page instead of comparing")
    arguments = parser.parse_args()
    command = [arguments.hiroba, "info", "--options-markdown"]
    printed = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
    same = PAGE.exists() and PAGE.read_text() == printed
    if arguments.write and not same:
        PAGE.write_text(printed)
        print("docs/options.md: written anew")
    elif not same:
        print("docs/options.md:1: differs from the option table. Remedy: run ./dev docs, and commit the page.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
