"""Remedies in the words of what the program is written in: "" is for calls of C, which are the words of all others.

{array}, its {variable}, and the {place} of the program are named.
"""

from __future__ import annotations

REMEDIES: dict[str, dict[str, str]] = {
    "sharing": {
        "": "let each rank write pages of its own: divide {array} at multiples of {many}, or pad each rank's part to "
        "that size",
        "OpenMP": "let each thread write pages of its own: begin its part at a multiple of 4096 bytes, such as 512 "
        "numbers of 8 bytes, by the chunk of clause schedule or by padding",
    },
    "division": {
        "": "divide {array} in its first dimension only, so that a rank has whole rows, or make a rank's part of each "
        "row a multiple of 4096 bytes",
        "Python": "divide {array} in its first dimension only (split=0), or make a rank's part of each row a multiple "
        "of 4096 bytes",
    },
    "fill": {
        "": "let each rank fill its own part of {array}: divide the loop that fills it as the one that reads it; homes "
        "that migrate do not help, because the others still wait",
        "OpenMP": "fill {array} in a parallel loop of the same form as the one that reads it",
    },
    "preload": {
        "": "call sms_preload for the section of {array} that {place} uses, after the barrier and before the "
        "loop: it brings all pages that have their home on one rank by one message",
        "Python": "call {variable}.preload(..) with the slices that {place} reads, after the barrier and before the"
        " loop: it brings all pages that have their home on one rank by one message",
        "SMint": "put `#pragma SMint preload {variable}[first:length]` before the loop of {place}, or `parallel "
        "for` above it if its iterations may be divided: both bring all pages that have their home on one rank by one "
        "message",
        "OpenMP": "fill what {place} reads in a parallel loop of the same form, not in the serial part or by other "
        "threads: then each rank has the pages that it reads",
    },
    "order": {
        "": "visit {array} in the order of its addresses (sort the indices first), or, if most of it is used,"
        " sms_preload all of it before the loop",
        "Python": "visit {array} in the order of its addresses (sort the indices first), or, if most of it is used,"
        " call {variable}.preload() before",
        "SMint": "give the loop of {place} clause repeat, if it has the same subscripts each time, or, if most of "
        "it is used, put `#pragma SMint preload {variable}[0:length]` before it",
        "OpenMP": "let {place} visit its array in the order of its addresses: sort the indices first",
    },
    "placement": {
        "": "distribute {array} as it is written: give the allocation a division, or call sms_redistribute, "
        "or let homes migrate (--homes migrating)",
        "Python": "distribute {array} as it is written: by argument split, by {variable}.redistribute(split=..), or"
        ' let homes migrate (homes="migrating")',
        "SMint": "distribute {array} as it is written, by other pieces in `#pragma SMint shared`, or let homes "
        "migrate (--homes migrating)",
        "OpenMP": "fill an array by the threads that write it later, or let homes migrate (--homes migrating)",
    },
    "epochs": {
        "": "do more between barriers: join loops whose parts need nothing of each other",
        "SMint": "do more between barriers: join loops, or give those whose results no other rank reads clause nowait",
        "OpenMP": "do more between barriers: join loops whose parts need nothing of each other in one region, with "
        "clause nowait",
    },
    "combine": {
        "": "rank and combine once by a reduction (sms_reduce_double)",
        "Python": "rank and combine once by hiroba.allreduce",
        "SMint": "rank and combine once: clause reduction of `parallel for`",
        "OpenMP": "thread and combine once (clause reduction)",
        "XcalableMP": "image and combine once by `#pragma xmp reduction`",
    },
    "balance": {
        "": "divide the work by its cost, not by its number: unequal blocks, smaller blocks dealt out in "
        "turn, or tasks",
        "Python": "divide the work by its cost, not by its number: unequal slices, every hiroba.size-th index from "
        "hiroba.rank on, or tasks (hiroba.task)",
        "SMint": "divide the work by its cost, not by its number: clause schedule(dynamic, n) or schedule(guided, "
        "n) of `parallel for`",
        "OpenMP": "divide the work by its cost, not by its number: clause schedule(dynamic, n), or tasks",
        "XcalableMP": "divide the work by its cost, not by its number: distribute by cyclic(n) or gblock(sizes)",
    },
    "serial": {
        "": "give the loops that main executes before {place} to all threads: put them in parallel regions",
    },
    "collect": {
        "": "collect the values in an array, and combine {many} or more of them by one call (collective.h); "
        "or start it and wait for it later",
        "Python": "collect the values in an array, and combine {many} or more of them by one hiroba.allreduce; or "
        "start it (hiroba.iallreduce) and wait for it later",
        "SMint": "give the clause reduction to the outer loop, or collect the values in an array, which it takes, too",
        "XcalableMP": "collect the values in an array, which `#pragma xmp reduction` takes, too; or start it (async) "
        "and wait for it later",
    },
    "tasks": {
        "": "let a task do more: a block of iterations, or a tile, of at least 100 us",
        "SMint": "let a task do more, at least 100 us: a larger tile(..)",
        "OpenMP": "let a task do more, at least 100 us: taskloop with clause grainsize for a loop, clause `if` or "
        "final where a recursion has become small",
    },
}
