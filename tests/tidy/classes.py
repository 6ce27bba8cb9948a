"""Rules about classes: what wraps a contract forwards all of it, or what it wraps is not what runs; a class has few
methods."""

import re
from collections.abc import Iterator

from functions import without_preprocessor
from source import File, Finding

# Contract, where it is; and what wraps it, where that is.
WRAPPERS = [
    ("Transport", "src/transport/transport.hpp", "Wrapper", "src/transport/wrapper.hpp"),
    ("OneSided", "src/transport/one_sided.hpp", "Wrapper", "src/transport/wrapper.hpp"),
    ("RemoteWords", "src/transport/remote_words.hpp", "Wrapper", "src/transport/wrapper.hpp"),
    ("RankBarriers", "src/transport/rank_barriers.hpp", "Wrapper", "src/transport/wrapper.hpp"),
    ("Wire", "src/transport/wire/wire.hpp", "ChaosWire", "src/transport/wire/chaos_wire.cpp"),
]
VIRTUAL = re.compile(r"\bvirtual\b[^;{}()~]*?\b(\w+)\s*\(")  # but the destructor
OVERRIDE = re.compile(r"\b(\w+)\s*\([^;{}]*?\)\s*(?:const\s*)?override\b")


def body_of(file: File, name: str) -> tuple[int, str]:
    """The line on which the class begins, and its text up to the brace in the first column, without comments."""
    text = "\n".join(file.code)
    match = re.search(rf"^class {name}\b[^;{{]*{{.*?^}};", text, re.MULTILINE | re.DOTALL)
    return (text.count("\n", 0, match.start()) + 1, match[0]) if match else (1, "")


def check_wrappers(files: list[File]) -> Iterator[Finding]:
    tree = {file.path: file for file in files}
    for contract, contract_path, wrapper, wrapper_path in WRAPPERS:
        if contract_path not in tree or wrapper_path not in tree:
            continue
        virtuals = set(VIRTUAL.findall(body_of(tree[contract_path], contract)[1]))
        line, body = body_of(tree[wrapper_path], wrapper)
        for method in sorted(virtuals - set(OVERRIDE.findall(body))):
            yield Finding(
                wrapper_path,
                line,
                "wrapper-forwards",
                f"{wrapper} does not forward {contract}::{method}",
                "with an instrument around it something else would run than without",
                f"override {method}, and call the inner one",
            )


MOST_METHODS = 25
# Classes of before this rule that declare more, as "file class": methods. A number may only fall.
LARGE_CLASSES: dict[str, int] = {}

CLASS = re.compile(r"\b(?:class|struct)\s+(?:alignas\([^)]*\)\s*)?([\w:]+)\s*(?:final\s*)?(?::(?!:).*)?$", re.DOTALL)
ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
SPECIFIER = re.compile(r"\b(?:template|explicit|constexpr|inline|static|virtual)\b|\[\[\w+\]\]")
# A name and its parameters, before which there is a type; not a pointer to a function.
METHOD = re.compile(r"^[^=()]*[\w>&*\]]\s+[&*]*(\w+)\s*\((?!\s*\*)")
NO_METHOD = re.compile(
    r"^\s*(?:using|friend|typedef|static_assert|enum|return)\b|\boperator\b|\boverride\b|=\s*delete\b"
)


def without_arguments(head: str) -> str:
    """Without what stands in angle brackets, which may hold parentheses."""
    while (shorter := re.sub(r"<[^<>]*>", "", head)) != head:
        head = shorter
    return SPECIFIER.sub("", head)


def is_method(head: str) -> bool:
    """Whether this text, up to a semicolon or a brace in the body of a class, declares a method."""
    plain = without_arguments(ACCESS.sub("", head)).strip()
    return not NO_METHOD.search(plain) and METHOD.match(plain) is not None


def methods_of(code: list[str]) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of methods of every class, in blanked code (source.File.code). Overrides,
    constructors, destructors and operators are not counted."""
    stack: list[tuple[str, int, int]] = []  # class or nothing, line, methods
    head = ""
    for number, line in enumerate(without_preprocessor(code), 1):
        for character in line + " ":
            if character in "{;" and stack and stack[-1][0] and is_method(head):
                name, first, count = stack[-1]
                stack[-1] = (name, first, count + 1)
            if character == "{":
                found = CLASS.search(ACCESS.sub("", without_arguments(head)).strip())
                stack.append((found[1] if found else "", number, 0))
            elif character == "}" and stack:
                name, first, count = stack.pop()
                if name:
                    yield name, first, count
            head = "" if character in "{};" else head + character


def check_methods(files: list[File]) -> Iterator[Finding]:
    for file in files:
        if not file.is_c or file.parts[0] != "src":
            continue
        for name, line, count in methods_of(file.code):
            known = LARGE_CLASSES.get(f"{file.path} {name}", MOST_METHODS)
            if count > known:
                yield Finding(
                    file.path,
                    line,
                    "class-methods",
                    f"class {name} declares {count} methods, more than {known}",
                    "what has many methods has many reasons to change, and is not read in one sitting",
                    "give state that belongs together a class of its own, with a name and an owner",
                )
            elif known > MOST_METHODS and count < known:
                yield Finding(
                    file.path,
                    line,
                    "class-methods",
                    f"class {name} declares {count} methods now, and LARGE_CLASSES says {known}",
                    "what has become smaller stays so",
                    f"write {count} in LARGE_CLASSES of tests/tidy/classes.py"
                    if count > MOST_METHODS
                    else "remove it from LARGE_CLASSES of tests/tidy/classes.py",
                )


RULES = [check_wrappers, check_methods]
