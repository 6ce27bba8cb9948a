"""Each public function and method of the package says what it does, and names the errors that it raises, itself or in
functions of the package that it calls, in a last part of its docstring that begins with `Errors:`. Read from the
sources, so no job is started."""

from __future__ import annotations

import argparse
import ast
import pathlib
import re
import sys
from dataclasses import dataclass, field

CLASSES = {"Array", "Operator", "Request"}  # whose methods programs call
FEWEST_WORDS = 3


@dataclass
class Function:
    module: str
    name: str  # of a method: Class.name
    node: ast.FunctionDef
    raised: set[str] = field(default_factory=set)

    @property
    def where(self) -> str:
        return f"{self.module}.py:{self.node.lineno}: {self.name}()"


@dataclass
class Module:
    name: str
    functions: dict[str, Function] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)  # name here: "module.name", or "module"
    shown: set[str] = field(default_factory=set)
    also_named: dict[str, str] = field(default_factory=dict)  # empty = zeros


def names_in(value: ast.expr) -> set[str]:
    return {each.value for each in ast.walk(value) if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def read(path: pathlib.Path) -> Module:
    out = Module(path.stem)
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            out.functions[node.name] = Function(out.name, node.name, node)
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    name = f"{node.name}.{each.name}"
                    out.functions[name] = Function(out.name, name, each)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "hiroba":
            folder = (node.module or "").removeprefix("hiroba").removeprefix(".")
            for alias in node.names:
                out.imported[alias.asname or alias.name] = f"{folder}.{alias.name}" if folder else alias.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id == "__all__":
                out.shown = names_in(node.value)
            elif isinstance(node.value, ast.Name):
                out.also_named[node.targets[0].id] = node.value.id
    return out


def passed_on(of: Function, to: Function) -> set[str]:
    """What a function raises that is called by another one. The package itself calls bcast with a root that is right,
    and from other modules collective operations with operators and shapes that are; the type of what they combine may
    be the program's."""
    if to.name == "bcast":
        return set()
    if to.module != "collectives" or of.module == to.module:
        return to.raised
    return to.raised & {"TypeError"} if to.name == "allreduce" else set()


class Package:
    def __init__(self, folder: pathlib.Path) -> None:
        self.modules = {path.stem: read(path) for path in folder.glob("*.py")}
        self._propagate()

    def _find(self, module: Module, name: str) -> Function | None:
        """A function by its name in a module; of a class its constructor."""
        name = module.also_named.get(name, name)
        if name in module.functions:
            return module.functions[name]
        if f"{name}.__init__" in module.functions:
            return module.functions[f"{name}.__init__"]
        folder, _, there = module.imported.get(name, "").partition(".")
        return self._find(self.modules[folder], there) if folder in self.modules and there else None

    def _called(self, function: Function, call: ast.expr) -> Function | None:
        module = self.modules[function.module]
        if isinstance(call, ast.Name):
            return self._find(module, call.id)
        if not isinstance(call, ast.Attribute) or not isinstance(call.value, ast.Name):
            return None
        if call.value.id == "self":
            return module.functions.get(f"{function.name.partition('.')[0]}.{call.attr}")
        other = self.modules.get(module.imported.get(call.value.id, ""))
        return self._find(other, call.attr) if other is not None else None

    def _propagate(self) -> None:
        everything = [each for module in self.modules.values() for each in module.functions.values()]
        calls: list[tuple[Function, Function]] = []
        for function in everything:
            for node in ast.walk(function.node):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    function.raised.add(ast.unparse(node.exc.func))
                elif isinstance(node, ast.Call) and (to := self._called(function, node.func)) is not None:
                    calls.append((function, to))
                elif isinstance(node, ast.Attribute) and (to := self._called(function, node)) is not None:
                    is_property = any(ast.unparse(each) == "property" for each in to.node.decorator_list)
                    calls += [(function, to)] if is_property else []
        while any(not passed_on(of, to) <= of.raised for of, to in calls):
            for of, to in calls:
                of.raised |= passed_on(of, to)

    def public(self) -> list[Function]:
        out = []
        for module in self.modules.values():
            for function in module.functions.values():
                of_class, _, method = function.name.rpartition(".")
                is_public = of_class in CLASSES and not method.startswith("_")
                if is_public or function.name in module.shown:
                    out.append(function)
        return out


def errors_of(function: Function, public: list[Function]) -> str:
    """The part on errors; that of another function, too, which it refers to: `as of zeros()`."""
    _, _, text = (ast.get_docstring(function.node) or "").partition("Errors:")
    others = {each.name.rpartition(".")[2]: each for each in public}
    refers = re.search(r"as of (\w+)\(\)", " ".join(text.split()))
    return text + errors_of(others[refers[1]], public) if refers else text


def faults_of(function: Function, public: list[Function]) -> list[str]:
    if len((ast.get_docstring(function.node) or "").partition("Errors:")[0].split()) < FEWEST_WORDS:
        return [f"{function.where} does not say what it does"]
    errors = errors_of(function, public)
    missing = sorted(each for each in function.raised if not re.search(rf"\b{each}\b", errors))
    if missing:
        return [f"{function.where} can raise {', '.join(missing)}; say when, in a last part `Errors: ...`"]
    return []


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", type=pathlib.Path, required=True)
    public = Package(parser.parse_args().package).public()
    faults = [fault for function in public for fault in faults_of(function, public)]
    print("\n".join(faults) or f"{len(public)} functions")
    return 1 if faults or len(public) < 70 else 0


sys.exit(main())
