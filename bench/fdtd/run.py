"""Sound in a box: shared arrays, by directives and by calls, against MPI+OpenMP; and how near the memory's bandwidth.

"plain" is without space-time blocking. Every run with layers must have the
pressure of the sequential program, bit by bit; those without conserve energy.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import BenchmarkError, Contestant, Samples, Target

LAYERS = 20
SIZE, STEPS = 192, 15
SMALL_SIZE, SMALL_STEPS = 64, 4

# What a step must move between memory and processor, in bytes per cell: to update u, p is read, and u read and written;
# to update p, u is read, and p read and written.
BYTES = 8 * ((1 + 2 * 3) + (3 + 2))
TRIAD_MIB, SMALL_TRIAD_MIB = 64, 4


def rivals(build: Path, size: int, steps: int) -> list[Contestant]:
    """On two ranks of one thread."""
    programs = build / "bin"
    middle = f"{size // 2},{size // 2},{size // 2}"
    options = ["--size", str(size), "--steps", str(steps), "--pml", str(LAYERS), "--source", middle, "--json"]

    def ours(program: str, nodes: int, more: list[str]) -> list[str | Path]:
        start: list[str | Path] = [programs / "hirobarun", "-n", "2", "--nodes", str(nodes), "--threads", "1"]
        return [*start, programs / f"fdtd_{program}", *options, *more]

    found: dict[str, list[str | Path]] = {}
    for kind, more in (("", []), (", plain", ["--depth", "1"])):
        found[f"mpi{kind}"] = [*harness.mpirun(2), programs / "fdtd_mpi", *options, *more]
        for nodes in (1, 2):
            over = "" if nodes == 1 else f", {nodes} nodes"
            found[f"sms{over}{kind}"] = ours("sms", nodes, more)
            found[f"smint{over}{kind}"] = ours("smint", nodes, more)
    return [Contestant(name, command, harness.threads(1)) for name, command in found.items()]


def rival_of(name: str) -> str:
    """What the time of a contestant is divided by."""
    return "mpi, plain" if name.endswith("plain") else "mpi"


def same_answer(build: Path, contestant: Contestant) -> str:
    """The checksum of the sequential program's answer, for the options of a contestant."""
    options = contestant.command[list(map(str, contestant.command)).index("--size") :]
    reference = Contestant("seq", [build / "bin" / "fdtd_seq", *options], harness.threads(1))
    return str(harness.run_once(reference)["checksum"])


def checked(contestant: Contestant, expected: str) -> dict[str, Any]:
    result = harness.run_once(contestant)
    if result["checksum"] != expected:
        raise BenchmarkError(f"{harness.shown(contestant)}\n  its pressure differs from that of fdtd_seq")
    return result


def bandwidth(build: Path, size: int, steps: int, mebibytes: int) -> list[Contestant]:
    """STREAM's triad, and the updates of a box without layers, on one core each."""
    programs = build / "bin"
    options = ["--size", str(size), "--steps", str(steps), "--start", "noise", "--depth", "1", "--verify", "--json"]
    start: list[str | Path] = [programs / "hirobarun", "-n", "1", "--threads", "1"]
    return [
        Contestant(
            "triad", [*start, build / "bench" / "memory" / "bench_memory", "triad", str(mebibytes)], harness.threads(1)
        ),
        *(Contestant(name, [*start, programs / f"fdtd_{name}", *options], harness.threads(1)) for name in OURS),
    ]


OURS = ("smint", "sms")


def gigabytes(samples: Samples, name: str) -> list[float]:
    return [BYTES * value for value in samples.values(name, "gcells")]


def show_rivals(samples: Samples) -> None:
    phases = list(samples.runs["mpi"][0]["phases"])
    rows = [["", "ms/step", "spread", "Gcell/s", "time / mpi", *(f"{phase}, ms" for phase in phases), "PML share"]]
    for name, runs in samples.runs.items():
        steps = runs[0]["steps"]
        middle = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
        rows.append(
            [
                name,
                f"{1e3 * samples.median(name) / steps:.2f}",
                f"{100 * samples.spread(name):.0f} %",
                f"{samples.median(name, 'gcells'):.4f}",
                f"{samples.ratio(name, rival_of(name)):.3f}",
                *(f"{1e3 * middle['phases'][phase] / steps:.2f}" for phase in phases),
                f"{100 * samples.median(name, 'layer_time'):.0f} %",
            ]
        )
    share = 100 * samples.runs["mpi"][0]["layer_cells"]
    print(f"\n{harness.table(rows)}\nlayers have {share:.0f} % of the cells", flush=True)


