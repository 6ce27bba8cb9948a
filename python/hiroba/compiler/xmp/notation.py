"""The registration of XcalableMP. A new directive is a function, and a line here."""

from __future__ import annotations

import re
from functools import partial

from ..core.found import Kind, Stands
from ..core.notation import Notation
from ..core.operators import REDUCTIONS
from .aligned import align, shadow
from .collectives import barrier, bcast, gmove, reduction, wait_async
from .loops import loop
from .moves import reflect
from .nodes import coarray, nodes, static_desc, task, tasks
from .part import Xmp
from .shares import array
from .synchronize import lock, post, sync_image, sync_images, sync_memory, wait
from .templates import distribute, template, template_fix

# Parts of the global view that are not there yet.
ABSENT = ("reflect_init", "reflect_do")
LOOP_WORDS = ("expand", "margin", "peel_and_wait", *(sign for sign in REDUCTIONS if sign.isalpha()))
WITHOUT_ON = r"(?!.*\bon\b)"  # for all nodes
# A directive that is a statement by itself.
Alone = partial(Kind, stands=Stands.ALONE, is_statement=True)


def refused(name: str) -> tuple[str, str]:
    return (
        f"#pragma xmp {name} is not supported",
        "docs/global-view.md has what Hiroba has of XcalableMP's global view, and what to write instead",
    )


XMP = Notation(
    "XcalableMP",
    Xmp,
    header="xmp.h",
    symbol="xmp_coarray_allocate",
    starts=("xmp_init", "xmp_start", "xmp_init_on", "xmp_init_with"),  # the last two: xmp_init beside MPI
    macro="_XCALABLEMP=201811",  # of version 1.4
    family="xmp",
    any_case=True,
    directives=(
        Kind("nodes", Stands.DECLARING, nodes),
        Kind("coarray", Stands.DECLARING, coarray, words=("on",)),
        Kind("template", Stands.DECLARING, template),
        Kind("distribute", Stands.DECLARING, distribute, words=("onto", "block", "cyclic", "gblock")),
        Alone("template_fix", lower=template_fix, words=("block", "cyclic", "gblock")),
        Kind("align", Stands.DECLARING, align, words=("with",)),
        Kind("shadow", Stands.DECLARING, shadow),
        Kind("static_desc", Stands.DECLARING, static_desc),
        Kind(
            "loop",
            Stands.ABOVE,
            loop,
            clauses=("on", "reduction"),
            words=LOOP_WORDS,
            shares_loop=True,
            together_if=r".*\breduction\b",
        ),  # fmt: skip
        Kind("array", Stands.ABOVE, array, clauses=("on",)),
        Alone("reflect", lower=reflect, clauses=("async",), words=("width", "periodic"), together=True),
        Alone("reduce_shadow", lower=reflect, clauses=("async",), words=("width", "periodic"), together=True),
        Kind("task", Stands.ABOVE, task, clauses=("on",), words=("nocomm",)),
        Kind("tasks", Stands.ABOVE, tasks),
        Kind("gmove", Stands.ABOVE, gmove, clauses=("async",), words=("in", "out"), together_if=r"(?!in\b|out\b)"),
        Alone("barrier", lower=barrier, clauses=("on",), together_if=WITHOUT_ON),
        Alone("reduction", lower=reduction, clauses=("on", "async"), words=LOOP_WORDS, together_if=WITHOUT_ON),
        Alone("bcast", lower=bcast, clauses=("from", "on", "async"), together_if=WITHOUT_ON),
        Alone("wait_async", lower=wait_async, clauses=("on",)),
        Alone("post", lower=post),
        Alone("wait", lower=wait),
        Alone("lock", lower=lock, clauses=("acquired_lock", "stat")),
        Alone("unlock", lower=lock, clauses=("stat",)),
        Alone("sync_memory", lower=sync_memory),
        Alone("sync_all", lower=sync_memory, together=True),
        Alone("sync_image", lower=sync_image),
        Alone("sync_images", lower=sync_images),
        Alone("sync_images_all", lower=sync_memory, together=True),
    ),
    absent={name: refused(name) for name in ABSENT},
    looks=re.compile(r"[\w\])]\s*:\s*\[\s*\*\s*\]|\]\s*:\s*\[", re.MULTILINE),
    # libxmp, which plays music.
    namesake=re.compile(r"\bxmp_(?:context|\w+_context|\w*module\w*|frame_info|start_player|play_\w+|channel_\w+)\b"),
    in_cxx=((re.compile(r"\]\s*:\s*\[|:\[\*\]"), "a[i]:[image] is"),),
)
