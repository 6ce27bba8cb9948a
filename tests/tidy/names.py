"""A rule about names: a class has a name of its own. C++ takes classes of one name in one namespace for the same class,
also in different files, and no compiler or linker says so: of functions that both have, such as constructors, the
program gets those of either."""

import re
from collections import defaultdict
from collections.abc import Iterator

from functions import without_preprocessor
from source import File, Finding

# A namespace, a class or an enumeration that is defined here, or any other brace.
SCOPE = re.compile(
    r"""\bnamespace\s*(?P<namespace>[\w:]*)\s*{
      | \b(?:class|struct|union|enum(?:\s+class)?)\s+(?:alignas\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*
        (?P<name>\w+)\s*(?:final\s*)?(?::(?!:)[^{};()]*)?{
      | [{}]
    """,
    re.VERBOSE,
)


def names_of(code: list[str]) -> Iterator[tuple[str, int]]:
    """Qualified names of classes and enumerations that other files may have, too, and their lines: not those in
    classes, in functions, and in namespaces without a name. The code is blanked (source.File.code)."""
    text = "\n".join(without_preprocessor(code))
    scopes: list[str | None] = []  # the name of a namespace; None: what no other file sees
    for match in SCOPE.finditer(text):
        if match[0] == "}":
            if scopes:
                scopes.pop()
            continue
        if match["name"] and None not in scopes:
            name = "::".join([*(scope for scope in scopes if scope is not None), match["name"]])
            yield name, text.count("\n", 0, match.start()) + 1
        scopes.append(match["namespace"] or None)


def check_names(files: list[File]) -> Iterator[Finding]:
    known: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for file in files:
        if file.suffix in {".hpp", ".cpp"} and file.parts[0] in {"src", "include"}:
            for name, line in names_of(file.code):
                known[name].append((file.path, line))
    for name, places in known.items():
        first, *others = sorted(places)
        for path, line in others:
            yield Finding(
                path,
                line,
                "class-name",
                f"{name} is also the name of a class at {first[0]}:{first[1]}",
                "C++ takes them for one class, and the program gets the constructors of either for both",
                "give this one another name, or a namespace without a name in a .cpp file",
            )


RULES = [check_names]