def show_bandwidth(samples: Samples) -> None:
    rows = [["", "GB/s", "/ triad"], ["triad", f"{samples.median('triad', 'GB/s'):.2f}", "1"]]
    for name in OURS:
        middle = sorted(gigabytes(samples, name))[len(samples.runs[name]) // 2]
        rows.append([name, f"{middle:.2f}", f"{of_triad(samples, name):.3f}"])
    print(f"\none core, no layers, {BYTES} bytes per cell and step\n{harness.table(rows)}", flush=True)


def of_triad(samples: Samples, name: str) -> float:
    ratios = [
        ours / triad for ours, triad in zip(gigabytes(samples, name), samples.values("triad", "GB/s"), strict=True)
    ]
    return sorted(ratios)[len(ratios) // 2]


def targets(size: int, against: Samples, memory: Samples) -> list[Target]:
    found = []
    for name in against.runs:
        rival = rival_of(name)
        if name == rival:
            continue
        noise = max(against.spread(rival), 0.02)
        found.append(
            Target(
                f"{size}^3, {LAYERS} layers, 2 ranks: {name} / {rival}",
                against.ratio(name, rival),
                1 + noise,
                why_not="the limit is 1 and the spread of the rival in this run",
            )
        )
    for name in ("sms", "sms, 2 nodes", "smint", "smint, 2 nodes"):
        gain = against.ratio(f"{name}, plain", name)
        found.append(Target(f"{size}^3: {name}, without / with blocking", gain, 1.4, at_most=False))
    why_not = "a step's arithmetic, with its data in the cache, takes more than half of the time"
    found += [
        Target(f"{BYTES} B x cells/s / triad, {name}", of_triad(memory, name), 0.8, at_most=False, why_not=why_not)
        for name in OURS
    ]
    share = against.runs["mpi"][0]["layer_cells"]
    found += [
        Target(f"layers' share of the time / of the cells, {name}", against.median(name, "layer_time") / share, 1.5)
        for name in against.runs
    ]
    return found


def run() -> int:
    parser = harness.arguments(__doc__)
    options = parser.parse_args()
    small = options.small
    rounds = options.rounds or (2 if small else 7)
    size, steps = (SMALL_SIZE, SMALL_STEPS) if small else (SIZE, STEPS)

    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    print(f"{rounds} rounds; medians, and the distance of the quartiles as spread")
    contestants = rivals(options.build, size, steps)
    expected = same_answer(options.build, contestants[0])
    label = f"{size}^3, {LAYERS} layers, 2 ranks"
    against = harness.compete(contestants, rounds, label, lambda contestant: checked(contestant, expected))
    show_rivals(against)
    mebibytes = SMALL_TRIAD_MIB if small else TRIAD_MIB
    memory = harness.compete(bandwidth(options.build, size, steps, mebibytes), rounds, "bandwidth")
    show_bandwidth(memory)

    reached = [] if small else targets(size, against, memory)
    print("" if small else "\nTargets")
    for target in reached:
        print(target.line())
    panels = {
        f"{label}: time / mpi": {
            name: against.ratios(name, "mpi") for name in against.runs if not name.endswith("plain")
        },
        f"{label}: time / mpi, plain": {
            name.removesuffix(", plain"): against.ratios(name, "mpi, plain")
            for name in against.runs
            if name.endswith("plain")
        },
        "1 rank, no layers, plain: GB/s": {"triad": memory.values("triad", "GB/s")}
        | {name: gigabytes(memory, name) for name in OURS},
    }
    name = "fdtd_small" if small else "fdtd"
    picture = harness.plot(options.out / f"{name}.png", "FDTD(2,4)", panels, "", sharey=False)
    kept = harness.write(options.out, name, around, {label: against, "bandwidth": memory}, reached)
    print(f"\nkept in {kept} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
