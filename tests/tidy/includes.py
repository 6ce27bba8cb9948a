"""The include graph: floors stand on lower floors only, and see of them only the contract. Rules are functions from
the files of a tree to findings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from source import File, Finding

# Of these, every header may be included from above; of the others only the contract, FLOOR/FLOOR.hpp.
OPEN_FLOORS = {"base", "section"}
# These files of a folder put its rooms together, so the folder's other files may be below its rooms: a registry, the
# folder's contract (NAME.hpp, NAME.cpp), and what the parts of a contract share.
COMPOSITION = {"registry.cpp", "parts.hpp", "parts.cpp"}
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


@dataclass(frozen=True)
class Floor:
    """A hiroba_floor() of src/CMakeLists.txt: FLOOR, or FLOOR/ROOM of another library, which has uses of its own."""

    line: int
    uses: set[str]
    shows: set[str]  # the headers, by their paths in the floor, that its contract may include

    @staticmethod
    def words(text: str, keyword: str) -> set[str]:
        found = re.search(rf"\b{keyword}\b((?:\s+(?!(?:LIBRARY|MODEL|PURPOSE|USES|SHOWS|SOURCES)\b)[\w/]+)*)", text)
        return set(found[1].split()) if found else set()


def floors_of(files: list[File]) -> dict[str, Floor]:
    """Every floor, bottom up."""
    text = next((file.text for file in files if file.path == "src/CMakeLists.txt"), "")
    return {
        match[1]: Floor(
            text.count("\n", 0, match.start()) + 1, Floor.words(match[2], "USES"), Floor.words(match[2], "SHOWS")
        )
        for match in FLOOR_LINE.finditer(text)
    }


def source_includes(files: list[File]) -> Iterator[tuple[str, Include]]:
    """Every include of a header of src/ made in src/, with the floor that makes it, or FLOOR/ROOM."""
    floors = floors_of(files)
    for file in files:
        if file.is_c and file.parts[0] == "src" and len(file.parts) > 2:
            room = "/".join(file.parts[1:3])
            for include in includes_of(file):
                if include.floor in floors:
                    yield room if room in floors else file.parts[1], include


def check_known_floors(files: list[File]) -> Iterator[Finding]:
    folders = {file.parts[1]: file for file in files if file.is_c and file.parts[0] == "src" and len(file.parts) > 2}
    for name in sorted(set(folders) - set(floors_of(files))):
        yield Finding(
            folders[name].path,
            1,
            "unknown-floor",
            f"src/{name} is not a floor",
            "a folder of src/ has a place in the order, or the order means nothing",
            "give it a hiroba_floor() in src/CMakeLists.txt and a row in docs/architecture.md, or move the file",
        )


MOST_FILES = 25


def check_folder_size(files: list[File]) -> Iterator[Finding]:
    folders: dict[str, list[File]] = {}
    for file in files:
        if file.parts[0] == "src":
            folders.setdefault("/".join(file.parts[:-1]), []).append(file)
    for folder, inside in sorted(folders.items()):
        if len(inside) > MOST_FILES:
            yield Finding(
                inside[0].path,
                1,
                "folder-size",
                f"{folder} has {len(inside)} files at one level, more than {MOST_FILES}",
                "a reader looks for the idea, and a list has none",
                "give what belongs together a room, a folder of its own",
            )


def check_order(files: list[File]) -> Iterator[Finding]:
    above: set[str] = set()
    for name, floor in floors_of(files).items():
        above.add(name)
        for used in sorted(floor.uses - above):
            yield Finding(
                "src/CMakeLists.txt",
                floor.line,
                "floor-order",
                f"{name} says USES {used}, which is no floor below it",
                "floors are declared bottom up, so none can use a higher one",
                f"declare {used} first, or let {name} be given what it needs",
            )


def check_floors(files: list[File]) -> Iterator[Finding]:
    floors = floors_of(files)
    for floor, include in source_includes(files):
        if include.floor == floor.split("/")[0] or floor not in floors:
            continue
        if include.floor not in floors[floor].uses:
            allowed = ", ".join(sorted(floors[floor].uses)) or "nothing"
            yield include.finding(
                "include-floor",
                f'{floor} includes "{include.target}", but says that it uses {allowed} only',
                "a floor that knows a higher one cannot be tested, replaced or understood alone",
                "let the higher floor pass in a value or a function, or move the code to the floor it belongs to; if"
                f" {include.floor} is below, add it to USES of {floor} in src/CMakeLists.txt",
            )
        elif include.floor not in OPEN_FLOORS and include.target != f"{include.floor}/{include.floor}.hpp":
            yield include.finding(
                "include-contract",
                f'{floor} includes "{include.target}", which is inside {include.floor}',
                "from above only the contract header is seen, so that the inside can change",
                f'include "{include.floor}/{include.floor}.hpp", and put there what is missing',
            )


def check_contract_hides(files: list[File]) -> Iterator[Finding]:
    floors = floors_of(files)
    for floor, include in source_includes(files):
        name = include.target.partition("/")[2].removesuffix(".hpp")
        shown = floors[floor].shows if floor in floors else set()
        is_contract = include.file.path in {f"src/{floor}/{part}.hpp" for part in shown | {floor}}
        if is_contract and include.floor == floor and name not in shown:
            yield include.finding(
                "contract-insides",
                f'the contract of {floor} includes "{include.target}" of its own floor',
                "who includes the contract would depend on the inside",
                f"declare what is needed and keep it behind a pointer; a header of values goes into SHOWS of {floor}",
            )


def check_unused_uses(files: list[File]) -> Iterator[Finding]:
    used: dict[str, set[str]] = {}
    for name, include in source_includes(files):
        used.setdefault(name, set()).add(include.floor)
    for name, floor in sorted(floors_of(files).items()):
        for other in sorted(floor.uses - used.get(name, set())):
            yield Finding(
                "src/CMakeLists.txt",
                floor.line,
                "unused-uses",
                f"{name} says USES {other}, but includes nothing of it",
                "the line is what readers believe",
                f"remove {other} from USES of {name}",
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


def composes(file: File) -> bool:
    folder, name = file.parts[-2:]
    return name in COMPOSITION | {f"{folder}.hpp", f"{folder}.cpp"}


def check_cycles(files: list[File]) -> Iterator[Finding]:
    """Between folders of src/, at any depth. What puts the rooms of a folder together is left out."""
    edges: dict[str, dict[str, Include]] = {}
    for _, include in source_includes(files):
        folder = "/".join(include.file.parts[1:-1])
        to_own_room = include.folder.startswith(folder + "/") and composes(include.file)
        if include.folder != folder and not to_own_room:
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
    check_order,
    check_folder_size,
    check_floors,
    check_contract_hides,
    check_unused_uses,
    check_spelling,
    check_programs,
    check_source_included,
    check_cycles,
]
