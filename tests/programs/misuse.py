#!/usr/bin/env python3
"""Runs every case of misuse.c and xmp_misuse.c and checks what comes of it: the job ends within the limit, with a
non-zero status and one message that has the right words in it, and leaves nothing behind. Cases that must work are
here, too.

    misuse.py --build BUILD [--tracking WAY] [--jobs N] [CASE ...]
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import signal
import sys
from typing import Any, NamedTuple

import jobs

SECONDS = 5


@dataclasses.dataclass
class Case:
    name: str
    words: list[str]  # regular expressions, all of which the message must match, whatever their case
    options: list[str] = dataclasses.field(default_factory=list)  # of hirobarun
    settings: dict[str, str] = dataclasses.field(default_factory=dict)  # environment variables
    status: int | None = None  # the exact exit status, if it is defined
    ranks: int = 2
    nodes: int = 2
    alone: bool = False  # without hirobarun
    program: str = ""  # case of the binary, if not the name
    binary: str = "misuse"
    good: bool = False  # must work
    extra_seconds: float = 0
    sees_memory: bool = False  # worth repeating for each way of tracking


PLACE = r"misuse\.c:\d+"
RANK1 = r"rank 1\b"
PAST = r"past the end"
CHECK = ["--check", "yes"]
BACKTRACE = r"    \w+ \(misuse\.c:\d+\)"
TWICE = re.compile(r"\b(sms_\w+)(\([^)]*\))?: \1\b")
SIGNALLED = 128


def refused(name: str, *words: str, **more: Any) -> Case:
    return Case(name, list(words), **more)


def works(name: str, **more: Any) -> Case:
    return Case(name, [], good=True, **more)


def alone(program: str) -> dict[str, Any]:
    return {"alone": True, "program": program}


ENDING = [
    refused("leave", RANK1, r"sms_shutdown|early|exited"),
    refused("vanish", RANK1, r"sms_shutdown|early|exited"),
    refused("exit_3", RANK1, r"\b3\b", status=3),
    refused("killed", RANK1, r"signal 9|killed", status=SIGNALLED + signal.SIGKILL),
    refused("segfault", RANK1, r"segmentation fault", BACKTRACE, sees_memory=True),
    refused("segfault_all", r"segmentation fault", BACKTRACE, ranks=4, sees_memory=True),
    refused("segfault_wild", RANK1, r"segmentation fault", r"123456789000", BACKTRACE, sees_memory=True),
    refused("segfault_thread", RANK1, r"segmentation fault", BACKTRACE, sees_memory=True),
    refused("segfault alone", r"segmentation fault", BACKTRACE, **alone("segfault")),
    refused("frees", r"free\(0x2000\w+\) of shared memory \(.*programs\.h:\d+\); sms_free"),
    refused("frees one node", r"free\(0x2000\w+\) of shared memory", r"sms_free", nodes=1, program="frees"),
    refused("reallocs", r"realloc\(0x2000\w+\) of shared memory \(.*programs\.h:\d+\)", r"allocate another"),
    refused("barrier_in_threads", r"sms_barrier in two threads of this rank at once", r"omp master"),
    refused("small space", r"option space=1M is less than 4 MiB", options=["--space", "1M"], program="nothing"),
    refused("aborts", RANK1, r"signal 6|abort", status=SIGNALLED + signal.SIGABRT),
    refused("gives_up", RANK1, r"the flux capacitor is empty", status=7),
]

ACCESS = [
    refused("past_read", RANK1, PAST, PLACE, r"\b1000\b", options=CHECK, sees_memory=True),
    refused("past_write", RANK1, PAST, PLACE, r"\b1000\b", options=CHECK, sees_memory=True),
    refused("past_write_named", r"rank 0", PAST, r"temperature", r"\b1000\b", options=CHECK, sees_memory=True),
    refused("past_write one node", RANK1, PAST, PLACE, r"\b1000\b", options=CHECK, nodes=1, program="past_write"),
    refused(
        "past_write alone", PAST, PLACE, r"\b1000\b", settings={"HIROBA_CHECK": "yes"}, alone=True, program="past_write"
    ),
    refused("past_all", PAST, PLACE, r"\b1000\b", options=CHECK, ranks=4),
    refused("page_past_read", RANK1, PAST, PLACE, r"\b1600\b", sees_memory=True),
    refused("page_past_write", r"rank 0", PAST, r"temperature", r"\b1600\b", sees_memory=True),
    refused("page_before_read", RANK1, r"before|past the end|no shared array", sees_memory=True),
    refused("freed_read", RANK1, r"sms_free|freed", r"temperature", sees_memory=True),
    refused("freed_write", r"rank 0", r"sms_free|freed", PLACE, sees_memory=True),
    refused("no_array_read", RANK1, r"no (shared )?array|outside|not in|out of range", sees_memory=True),
]

COLLECTIVE = [
    refused("unequal_size", r"rank 0\b", RANK1, r"sms_alloc", r"\b100\b", r"\b200\b"),
    refused("unequal_element", r"rank 0\b", RANK1, r"sms_alloc"),
    refused("unequal_home", r"rank 0\b", RANK1, r"sms_alloc"),
    refused("unequal_div", r"rank 0\b", RANK1, r"sms_mapalloc"),
    refused("unequal_order", r"rank 0\b", RANK1, r"sms_alloc", r"\b100\b", r"\b5000\b"),
    refused("alloc_or_barrier", r"rank 0\b", RANK1, r"sms_alloc", r"sms_barrier"),
    refused("barrier_or_drop", r"rank 0\b", RANK1, r"sms_sync_drop", r"sms_barrier"),
    refused("barrier_between", r"rank [01]\b", r"sms_barrier after sms_sync_drop_start and before its end"),
    refused("promise_broken", r"rank 0\b", r"element 7\b", PLACE, r"sms_promise_preload", options=CHECK),
    refused("wait_without_start", r"rank [01]\b", r"sms_sync_drop_wait without a start", r"sms_sync_drop_start"),
    refused("barrier_or_reduce", r"rank 0\b", RANK1, r"sms_reduce", r"sms_barrier"),
    refused("alloc_or_shutdown", r"rank 0\b", RANK1, r"sms_alloc", r"sms_barrier"),
    refused("unequal_free", r"rank 0\b", RANK1, r"sms_free"),
    refused(
        "unequal_size of four", r"sms_alloc", RANK1, r"\b100\b", r"\b200\b", ranks=4, nodes=3, program="unequal_size"
    ),
    refused("late_for_barrier", r"sms_barrier", r"rank 1\b", r"timeout", options=["--timeout", "2"], extra_seconds=2),
    refused("late_for_wait", r"sms_sync_drop_start", RANK1, r"timeout", options=["--timeout", "2"], extra_seconds=2),
    refused("late_for_lock", r"sms_lock", r"\b5\b", r"timeout", options=["--timeout", "2"], extra_seconds=2),
]

SIZES = [
    refused("too_much", r"sparse", PLACE),
    works("too_much but sparse", options=["--sparse", "yes"], program="too_much"),
    refused("beyond_space", r"space", options=["--sparse", "yes"]),
    refused("beyond_space_in_many_parts", r"no room for 1 PiB", r"option space"),
    refused("overflow_alloc", r"sms_alloc", r"overflow|too large|exceed|more than|limit"),
    refused("negative_alloc", r"sms_alloc", r"overflow|too large|exceed|more than|limit|negative"),
    refused("negative_dim", r"dim", r"-5"),
    refused("overflow_dim", r"sms_mapalloc", r"overflow|too large|exceed|more than|limit"),
    refused("zero_div", r"div", r"\b0\b"),
    refused("negative_div", r"div", r"-3"),
    refused("wide_div", r"div", r"\b1\b", r"\b2\b"),
    refused("too_many_pieces", r"div", r"\b4\b", r"\b2\b"),
    refused("short_div", r"div", r"dim"),
    refused("long_div", r"div", r"dim"),
    refused("too_many_ranks", r"first|count|ranks", r"\b[23]\b"),
    refused("negative_first", r"first|rank", r"-1"),
    refused("no_ranks", r"count|ranks", r"\b0\b"),
    refused("rank_too_large", r"sms_alloc", r"rank 2\b|rank.*\b2\b"),
    refused("rank_negative", r"sms_alloc", r"-1"),
]

LOCKS = [
    refused("unlock_unlocked", RANK1, r"sms_unlock", r"\b3\b"),
    refused("unlock_of_other_rank", RANK1, r"sms_unlock", r"\b3\b"),
    refused("lock_twice", RANK1, r"sms_lock", r"\b3\b"),
    refused("lock_negative", RANK1, r"lock -1"),
    refused("lock_too_large", RANK1, r"lock 65536", r"65535"),
    refused(
        "killed_with_locks",
        RANK1,
        r"signal 9",
        r"held locks 4, 77\b",
        status=SIGNALLED + signal.SIGKILL,
        extra_seconds=2,
    ),
    refused("unlock_unshared", RANK1, r"sms_unlock_shared\(3\)", r"does not share"),
    refused("lock_shared_twice", RANK1, r"sms_lock_shared\(3\)", r"not recursive"),
    refused("lock_what_it_shares", RANK1, r"sms_lock\(3\)", r"shares lock 3"),
    refused("held_at_end", RANK1, r"sms_shutdown while this rank still holds locks 3, 70; give them back before"),
    refused("shared_at_end", RANK1, r"sms_shutdown while this rank still holds lock 3; give it back before"),
    refused("wait_without_lock", RANK1, r"sms_wait\(8, 3\)", r"does not hold lock 3"),
    refused("wait_with_shared_lock", RANK1, r"sms_wait\(8, 3\)", r"does not hold lock 3"),
    refused("wait_with_other_lock", RANK1, r"sms_wait\(8, 4\)", r"others wait for condition 8 with lock 3"),
    refused("wait_for_too_large", RANK1, r"condition 65536", r"65535"),
    refused("signal_negative", RANK1, r"sms_signal", r"condition -1"),
    refused(
        "nobody_signals",
        r"sms_wait\(8, 3\)",
        r"nobody has signalled",
        r"timeout",
        options=["--timeout", "2"],
        extra_seconds=2,
    ),
    refused("once_in_itself", RANK1, r"sms_once\(6\)", r"itself"),
    refused("once_too_large", RANK1, r"sms_once", r"4096", r"4095"),
    refused("once_nothing", RANK1, r"sms_once\(6, NULL\)"),
]

LIFE = [
    refused("before_barrier", r"sms_barrier", r"sms_startup"),
    refused("before_alloc", r"sms_alloc", r"sms_startup"),
    refused("before_lock", r"sms_lock", r"sms_startup"),
    refused("before_barrier alone", r"sms_barrier", r"sms_startup", **alone("before_barrier")),
    refused("after_barrier", r"sms_barrier", r"sms_shutdown"),
    refused("after_alloc", r"sms_alloc", r"sms_shutdown"),
    refused("after_stats", r"sms_stats", r"sms_shutdown"),
    refused("after_load", PLACE, r"1000 elements of 8 bytes\), index 999, after sms_shutdown", BACKTRACE),
    refused("after_store", PLACE, r"index 7, after sms_shutdown", BACKTRACE, sees_memory=True),
    refused("after_store one node", r"index 7, after sms_shutdown", nodes=1, program="after_store"),
    refused("after_store alone", r"after sms_shutdown", ranks=1, **alone("after_load")),
    refused("after_object", r"memory in the heap of rank [01] after sms_shutdown"),
]

OPTIONS = [
    refused("wrong variable", r"HIROBA_CAHE", r"\bcache\b", settings={"HIROBA_CAHE": "64M"}, program="nothing"),
    refused(
        "wrong variable alone",
        r"HIROBA_CAHE",
        r"\bcache\b",
        settings={"HIROBA_CAHE": "64M"},
        alone=True,
        program="nothing",
    ),
    refused("wrong option", r"cahe", r"\bcache\b", options=["--cahe", "64M"], program="nothing"),
    refused("wrong value", r"cache", r"plenty", options=["--cache", "plenty"], program="nothing"),
    refused(
        "wrong value alone", r"cache", r"plenty", settings={"HIROBA_CACHE": "plenty"}, alone=True, program="nothing"
    ),
    refused("wrong transport", r"transport", r"pigeon", options=["--transport", "pigeon"], program="nothing"),
    works("nothing"),
    works("nothing alone", **alone("nothing")),
]

ADDRESSES = [
    refused("preload_past", RANK1, r"section", r"temperature", r"\b(999|1000)\b"),
    refused("preload_stride_past", RANK1, r"section", r"temperature", r"\b(999|1000)\b"),
    refused("preload_negative", RANK1, r"section", r"temperature", r"-1"),
    refused("preload_no_step", RANK1, r"section", r"step"),
    refused("preload_bytes_past", RANK1, r"preload", r"past the end", r"temperature"),
    refused("preload_private", RANK1, r"no (shared )?array|not in|not shared"),
    refused("atomic_unaligned", RANK1, r"sms_fetch_add", r"align|multiple of 8"),
    refused("atomic_private", RANK1, r"sms_fetch_add", r"no (shared )?array|not in|not shared"),
    refused("free_inside", r"sms_free", r"temperature|inside"),
    refused("free_twice", r"sms_free", r"temperature|already|twice"),
    refused("free_private", r"sms_free", r"no (shared )?array|not in|not shared|did not return"),
    refused("free_swapped", RANK1, r"sms_free", r"no shared array", r"another value"),
    refused("home_private", RANK1, r"sms_home", r"no (shared )?array|not in|not shared"),
    refused("box_rank", RANK1, r"sms_local_box", r"\b2\b"),
]

XMP_PLACE = r"xmp_misuse\.c:\d+"
LATE = ["--timeout", "2"]


def coarray(name: str, *words: str, **more: Any) -> Case:
    return Case(name, list(words), binary="xmp_misuse", **more)


def coarray_late(name: str, *words: str, **more: Any) -> Case:
    return coarray(name, "timeout", *words, options=LATE, extra_seconds=3, **more)


DIFFER = ("collective calls differ", r"rank 0 is in xmp_sync_all at .*misuse\.c:\d+")

COARRAYS = [
    coarray("image_too_large", RANK1, XMP_PLACE, r"image 7 of table\[10\]\[20\]", r"images 0\.\.1"),
    coarray("image_negative", RANK1, XMP_PLACE, r"image -3 of table", r"images 0\.\.1"),
    coarray("image_left_of_first", RANK1, XMP_PLACE, r"image -1 of table", r"images 0\.\.1"),
    coarray("image_of_64_bits", RANK1, XMP_PLACE, r"image 2147483647 of table", r"images 0\.\.1"),
    coarray("image_of_task", RANK1, XMP_PLACE, r"image 1 of table", r"images 0\.\.0"),
    coarray("coindex", RANK1, XMP_PLACE, r"coindex 2 of coarray grid", r"0\.\.1"),
    coarray("coindex_negative", RANK1, XMP_PLACE, r"coindex -1 of coarray grid", r"codimension 2"),
    coarray("section_overflows", RANK1, XMP_PLACE, r"\[4294967296\]\[4294967296\]", r"any memory"),
    coarray("range_overflows", RANK1, XMP_PLACE, r"0:4611686018427387905:4 of dimension 2", r"0\.\.19"),
    coarray("address_of_other", RANK1, XMP_PLACE, r"table\[10\]\[20\]", r"another array"),
    coarray("section_past", RANK1, XMP_PLACE, r"out of bounds", r"table\[10\]\[20\]", r"element 200\b", r"0 to 199"),
    coarray("section_at_null", RANK1, XMP_PLACE, r"section \[5\] of memory at address NULL"),
    coarray("section_before", RANK1, XMP_PLACE, r"out of bounds", r"element -1\b"),
    coarray("element_past", RANK1, XMP_PLACE, r"out of bounds", r"element 200\b"),
    coarray("element_too_wide", RANK1, XMP_PLACE, r"out of bounds", r"small\[1\]"),
    coarray("range_past", RANK1, XMP_PLACE, r"table\[0:10\]\[12:9\]", r"12:9:1 of dimension 2", r"0\.\.19"),
    coarray("range_backwards", RANK1, XMP_PLACE, r"3:5:-1 of dimension 2", r"0\.\.19"),
    coarray("range_no_step", RANK1, XMP_PLACE, r"dimension 2 has a step of 0"),
    coarray("own_part_past", RANK1, r"element 200 of image 1's part of coarray .*, which has 200", options=CHECK),
    coarray(
        "own_part_past 1", r"element 200 of image 0's part", options=CHECK, ranks=1, nodes=1, program="own_part_past"
    ),
    coarray(
        "own_part_past 3", r"element 200 of image 1's part", options=CHECK, ranks=3, nodes=3, program="own_part_past"
    ),
    coarray("own_part_twice", RANK1, r"element 39999 of image 1's part", options=CHECK, nodes=1),
    coarray("own_part_twice 2", RANK1, r"element 39999 of image 1's part", options=CHECK, program="own_part_twice"),
    coarray("own_part_far_past", RANK1, r"element 700 of image 1's part", options=CHECK, nodes=1),
    coarray("index_past", RANK1, XMP_PLACE, r"index 10 of dimension 1", r"0\.\.9"),
    coarray("shapes", RANK1, XMP_PLACE, r"shapes", r"\[6\] of coarray table.* = \[7\] of this image"),
    coarray("shapes_of_update", RANK1, XMP_PLACE, r"shapes", r"\[4\] of coarray table.* = \[2\]\[3\] of this image"),
    coarray("shapes_of_images", RANK1, XMP_PLACE, r"each image of table", r"\b2\b"),
    coarray("unequal_extent", r"rank 0\b", RANK1, r"uneven\[100\]", r"uneven\[200\]", XMP_PLACE),
    coarray("unequal_element", r"rank 0\b", RANK1, r"4 bytes", r"8 bytes", XMP_PLACE),
    coarray("no_elements", XMP_PLACE, r"dimension 2 of coarray empty", r"positive"),
    coarray("use_after_free", RANK1, XMP_PLACE, r"coarray y", r"freed"),
    coarray("use_of_freed", RANK1, XMP_PLACE, r"coarray y", r"freed"),
    coarray("free_twice", RANK1, XMP_PLACE, r"xmp_free", r"freed already"),
    coarray("too_large", XMP_PLACE, r"huge\[1099511627776\]\[1099511627776\]", r"too large"),
    coarray("no_memory", XMP_PLACE, r"huge\[137438953472\]", r"sparse"),
    coarray("allocate_twice", XMP_PLACE, r"coarray y is allocated already"),
    coarray_late("wait_never", RANK1, XMP_PLACE, r"xmp_wait", r"from rank 0 with tag 42", r"no post"),
    coarray("wait_left_of_first", RANK1, XMP_PLACE, r"image -1 of xmp_wait", r"images 0\.\.1"),
    coarray_late("wait_wrong_tag", RANK1, r"anybody with tag 42", r"from rank 0 with tag 7"),
    coarray_late("sync_image_alone", XMP_PLACE, r"xmp_sync_image", r"rank 0\b"),
    coarray_late("barrier_of_some", RANK1, XMP_PLACE, r"xmp_barrier_on", r"rank 0 has not arrived", ranks=3, nodes=2),
    coarray("async_unknown", RANK1, XMP_PLACE, r"nothing with async\(9\), but with -6, 4"),
    coarray("async_test_unknown", RANK1, r"xmp_test_async", r"nothing with async\(9\), nor with any other"),
    coarray("async_never", XMP_PLACE, *DIFFER, r"rank 1 is in xmp_reduction_start\(\+ of 1 double\)"),
    coarray("async_gmove_never", XMP_PLACE, *DIFFER, r"rank 1 is in xmp_gmove_start"),
    coarray("request_twice", RANK1, r"xmp_request_wait: this request was waited for already"),
    coarray("async_left", r"nobody has waited for the reduction at .*misuse\.c:\d+", r"wait_async \(4\)"),
    coarray("unlock_by_stranger", RANK1, XMP_PLACE, r"unlock of lock\[1\] of rank 0", r"rank 0 holds it"),
    coarray("unlock_unlocked", RANK1, XMP_PLACE, r"unlock", r"nobody holds it"),
    coarray("lock_twice", RANK1, XMP_PLACE, r"again"),
    coarray_late("lock_held", RANK1, XMP_PLACE, r"xmp_lock", r"rank 0 holds it"),
    coarray("lock_of_private", RANK1, XMP_PLACE, r"not in a coarray"),
    coarray("atomic_of_two_bytes", RANK1, XMP_PLACE, r"2 bytes", r"4 or 8"),
    coarray("atomic_unaligned", RANK1, XMP_PLACE, r"aligned"),
    coarray("divide_by_zero", RANK1, XMP_PLACE, r"division by zero of elements of table"),
    coarray("remainder_of_doubles", RANK1, XMP_PLACE, r"operator % .* double"),
    coarray("nodes_too_many", XMP_PLACE, r"node array p", r"\b5 nodes", r"there are 2"),
    coarray("node_not_there", XMP_PLACE, r"node array p", r"0\.\.1", r"from 2"),
    coarray("end_of_no_task", r"xmp_task_end without"),
    coarray("broadcast_from_outside", RANK1, XMP_PLACE, r"does not take part"),
    coarray("sync_or_reduce", r"rank 0\b", RANK1, r"xmp_reduction", r"xmp_sync_all"),
    coarray("bcast_sizes", XMP_PLACE, r"rank 0 is in xmp_bcast.80 bytes", r"rank 1 is in xmp_bcast.40 bytes"),
    coarray(
        "bcast_sizes_large", XMP_PLACE, r"rank 0 is in xmp_bcast.80000 bytes", r"rank 1 is in xmp_bcast.79996 bytes"
    ),
    coarray("bcast_roots", XMP_PLACE, r"calls differ", r"from image [01]"),
    coarray("reduction_counts", XMP_PLACE, r"rank 0 is in .* of 10 double", r"rank 1 is in .* of 4 double"),
    coarray("reduction_operators", XMP_PLACE, r"rank 0 is in xmp_reduction.\* of", r"rank 1 is in xmp_reduction.\+ of"),
    coarray("reduction_of_some", XMP_PLACE, r"barrier", r"xmp_reduction.\+ of 1 double", ranks=3, nodes=2),
    coarray("end_inside_task", r"rank 0\b", r"xmp_finalize inside of a task"),
    coarray("before_sync", rf"xmp_sync_all at .*{XMP_PLACE} before xmp_init"),
    coarray("before_post", rf"xmp_post at .*{XMP_PLACE} before xmp_init"),
    coarray("before_allocation", rf"xmp_coarray_allocate at .*{XMP_PLACE} before xmp_init"),
    coarray("before_read", XMP_PLACE, r"before xmp_init"),
    coarray("before_sync alone", XMP_PLACE, r"before xmp_init", alone=True, program="before_sync"),
    coarray("after_sync", rf"xmp_sync_memory at .*{XMP_PLACE} after xmp_finalize"),
]

CASES = COARRAYS + ENDING + ACCESS + COLLECTIVE + SIZES + LOCKS + LIFE + OPTIONS + ADDRESSES


def faults_of(case: Case, job: jobs.Job, took: float) -> list[str]:
    """What is wrong with how the job ended, as lines; none if all is right."""
    faults = []
    limit = SECONDS + case.extra_seconds
    if job.hung or took > limit:
        faults.append(f"not over within {limit:g} s")
    if job.left:
        faults.append(f"left running: {job.left}")
    if case.good:
        if job.status != 0 or job.messages() != 0:
            faults.append(f"must work, but ended with status {job.status} and {job.messages()} messages")
        return faults
    if job.status == 0 or (case.status is not None and job.status != case.status):
        faults.append(f"exit status {job.status}, expected {case.status or 'another than 0'}")
    if job.messages() != 1:
        faults.append(f"{job.messages()} messages, expected one")
    if named := TWICE.search(job.err):
        faults.append(f"the call twice: {named[0]}")
    faults += [f"no /{word}/ in the message" for word in case.words if not re.search(word, job.err, re.IGNORECASE)]
    return faults


class Outcome(NamedTuple):
    case: Case
    faults: list[str]
    text: str  # how it was run, and what it printed


def run_case(case: Case, build: pathlib.Path, tracking: str) -> Outcome:
    program = [build / "tests/programs" / case.binary, case.program or case.name]
    settings = dict(case.settings)
    if tracking:
        settings["HIROBA_TRACKING"] = tracking
    launcher = [build / "bin/hirobarun", "-n", case.ranks, "--nodes", case.nodes, *case.options]
    job = jobs.Job(program if case.alone else launcher + program, settings)
    took = job.finish(SECONDS + case.extra_seconds + 1)
    shown = " ".join([f"{name}={value}" for name, value in settings.items()] + job.command)
    output = "".join(f"  | {line}\n" for line in (job.out + job.err).splitlines()[:12])
    return Outcome(case, faults_of(case, job, took), f"  {took:.2f} s: {shown}\n{output}")


def in_one_shape(cases: list[Case]) -> list[Case]:
    """Keeps one of the cases that differ in ranks, nodes and threads alone: in turn the first, the second ..."""
    alike: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        alike.setdefault((case.binary, case.name, *case.options), []).append(case)
    return [shapes[number % len(shapes)] for number, shapes in enumerate(alike.values())]


def chosen_cases(cases: list[Case], names: list[str], tracking: str) -> list[Case]:
    chosen = [case for case in cases if (not names or case.name in names) and (not tracking or case.sees_memory)]
    return in_one_shape(chosen) if "TESTS_ONCE" in os.environ else chosen


def main(cases: list[Case]) -> int:
    parser = argparse.ArgumentParser(description="Runs every case, and checks what comes of it.")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder")
    parser.add_argument("--tracking", default="", help="only the cases that depend on it, with this way of tracking")
    parser.add_argument(
        "--jobs", type=int, default=6, help="cases run at once (default: 6; they wait more than they compute)"
    )
    parser.add_argument("--show", action="store_true", help="print every message")
    parser.add_argument("cases", nargs="*", help="default: all")
    options = parser.parse_args()
    unknown = set(options.cases) - {case.name for case in cases}
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    chosen = chosen_cases(cases, options.cases, options.tracking)
    before = jobs.named_leftovers()
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda case: run_case(case, options.build, options.tracking), chosen):
            wrong += bool(outcome.faults)
            if outcome.faults:
                print(f"WRONG {outcome.case.name}: {'; '.join(outcome.faults)}\n{outcome.text}", end="", flush=True)
            elif options.show:
                print(f"right {outcome.case.name}\n{outcome.text}", end="", flush=True)
    for name in set(jobs.named_leftovers()) - set(before):
        print(f"WRONG: /dev/shm/{name} is left")
        wrong += 1
    print(f"{len(chosen)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(CASES))
