"""Independent iterations: refuses those that certainly are not, and proves that nested loops may be shared out, too."""

from __future__ import annotations

import re

from ..core.affine import integer
from ..core.counted import assigned_names
from ..core.shared import Rewriter
from ..core.source import Node, subscripts, text_of, walk
from .loops import Access, Analysis, LoopReader, member_of


def carried_dependence(
    rewriter: Rewriter, loop: Node, analysis: Analysis, locked: list[tuple[int, int]]
) -> tuple[Access, Access] | None:
    """Finds a write and another access to the same array whose elements certainly coincide in different iterations:
    both are executed in every iteration. `locked`: statements that one rank executes at a time."""
    always = [
        a for a in analysis.single
        if not conditional(a.node, loop) and not any(begin <= a.node.start_byte < end for begin, end in locked)
    ]  # fmt: skip
    for write in always:
        if not write.writes:
            continue
        base, _ = subscripts(write.node)
        follows = {analysis.made.get(k, k) for form in write.low for k in form.factors}
        if rewriter.resolve(base) is not None and 0 not in follows:
            return write, write
        for other in always:
            alike = other.base == write.base and len(other.low) == len(write.low)
            alike = alike and member_of(other.node) == member_of(write.node)
            if alike and certainly_carried(write, other, [loop.known_step() for loop in analysis.loops]):
                return write, other
    return None


def conditional(node: Node, loop: Node) -> bool:
    kinds = ("if_statement", "conditional_expression", "switch_statement", "while_statement", "do_statement")
    parent = node.parent
    while parent is not None and parent.id != loop.id:
        if parent.type in kinds or (parent.type == "binary_expression" and re.search(r"&&|\|\|", text_of(parent))):
            return True
        parent = parent.parent
    return False


def certainly_carried(write: Access, other: Access, steps: list[int]) -> bool:
    distance = 0
    for a, b in zip(write.low, other.low, strict=True):
        if a.text != b.text or a.factors != b.factors:
            return False
        apart = b.constant - a.constant
        if 0 not in a.factors:
            if apart != 0 and not any(whole_steps(apart, factor, steps[k]) for k, factor in a.factors.items()):
                return False
            continue
        factor = integer(a.factors[0])
        if apart == 0 and factor is not None and len(a.factors) == 1:
            continue
        if factor is None or steps[0] == 0 or len(a.factors) > 1 or apart % (factor * steps[0]):
            return False
        distance = apart // (factor * steps[0])
    return distance != 0


def whole_steps(apart: int, factor: str, step: int) -> bool:
    """Returns true if an inner loop passes both of two elements at this distance. Its length is assumed to suffice."""
    number = integer(factor)
    return number is not None and step != 0 and apart % (number * step) == 0


# Functions of the C library that write nothing, without their suffixes f and l.
PURE_NAMES = """sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 log log2 log10 pow sqrt cbrt hypot fabs floor
    ceil round trunc fmin fmax fmod fma erf erfc abs labs llabs"""
PURE = frozenset(f"{name}{suffix}" for name in re.findall(r"\w+", PURE_NAMES) for suffix in ("", "f", "l"))


def provably_shared(reader: LoopReader, analysis: Analysis, reduced: list[str], collapse: int) -> int:
    """Returns the number of perfectly nested loops that may be shared out together. `parallel for` declares
    iterations of the outermost independent; for inner loops it must be proved, unless `collapse` declares it."""
    depth = len(analysis.shared)
    if depth <= max(1, collapse):
        return depth
    changed = assigned_names(reader.body) - set(reader.locals) - set(reduced) - {c.name for c in analysis.shared}
    calls = {text_of(n.child_by_field_name("function")) for n in walk(reader.body) if n.type == "call_expression"}
    if analysis.irregular or changed or calls - PURE:
        return max(1, min(depth, collapse))
    writes = [a for a in analysis.single if a.writes]
    while depth > max(1, collapse) and not all(one_to_one(w, depth, analysis) for w in writes):
        depth -= 1
    return depth


def may_repeat(index: Node, body: Node, depth: int = 0) -> bool:
    """Returns true if different iterations may have the same value of a subscript: it is read from an array, comes
    from a call, or from an operation that makes different numbers equal; directly, or through a variable of the
    body."""
    for node in walk(index):
        operator = text_of(node.child_by_field_name("operator")) if node.type == "binary_expression" else ""
        if node.type in ("subscript_expression", "call_expression") or operator in ("%", "/", ">>", "&"):
            return True
    names = {text_of(n) for n in walk(index) if n.type == "identifier"}
    for node in walk(body) if depth < 2 else []:
        if node.type == "init_declarator" and text_of(node.child_by_field_name("declarator")) in names:
            value = node.child_by_field_name("value")
            if value is not None and may_repeat(value, body, depth + 1):
                return True
    return False


def worth_sharing(rewriter: Rewriter, analysis: Analysis, depth: int, collapse: int) -> int:
    """Returns the number of these loops to share out: an inner one whose variable indexes no divided dimension stays
    as the program wrote it, with its constant bounds, because every rank does all of it anyway."""
    while depth > max(1, collapse) and not any(may_be_cut(rewriter, access, depth - 1) for access in analysis.single):
        depth -= 1
    return depth


def may_be_cut(rewriter: Rewriter, access: Access, variable: int) -> bool:
    """Returns true if the variable of that loop indexes a divided dimension. A pointer may point to any shared array
    of the file that has as many dimensions."""
    used = [d for d, form in enumerate(access.low) if variable in form.factors]
    base, _ = subscripts(access.node)
    named = rewriter.resolve(base) if base.type == "identifier" else None
    arrays = [named] if named is not None else [s for s in rewriter.shared if s.dims and not s.codims]
    alike = [s.pieces for s in arrays if len(s.pieces) == len(access.low)]
    return bool(used) and (not alike or any(pieces[d] not in ("", "1") for pieces in alike for d in used))


def one_to_one(write: Access, depth: int, analysis: Analysis) -> bool:
    """Returns true if iterations of `depth` loops write different elements, and use those of this array that they
    write."""
    for k in range(depth):
        if not any(list(form.factors) == [k] and integer(form.factors[k]) for form in write.low):
            return False
    for other in analysis.single:
        if other.base != write.base:
            continue  # another array, or the same by another pointer: smint_begin checks
        if len(other.low) != len(write.low):
            return False
        for a, b in zip(write.low, other.low, strict=True):
            inner = any(1 <= k < depth for k in (*a.factors, *b.factors))
            if inner and (a.constant != b.constant or a.text != b.text or a.factors != b.factors):
                return False
    return True
