"""Rules about classes: what wraps a contract forwards all of it, or what it wraps is not what runs."""

import re
from collections.abc import Iterator

from source import File, Finding

# Contract, where it is; and what wraps it, where that is.
WRAPPERS = [
    ("Transport", "src/transport/transport.hpp", "Wrapper", "src/transport/transport.hpp"),
    ("Wire", "src/transport/net/wire.hpp", "ChaosWire", "src/transport/net/chaos_wire.cpp"),
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


RULES = [check_wrappers]
