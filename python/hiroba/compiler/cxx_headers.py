"""Directives in the headers of C++ files: their compiler would ignore them, and so they are refused as those in the
files themselves are. Those count that the preprocessor leaves, because a header may have some for C alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .command import Command
from .core.source import Source
from .foreign import code_of
from .plain import Search, header_folders, names_in
from .registry import NOTATIONS


def files_with_suspects(command: Command, headers: str) -> list[str]:
    """Returns the C++ files that may read a header of the user with a notation. `headers`: the folder of Hiroba's."""
    search = Search(command, headers)
    return [file for file in command.cxx if Path(file).is_file() and has_suspect(search, file, headers)]


def has_suspect(search: Search, file: str, headers: str) -> bool:
    waiting, seen = [file], {file}
    while waiting:
        path = waiting.pop()
        names = names_in(path)
        if names is None:
            return True
        for name in names:
            found = search.places(name[1:], name[0], str(Path(path).parent))
            waiting += [each for each in found if each not in seen and str(Path(each).parent) != headers]
            seen.update(found)
    return False


def refuse_in_headers(command: Command, files: list[str], headers: str) -> bool:
    """Prints the first directive of each file's headers, and returns true if there is any."""
    any_found = False
    for file in files:
        words = [*command.cc, *preprocessing(command), *header_folders(headers), "-x", "c++", "-E", file]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        text = done.stdout.decode("latin-1")
        code = code_of(text)
        places = [at for notation in NOTATIONS if (at := notation.first_directive(code)) is not None]
        if done.returncode or not places:  # the compiler reports its errors
            continue
        source = Source(text)
        at = min(places)
        at += len(code[at:]) - len(code[at:].lstrip())
        message = f"directives are C, and {file} includes this header, which is C++: its compiler would ignore them"
        source.error(at, message, "put them, and what they stand for, between #ifndef __cplusplus and #endif")
        source.diagnostics.print()
        any_found = True
    return any_found


def preprocessing(command: Command) -> list[str]:
    """Returns the command's options, without files, outputs and languages."""
    files = {*command.sources, *command.others}
    out, skip = [], False
    for word in command.words:
        if not skip and word not in files and word not in ("-o", "-c", "-S", "-x") and not word.startswith("-M"):
            out.append(word)
        skip = word in ("-o", "-x", "-MF", "-MT", "-MQ")
    return out
