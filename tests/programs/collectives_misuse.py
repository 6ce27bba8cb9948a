#!/usr/bin/env python3
"""Runs every case of collectives_misuse.c and mixed_calls.c as misuse.py does: at 2 and 3 ranks, on one node and on 2
virtual nodes.

collectives_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import sys
from typing import Any

from misuse import Case, main

PLACE = r"collectives_misuse\.c:\d+"
PLACES = ((2, 1), (2, 2), (3, 1), (3, 2))
LATE = ["--timeout", "2"]
DIFFER = "collective calls differ"


def everywhere(name: str, *words: str, binary: str = "collectives_misuse", **more: Any) -> list[Case]:
    return [Case(name, list(words), binary=binary, ranks=ranks, nodes=nodes, **more) for ranks, nodes in PLACES]


def mixed(name: str, *calls: str, **more: Any) -> list[Case]:
    """Both calls are named with their places."""
    words = [DIFFER, *(rf"rank \d is in {call}\b[^;:]* at [^,;]*mixed_calls\.c:\d+" for call in calls)]
    return everywhere(name, *([] if "good" in more else words), binary="mixed_calls", **more)


def differ(name: str, first: str, second: str, **more: Any) -> list[Case]:
    """Both calls are named, and where the rank that tells it is."""
    return everywhere(name, PLACE, DIFFER, first, second, **more)


def late(name: str, *words: str) -> list[Case]:
    return everywhere(name, r"timeout", PLACE, *words, options=LATE, extra_seconds=4)


def works(name: str) -> list[Case]:
    return everywhere(name, good=True)


CALLS = [
    *differ("counts", r"rank \d is in hiroba_allreduce\(sum of 4 double\)", r"hiroba_allreduce\(sum of 3 double\)"),
    *differ("counts_large", r"hiroba_allreduce\(sum of 99999 double\)", r"hiroba_allreduce\(sum of 100000 double\)"),
    *differ("counts_small_and_large", r"sum of 1 double", r"sum of 100000 double"),
    *differ("counts_started", r"hiroba_iallreduce\(sum of 4 double\)", r"hiroba_iallreduce\(sum of 3 double\)"),
    *differ("counts_of_bcast", r"hiroba_bcast\(4 double from rank 0\)", r"hiroba_bcast\(3 double from rank 0\)"),
    *differ("counts_of_gather", r"hiroba_gather\(4 double to rank 0\)", r"hiroba_gather\(3 double to rank 0\)"),
    *differ("types", r"sum of 4 double", r"sum of 4 int64"),
    *differ("operators", r"maximum of 4 double", r"minimum of 4 double"),
    *differ("roots", r"hiroba_reduce\(sum of 4 double to rank 0\)", r"hiroba_reduce\(sum of 4 double to rank 1\)"),
    *everywhere("roots_of_bcast", DIFFER, r"rank \d (is|was) in hiroba_bcast\(4 double from rank [01]\)"),
    *differ("roots_large", r"of 100000 double to rank 0\) at .*" + PLACE, r"double to rank 1\) at .*" + PLACE),
    *differ("roots_of_bcast_large", r"hiroba_bcast\(100000 double from rank 0\)", r"100000 double from rank 1\)"),
    *everywhere("roots_and_more", DIFFER, r"hiroba_bcast\(4 double from rank 0\)", r"bcast\(4 double from rank 1\)"),
    *differ("roots_tested", r"hiroba_igather\(4 double to rank 0\)", r"hiroba_igather\(4 double to rank 1\)"),
    *differ("root_after_long_name", r"4 double to rank 0\)", r"4 double to rank 1\)"),
    *differ("other_call", r"hiroba_allgather\(4 double\)", r"hiroba_allreduce\(sum of 4 double\)"),
    *differ("started_or_not", r"hiroba_allreduce\(sum of 4 double\)", r"hiroba_iallreduce\(sum of 4 double\)"),
    *differ("blocks_between_two", r"rank 1 is in hiroba_alltoallv.* and gives 24 bytes where 16 are taken", "rank 0"),
    *differ("blocks_of_gather", r"rank 1 is in hiroba_gatherv.* and gives 24 bytes where 16 are taken", "rank 0"),
    *late("one_less", r"hiroba_allreduce\(sum of 4 double\)", r"rank 1 has not arrived; it computes after"),
    *late("one_less_large", r"hiroba_alltoall\(12500 double\)", r"rank 1 has not arrived; it computes after"),
    *late("one_less_started", r"hiroba_iallreduce\(sum of 4 double\)", r"rank 1 has not arrived; it computes after"),
    *late("one_less_barrier", r"hiroba_barrier at .*" + PLACE, r"for rank 1 \(computing after"),
    *late("one_less_of_team", r"hiroba_bcast\(100000 double from rank 1\)", r"rank 1 has not arrived; it"),
]

MIXED = [
    *mixed("barrier_or_not", "hiroba_barrier", "hiroba_allreduce"),
    *mixed("barrier_or_team", "sms_barrier", "hiroba_team_split"),
    *mixed("barrier_or_started", "sms_barrier", "hiroba_iallreduce"),
    *mixed("barrier_or_large", "sms_barrier", "hiroba_alltoall"),
    *mixed("barrier_or_root", "sms_barrier", "hiroba_bcast"),
    *mixed("allocation_or_not", "sms_alloc", "hiroba_allreduce"),
    *mixed("drop_or_not", "sms_sync_drop", "hiroba_allreduce"),
    *mixed("value_or_not", "sms_reduce_int64", "hiroba_allreduce"),
    *mixed("end_or_not", "sms_shutdown", "hiroba_allreduce"),
    *mixed("barrier_or_end", "sms_shutdown", "sms_barrier"),
    *mixed("one_step_less", "sms_barrier", "hiroba_allreduce"),
    *mixed("reduce_or_bcast", "hiroba_reduce", "hiroba_bcast"),
    *mixed("late_for_all", good=True, extra_seconds=4),
    *mixed("barrier_between_start_and_wait", good=True, extra_seconds=2),
]

ARGUMENTS = [
    *everywhere("overlap", PLACE, r"hiroba_allreduce: send .* and recv .* overlap; use HIROBA_IN_PLACE"),
    *everywhere("overlap_of_gather", PLACE, r"hiroba_allgather: send .*overlap"),
    *everywhere("overlap_of_blocks", PLACE, r"hiroba_alltoallv: block \d of send and block \d of recv overlap"),
    *works("interleaved"),
    *everywhere("null_send", PLACE, r"hiroba_allreduce: send is NULL, for 32 bytes"),
    *everywhere("null_recv", PLACE, r"hiroba_ialltoall: recv is NULL"),
    *everywhere("null_recv_of_blocks", PLACE, r"hiroba_allgatherv: recv is NULL"),
    *everywhere("null_counts", PLACE, r"hiroba_allgatherv: the list of counts is NULL"),
    *everywhere("root_too_large", PLACE, r"hiroba_bcast: root is [23], and the team has ranks 0\.\.[12]"),
    *everywhere("root_negative", PLACE, r"hiroba_reduce: root is -1, and the team"),
    *everywhere("count_negative", PLACE, r"hiroba_allgather: count is -4"),
    *everywhere("counts_negative", PLACE, r"hiroba_reduce_scatter: count is -1"),
    *everywhere("no_type", PLACE, r"hiroba_bcast: there is no type 77", r"HIROBA_DOUBLE"),
    *everywhere("no_operator", PLACE, r"hiroba_allreduce: the operator is NULL", r"HIROBA_SUM"),
    *everywhere("operator_without_function", PLACE, r"operator mine has no function"),
    *everywhere("sum_of_structs", PLACE, r"sum of elements of 24 bytes that are no numbers"),
    *everywhere("bits_of_doubles", PLACE, r"hiroba_allreduce: operator \^ does not exist for double"),
    *everywhere("in_place_elsewhere", PLACE, r"HIROBA_IN_PLACE is for the root, which is 0, and this is rank"),
    *everywhere("in_place_as_recv", PLACE, r"hiroba_allreduce: recv is HIROBA_IN_PLACE"),
    *everywhere("neighbour", PLACE, r"rank [23] is a neighbour, and the team has ranks 0\.\.[12]"),
]

STARTED = r"hiroba_iallreduce\(sum of 4 double\) at .*" + PLACE
REQUESTS = [
    *everywhere("wait_twice", PLACE, r"hiroba_wait: request \d+ was waited for already"),
    *everywhere("wait_never", r"nobody has waited for " + STARTED, r"call hiroba_wait"),
    *everywhere("wait_of_nothing", PLACE, r"hiroba_wait: 12345 is no request"),
    *everywhere("start_of_no_persistent", PLACE, r"hiroba_start: this request is not persistent"),
    *everywhere("start_twice", PLACE, r"hiroba_allreduce\(sum of 4 double\) is under way; wait for it"),
    *everywhere("persistent_left", r"nobody has waited for hiroba_allreduce\(sum of 4 double\) at .*" + PLACE),
    *everywhere("then_left", r"nobody has waited for " + STARTED, r"hiroba_then gave it away at .*" + PLACE),
    *everywhere("then_and_wait", PLACE, r"hiroba_wait of " + STARTED + r", which hiroba_then has given away"),
    *everywhere("then_of_persistent", PLACE, r"hiroba_then of a persistent request"),
    *everywhere("freed_in_flight", r"sms_free\(.*\): array results is in use by " + STARTED),
    *works("freed_after_wait"),
]

FROM_NODES = "hiroba_team_from_nodes: "
TEAMS = [
    *everywhere("not_a_member", PLACE, r"hiroba_barrier: this rank is not in the team"),
    *everywhere("free_all", PLACE, r"hiroba_team_free\(HIROBA_ALL\)"),
    *everywhere("free_twice", PLACE, r"hiroba_team_free: the team was freed already"),
    *everywhere("use_of_freed", PLACE, r"hiroba_bcast: the team was freed already"),
    *everywhere("freed_under_way", PLACE, r"hiroba_team_free: " + STARTED + " is of this team"),
    *everywhere("member_too_large", PLACE, r"there is no member [23] in a team of [23]"),
    *everywhere("list_with_stranger", PLACE, r"rank 9 is listed, and the team has ranks 0\.\.[12]"),
    *everywhere("list_with_twins", PLACE, r"rank 0 is listed twice"),
    *everywhere("nodes_null", PLACE, FROM_NODES + "the node array is NULL; give xmp_desc_of"),
    *everywhere("nodes_not_defined", PLACE, FROM_NODES + "node array p is used before xmp_nodes_define"),
    *everywhere("nodes_are_coarray", PLACE, FROM_NODES + "a is a coarray; give xmp_desc_of"),
    *everywhere("nodes_of_others", PLACE, FROM_NODES + "rank 1 is an image of node array p and is not in the team"),
    *everywhere("nodes_overlap", PLACE, FROM_NODES + r"node array p has images here that overlap .* rank [01];"),
    *differ("nodes_of_other_name", r"hiroba_team_from_nodes\(p\)", r"hiroba_team_from_nodes\(q\)"),
    *everywhere("nodes_use_by_others", PLACE, r"hiroba_barrier: this rank is not in the team"),
    *late("nodes_one_less", r"hiroba_team_from_nodes\(p\)", r"rank 1 has not arrived"),
]

LIFE = [
    *everywhere("before_barrier", r"hiroba_barrier at .*" + PLACE + r" before sms_startup"),
    *everywhere("before_nodes", r"hiroba_team_from_nodes at .*" + PLACE + r" before sms_startup"),
    *everywhere("before_iallreduce", r"hiroba_iallreduce at .*" + PLACE + r" before sms_startup"),
    *everywhere("before_wait", r"hiroba_wait at .*" + PLACE + r" before sms_startup"),
    *everywhere("after_allreduce", r"hiroba_allreduce at .*" + PLACE + r" after sms_shutdown"),
]

CPP = [
    Case(name, words, binary="collectives_cpp", ranks=ranks, nodes=nodes)
    for ranks, nodes in PLACES
    for name, words in (
        ("sizes", [r"collectives_cpp\.cpp:\d+: hiroba::allreduce: send has 3 elements and recv has 4"]),
        ("gather_sizes", [r"collectives_cpp\.cpp:\d+: hiroba::gather: recv has 4 elements, and send has 3 for"]),
        ("parts", [r"collectives_cpp\.cpp:\d+: hiroba::allgatherv: 0 counts and 0 displacements for [23]"]),
        ("throws_blocking", [r"collectives_cpp\.cpp:\d+: hiroba::allreduce: its operator has thrown: no sum of these"]),
        ("throws_started", [r"collectives_cpp\.cpp:\d+: hiroba::iallreduce: its operator has thrown: no sum of these"]),
    )
]

if __name__ == "__main__":
    sys.exit(main(CALLS + MIXED + ARGUMENTS + REQUESTS + TEAMS + LIFE + CPP))
