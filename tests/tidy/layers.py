"""The layers of Python packages: a core, folders that stand on it and do not know each other, a registry that names
them, and the rest, which finds them there."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from source import File, Finding

# Packages with layers: the folder of each. In it `core/` is the core, every other folder is registered.
PACKAGES = ["python/hiroba/compiler"]
CORE, REGISTRY = "core", "registry.py"
ROOT = "python/"  # where absolute imports begin


@dataclass(frozen=True)
class Import:
    line: int
    path: str  # of a module, or of a name in one, from the root of the tree, without .py


def imports_of(file: File) -> Iterator[Import]:
    for node in ast.walk(ast.parse(file.text)):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, ROOT + alias.name.replace(".", "/")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = file.parts[: -node.level] if node.level else [ROOT.rstrip("/")]
            module = [*base, *(node.module.split(".") if node.module else [])]
            yield from (Import(node.lineno, "/".join([*module, alias.name])) for alias in node.names)


def layer(path: str, package: str, folders: set[str]) -> str:
    """The folder of the package that a path is in, or "" for its own files."""
    inside = path.removeprefix(package + "/").split("/")
    return inside[0] if inside[0] in folders else ""


def check_package(files: list[File], package: str) -> Iterator[Finding]:
    mine = [file for file in files if file.suffix == ".py" and file.path.startswith(package + "/")]
    depth = len(package.split("/"))
    folders = {file.parts[depth] for file in mine if len(file.parts) > depth + 1}
    registered = set()
    for file in mine:
        here = layer(file.path, package, folders)
        is_registry = file.path == f"{package}/{REGISTRY}"
        for each in imports_of(file):
            if not each.path.startswith(package + "/"):
                continue
            there = layer(each.path, package, folders)
            registered |= {there} if is_registry else set()
            if there in (here, CORE) or is_registry or (here == "" and there == ""):
                continue
            if here == CORE:
                what, remedy = "core", f"move to {CORE}/ what it needs, or have it passed in"
            elif here:
                what, remedy = here, f"move what both need to {package}/{CORE}"
            else:
                what, remedy = file.parts[-1], f"take what it needs from NOTATIONS of {REGISTRY}"
            shown = each.path.removeprefix(package + "/")
            why = "a folder that only the registry names can be added, read and removed alone"
            yield Finding(file.path, each.line, "python-layer", f"{what} imports {shown}", why, remedy)
    for folder in sorted(folders - registered - {CORE}):
        path = min(file.path for file in mine if file.path.startswith(f"{package}/{folder}/"))
        why, remedy = "what nobody names does not run", f"add its line to {package}/{REGISTRY}, or move its files"
        yield Finding(path, 1, "python-registry", f"{REGISTRY} does not name {folder}", why, remedy)


def check_layers(files: list[File]) -> Iterator[Finding]:
    for package in PACKAGES:
        yield from check_package(files, package)


RULES = [check_layers]
