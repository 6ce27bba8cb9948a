"""The include graph: floors stand on lower floors only, and see of them only the contract. Rules are functions from
the files of a tree to findings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from source import File, Finding

# The floors of src/, bottom up, and what each may stand on. docs/architecture.md draws the same picture.
# FLOOR/ROOM is a room of another library, which may stand on more than its floor.
FLOORS: dict[str, set[str]] = {
    "base": set(),
    "transport": {"base"},
    "collective": {"base", "transport"},
    "memory": {"base", "transport", "collective"},
    "coarray": {"base", "transport", "collective", "memory"},
    "loops": {"base", "transport", "collective", "memory"},
    "task": {"base", "transport", "collective", "memory"},
    "linear": {"base", "transport", "collective", "memory"},
    "sparse": {"base", "transport", "collective", "memory", "linear"},
    "krylov": {"base", "transport", "collective", "memory", "linear", "sparse"},
    "eigen": {"base", "transport", "collective", "memory", "linear", "sparse", "krylov"},
    "process": {"base", "transport", "collective", "memory", "coarray", "loops", "task", "linear"},
    "notation": {
        "base",
        "transport",
        "collective",
        "memory",
        "coarray",
        "loops",
        "task",
        "linear",
        "process",
    },
    "notation/sparse": {
        "base",
        "transport",
        "collective",
        "memory",
        "coarray",
        "loops",
        "task",
        "linear",
        "sparse",
        "krylov",
        "eigen",
        "process",
    },
    "launcher": {"base", "transport", "memory"},
}
# Of these, every header may be included from above; of the others only the contract, FLOOR/FLOOR.hpp.
OPEN_FLOORS = {"base"}
# Of its own floor a contract shows values, headers of plain data, arithmetic and templates, and its parts, which hide
# their insides as it does: named here, and held to the same.
CONTRACT_VALUES: dict[str, set[str]] = {
    "collective": {
        "arithmetic",
        "arrivals",
        "barriers",
        "call",
        "combine",
        "planned_operations",
        "plans",
        "requests",
        "settings",
        "started",
        "team",
        "team_operations",
        "ticket_lock",
        "world",
    },
    "memory": {
        "affinity",
        "array",
        "arrays",
        "atomics",
        "conditions",
        "consistency",
        "distribution",
        "group_sync",
        "heap",
        "homes",
        "layout",
        "locks",
        "memory_place",
        "named_bytes",
        "named_writes",
        "preloads",
        "replicas",
        "system_access",
    },
    "coarray": {"assignments", "atomics", "image_sync", "locks", "section"},
    "loops": {"share", "tiles", "view"},
    "task": {"access", "label"},
    "linear": {"kernels", "local", "numbers", "operands", "strided", "sums", "threads"},
    "sparse": {"block", "entries", "functions", "kernels", "operator", "ranks", "rows", "sparse_matrix"},
    "krylov": {"scaled", "vectors"},
    "transport": {"packed", "two_sided"},
}
# This file of a floor names the floor's rooms, one line each; it is what makes a room known.
REGISTRY = "registry.cpp"
# Programs see what users see.
PROGRAM_FOLDERS = {"apps", "examples", "bench"}

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')
FLOOR_LINE = re.compile(r"^hiroba_floor\(\s*([\w/]+)([^)]*)\)", re.MULTILINE)


@dataclass(frozen=True)
class Include:
    file: File
    line: int
    quoted: bool
    target: str

    @property
    def folder(self) -> str:
        """The folder of src/ that holds the target, or nothing."""
        return self.target.rpartition("/")[0]

    @property
    def floor(self) -> str:
        return self.target.split("/")[0] if "/" in self.target else ""

    def finding(self, rule: str, what: str, why: str, remedy: str) -> Finding:
        return Finding(self.file.path, self.line, rule, what, why, remedy)


def includes_of(file: File) -> Iterator[Include]:
    for number, (line, code) in enumerate(zip(file.lines, file.code, strict=True), 1):
        # The blanked line tells whether it is code; the line itself has the name.
        match = INCLUDE.match(line) if code.lstrip().startswith("#") else None
        if match:
            yield Include(file, number, match[1] == '"', match[2])


def source_includes(files: list[File]) -> Iterator[tuple[str, Include]]:
    """Every include of a header of src/ made in src/, with the floor that makes it, or FLOOR/ROOM."""
    for file in files:
        if file.is_c and file.parts[0] == "src" and len(file.parts) > 2:
            room = "/".join(file.parts[1:3])
            for include in includes_of(file):
                if include.floor in FLOORS:
                    yield room if room in FLOORS else file.parts[1], include


def declared_uses(files: list[File]) -> dict[str, tuple[int, set[str]]]:
    """Floor -> the line of its hiroba_floor() in src/CMakeLists.txt, and what USES says there."""
    text = next((file.text for file in files if file.path == "src/CMakeLists.txt"), "")
    uses = {}
    for match in FLOOR_LINE.finditer(text):
        names = re.search(r"\bUSES\b((?:\s+(?!SOURCES\b)\w+)*)", match[2])
        uses[match[1]] = (text.count("\n", 0, match.start()) + 1, set(names[1].split()) if names else set())
    return uses


def check_known_floors(files: list[File]) -> Iterator[Finding]:
    folders = {file.parts[1]: file for file in files if file.is_c and file.parts[0] == "src" and len(file.parts) > 2}
    for name in sorted(set(folders) - set(FLOORS)):
        yield Finding(
            folders[name].path,
            1,
            "unknown-floor",
            f"src/{name} is not a floor",
            "a folder of src/ has a place in the order, or the order means nothing",
            "give it one in FLOORS of tests/tidy/includes.py and in docs/architecture.md, or move the file",
        )


def check_floors(files: list[File]) -> Iterator[Finding]:
    uses = declared_uses(files)
    for floor, include in source_includes(files):
        if include.floor == floor.split("/")[0] or floor not in FLOORS:
            continue
        if include.floor not in FLOORS[floor]:
            allowed = ", ".join(sorted(FLOORS[floor])) or "nothing"
            yield include.finding(
                "include-floor",
                f'{floor} includes "{include.target}", but may stand on {allowed} only',
                "a floor that knows a higher one cannot be tested, replaced or understood alone",
                "let the higher floor pass in a value or a function, or move the code to the floor it belongs to",
            )
        elif floor in uses and include.floor not in uses[floor][1]:
            yield include.finding(
                "include-uses",
                f'{floor} includes "{include.target}", but its hiroba_floor() does not say USES {include.floor}',
                "what a floor uses is one visible line",
                f"add {include.floor} to USES of {floor} in src/CMakeLists.txt, if it is meant to use it",
            )
        elif include.floor not in OPEN_FLOORS and include.target != f"{include.floor}/{include.floor}.hpp":
            yield include.finding(
                "include-contract",
                f'{floor} includes "{include.target}", which is inside {include.floor}',
                "from above only the contract header is seen, so that the inside can change",
                f'include "{include.floor}/{include.floor}.hpp", and put there what is missing',
            )


def check_contract_hides(files: list[File]) -> Iterator[Finding]:
    for floor, include in source_includes(files):
        name = include.target.rpartition("/")[2].removesuffix(".hpp")
        shown = CONTRACT_VALUES.get(floor, set())
        is_contract = include.file.path in {f"src/{floor}/{part}.hpp" for part in shown | {floor}}
        if is_contract and include.floor == floor and name not in shown:
            yield include.finding(
                "contract-insides",
                f'the contract of {floor} includes "{include.target}" of its own floor',
                "who includes the contract would depend on the inside",
                "declare what is needed and keep it behind a pointer; a header of values goes into CONTRACT_VALUES",
            )


def check_unused_uses(files: list[File]) -> Iterator[Finding]:
    used: dict[str, set[str]] = {}
    for floor, include in source_includes(files):
        used.setdefault(floor, set()).add(include.floor)
    for floor, (line, uses) in sorted(declared_uses(files).items()):
        for name in sorted(uses - used.get(floor, set())):
            yield Finding(
                "src/CMakeLists.txt",
                line,
                "unused-uses",
                f"{floor} says USES {name}, but includes nothing of it",
                "the line is what readers believe",
                f"remove {name} from USES of {floor}",
            )


def check_spelling(files: list[File]) -> Iterator[Finding]:
    """In src/, quoted includes are spelled from src/ and exist there; only notations include what users include."""
    existing = {file.path for file in files}
    for file in files:
        if not file.is_c or file.parts[0] != "src":
            continue
        for include in includes_of(file):
            is_public = f"include/hiroba/{include.target}" in existing
            if is_public and file.parts[1] != "notation":
                yield include.finding(
                    "include-public",
                    f"{file.parts[1]} includes the public header {include.target}",
                    "the C interface is a client of the floors, not their vocabulary",
                    "use a type of a lower floor and translate in src/notation",
                )
            elif include.quoted and not is_public and f"src/{include.target}" not in existing:
                yield include.finding(
                    "include-spelling",
                    f'there is no src/{include.target} for "{include.target}"',
                    "a name spelled from src/ shows its floor, and there is one spelling for each header",
                    'write "FLOOR/.../NAME.hpp" for ours, <NAME> for all others',
                )


# Benchmarks of a contract that users do not see.
MEASURES_FLOORS = {"bench/transport/ours.cpp"}


def check_programs(files: list[File]) -> Iterator[Finding]:
    sources = {file.path for file in files if file.parts[0] == "src"}
    for file in files:
        if not file.is_c or file.parts[0] not in PROGRAM_FOLDERS or file.path in MEASURES_FLOORS:
            continue
        for include in includes_of(file):
            if f"src/{include.target}" in sources or "src/" in include.target:
                yield include.finding(
                    "include-program",
                    f"a program includes {include.target} of the library's inside",
                    "programs here are written as users write them, and prove that the public headers suffice",
                    "use a header of include/hiroba; if it lacks something, users lack it too",
                )


def check_source_included(files: list[File]) -> Iterator[Finding]:
    for file in files:
        if file.is_c:
            for include in includes_of(file):
                if include.target.endswith((".c", ".cpp")):
                    yield include.finding(
                        "include-source",
                        f"{include.target} is a source file",
                        "what is compiled twice differs one day",
                        "declare what is needed in a header and link the source",
                    )


def check_cycles(files: list[File]) -> Iterator[Finding]:
    """Between folders of src/, at any depth. A floor's registry names its rooms and is left out."""
    edges: dict[str, dict[str, Include]] = {}
    for _, include in source_includes(files):
        folder = "/".join(include.file.parts[1:-1])
        if include.folder != folder and include.file.parts[-1] != REGISTRY:
            edges.setdefault(folder, {}).setdefault(include.folder, include)
    reported: set[frozenset[str]] = set()

    def visit(folder: str, path: list[str]) -> Iterator[Finding]:
        if folder in path:
            cycle = path[path.index(folder) :]
            if frozenset(cycle) not in reported:
                reported.add(frozenset(cycle))
                yield edges[cycle[-1]][folder].finding(
                    "include-cycle",
                    f"folders include each other: {' -> '.join([*cycle, folder])}",
                    "folders in a circle are one folder that is hard to read",
                    "move what both need to the lower one",
                )
            return
        for target in sorted(edges.get(folder, {})):
            yield from visit(target, [*path, folder])

    for folder in sorted(edges):
        yield from visit(folder, [])


RULES = [
    check_known_floors,
    check_floors,
    check_contract_hides,
    check_unused_uses,
    check_spelling,
    check_programs,
    check_source_included,
    check_cycles,
]
