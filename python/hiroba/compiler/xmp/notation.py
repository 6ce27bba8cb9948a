"""The registration of XcalableMP's local view. A new directive is a function, and a line here."""

from __future__ import annotations

import re
from functools import partial

from ..core.found import Kind, Stands
from ..core.notation import Notation
from .collectives import barrier, bcast, gmove, reduction, wait_async
from .nodes import coarray, nodes, task, tasks
from .part import Xmp
from .synchronize import lock, post, sync_image, sync_images, sync_memory, wait

GLOBAL_VIEW = (
    *("template", "template_fix", "distribute", "align", "shadow", "reflect", "reflect_init", "reflect_do"),
    *("reduce_shadow", "loop", "array", "static_desc"),
)
# A directive that is a statement by itself.
Alone = partial(Kind, stands=Stands.ALONE, is_statement=True)


def refused(name: str) -> tuple[str, str]:
    return (
        f"#pragma xmp {name} belongs to XcalableMP's global view, and Hiroba has its local view",
        "use #pragma SMint shared ::[NPROCS](0,NPROCS) and parallel for, or coarrays",
    )


XMP = Notation(
    "XcalableMP",
    Xmp,
    header="xmp.h",
    symbol="xmp_coarray_allocate",
    starts=("xmp_init", "xmp_start"),
    family="xmp",
    any_case=True,
    directives=(
        Kind("nodes", Stands.DECLARING, nodes),
        Kind("coarray", Stands.DECLARING, coarray, words=("on",)),
        Kind("task", Stands.ABOVE, task, clauses=("on",), words=("nocomm",)),
        Kind("tasks", Stands.ABOVE, tasks),
        Kind("gmove", Stands.ABOVE, gmove, clauses=("async",), words=("in", "out")),
        Alone("barrier", lower=barrier, clauses=("on",)),
        Alone("reduction", lower=reduction, clauses=("on", "async"), words=("max", "min")),
        Alone("bcast", lower=bcast, clauses=("from", "on", "async")),
        Alone("wait_async", lower=wait_async, clauses=("on",)),
        Alone("post", lower=post),
        Alone("wait", lower=wait),
        Alone("lock", lower=lock, clauses=("acquired_lock", "stat")),
        Alone("unlock", lower=lock, clauses=("stat",)),
        Alone("sync_memory", lower=sync_memory),
        Alone("sync_all", lower=sync_memory),
        Alone("sync_image", lower=sync_image),
        Alone("sync_images", lower=sync_images),
        Alone("sync_images_all", lower=sync_memory),
    ),
    absent={name: refused(name) for name in GLOBAL_VIEW},
    looks=re.compile(r"[\w\])]\s*:\s*\[\s*\*\s*\]|\]\s*:\s*\[", re.MULTILINE),
    in_cxx=((re.compile(r"\]\s*:\s*\[|:\[\*\]"), "a[i]:[image] is"),),
)
