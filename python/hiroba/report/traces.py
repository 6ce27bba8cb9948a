"""The timeline of a report in formats of other tools: Perfetto (JSON), and OTF2."""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiroba import own_files
from hiroba.report.data import WAITING, Report, ReportError

NUMBERS = 5  # of an event: begin (us), duration (ns), site, other rank or releasing site, thread
NAMES = {
    "fault": "page fault",
    "barrier": "barrier",
    "collective": "collective",
    "lock": "lock",
    "task": "task",
    "copy": "copy",
    "preload": "preload",
}


@dataclass
class Event:
    begin: float  # seconds
    seconds: float
    site: dict[str, Any]
    other: int
    thread: int

    def name(self) -> str:
        return self.site["call"] or NAMES.get(self.site["kind"], self.site["kind"])


def events_of(report: Report, rank: dict[str, Any]) -> list[Event]:
    """In the order of their begins."""
    flat = rank["timeline"]["events"]
    out = []
    for at in range(0, len(flat), NUMBERS):
        begin, nanoseconds, site, other, thread = flat[at : at + NUMBERS]
        out.append(Event(1e-6 * begin, 1e-9 * nanoseconds, report.data["sites"][site], other, thread))
    return sorted(out, key=lambda event: (event.begin, -event.seconds))


def details(report: Report, event: Event) -> dict[str, Any]:
    out: dict[str, Any] = {"place": event.site["place"]}
    if event.other >= 0 and event.site["kind"] == "task":
        by = report.data["sites"][event.other]
        out["released by"] = f"{by['call']} at {by['place']}" if by["place"] else by["call"]
    elif event.other >= 0:
        out["last rank"] = event.other
    if "array" in event.site:
        out["array"] = event.site.get("object") or report.arrays[event.site["array"]]["name"]
    if "lock" in event.site:
        out["lock"] = event.site["lock"]
    return out


def perfetto(report: Report) -> str:
    """Events as slices; the sums over the whole run as counters, in parts of the time."""
    out: list[dict[str, Any]] = []
    for rank in report.ranks:
        pid = rank["rank"]
        out.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": f"rank {pid}"}})
        for event in events_of(report, rank):
            slice_ = {"name": event.name(), "cat": event.site["kind"], "ph": "X", "pid": pid, "tid": event.thread}
            times = {"ts": round(1e6 * event.begin, 3), "dur": round(1e6 * event.seconds, 3)}
            out.append(slice_ | times | {"args": details(report, event)})
        line = rank["timeline"]
        kinds = (*WAITING, "tasks")
        for bin_number in range(len(line["collective"])):
            parts = {kind: round(line[kind][bin_number] / line["bin"], 4) for kind in kinds}
            time = {"ts": round(1e6 * (rank["began"] + bin_number * line["bin"]), 3)}
            out.append({"name": "part of the time", "ph": "C", "pid": pid} | time | {"args": parts})
        for bin_number, joules in enumerate(line["joules"]):
            time = {"ts": round(1e6 * (rank["began"] + bin_number * line["bin"]), 3)}
            out.append({"name": "watts", "ph": "C", "pid": pid} | time | {"args": {"watts": joules / line["bin"]}})
    return json.dumps({"traceEvents": out, "displayTimeUnit": "ms"}, separators=(",", ":"))


def nested(events: list[Event]) -> Iterator[tuple[float, bool, Event]]:
    """Begins and ends in their order; an event ends with the one that contains it at the latest."""
    stack: list[tuple[float, Event]] = []
    for event in events:
        while stack and stack[-1][0] <= event.begin:
            end, inner = stack.pop()
            yield end, False, inner
        end = event.begin + event.seconds
        stack.append((min(end, stack[-1][0]) if stack else end, event))
        yield event.begin, True, event
    while stack:
        end, inner = stack.pop()
        yield end, False, inner


def otf2_library() -> Any:
    try:
        importlib.import_module("otf2.error")
        return importlib.import_module("otf2")
    except ImportError as error:
        raise ReportError(
            f"OTF2 needs the Python package otf2, which this Python does not have ({error}): install python3-otf2, or "
            "write FILE.perfetto.json"
        ) from error


def write_otf2(report: Report, folder: Path) -> None:
    """An archive is a folder; it may replace another archive, but nothing else."""
    otf2 = otf2_library()
    if folder.exists() and not (folder / "traces.otf2").exists():
        raise ReportError(f"{folder} exists and is no OTF2 archive; give another name")
    try:
        # Others can neither look into it, nor foretell its name.
        with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as drafts:
            draft, old = Path(drafts, "new"), Path(drafts, "old")
            write_archive(otf2, report, draft)
            draft.chmod(folder.stat().st_mode & own_files.PERMISSIONS if folder.exists() else 0o700)
            if folder.exists():
                folder.rename(old)
            try:
                draft.rename(folder)
            except OSError:
                if old.exists():
                    old.rename(folder)
                raise
    except (OSError, otf2.error.Error) as error:
        raise ReportError(f"cannot write {folder}: {error}") from error


def write_archive(otf2: Any, report: Report, draft: Path) -> None:
    resolution = 10**9
    with otf2.writer.open(str(draft), timer_resolution=resolution) as archive:
        definitions = archive.definitions
        root = definitions.system_tree_node("job")
        regions: dict[tuple[str, str], Any] = {}
        for rank in report.ranks:
            node = definitions.system_tree_node(f"node {rank['node']} on {rank['host']}", parent=root)
            group = definitions.location_group(f"rank {rank['rank']}", system_tree_parent=node)
            by_thread: dict[int, list[Event]] = {}
            for event in events_of(report, rank):
                by_thread.setdefault(event.thread, []).append(event)
            for thread, events in sorted(by_thread.items()):
                writer = archive.event_writer(f"thread {thread}", group=group)
                for time, begins, event in nested(events):
                    key = (event.name(), event.site["place"])
                    if key not in regions:
                        regions[key] = definitions.region(f"{key[0]} at {key[1]}" if key[1] else key[0])
                    write = writer.enter if begins else writer.leave
                    write(round(time * resolution), regions[key])
