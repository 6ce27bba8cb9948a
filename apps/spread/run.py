"""How far do devices of one model differ in power? `hiroba power spread` runs the same kernels on every device of every
node: a matrix product, that of a library, and a copy with overlap; shows their watts and seconds as box plots, and
writes a table by which ranks are placed (hirobarun --place-by power --place-table FILE).

  hiroba power spread                                       the GPUs of this machine, or the processor without one
  hiroba power spread --hosts left,right --table spread.tsv on hosts, and the table for hirobarun
  hiroba power spread --devices host:2 --repeat 10          devices that are threads of the processor
  srun --ntasks-per-node 1 hirobarun --power PROGRAM 50 0.5 1024 64 > lines; hiroba power spread --from lines
                                                            ranks that another launcher starts; --program prints PROGRAM
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - whatever python3 is there starts it
    sys.exit(f"hiroba power spread needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}")

import argparse
import json
import os
import re
import statistics
import subprocess
from pathlib import Path
from typing import Any

Line = dict[str, Any]  # of JSON, as the program prints it
WIDTH = 50  # of a box plot, in letters
SIZES = {"host": (256, 16), "cuda": (4096, 256)}  # of the product, and MiB of the copy


class SpreadError(Exception):
    """A message for the user."""


def quantiles(values: list[float]) -> tuple[float, float, float, float, float]:
    """The least, the quartiles, and the largest."""
    ordered = sorted(values)
    if len(ordered) == 1:
        return (ordered[0],) * 5
    low, middle, high = statistics.quantiles(ordered, n=4, method="inclusive")
    return ordered[0], low, middle, high, ordered[-1]


def box(values: list[float], low: float, high: float) -> str:
    """|---[==|==]---| from the least to the largest value, the box from quartile to quartile."""
    scale = (WIDTH - 1) / (high - low) if high > low else 0
    least, first, middle, third, most = (round((value - low) * scale) for value in quantiles(values))
    letters = [" "] * WIDTH
    letters[least : most + 1] = "-" * (most + 1 - least)
    letters[first : third + 1] = "=" * (third + 1 - first)
    letters[least], letters[most] = "|", "|"
    letters[first], letters[third] = "[", "]"
    letters[middle] = "#"
    return "".join(letters)


def label(line: Line) -> str:
    return f"{line['host']} {line['kind']} {line['number']}"


def watts(line: Line) -> list[float]:
    return [joules / seconds for joules, seconds in zip(line["joules"], line["seconds"], strict=True)]


def plots(lines: list[Line], what: str) -> dict[str, dict[str, list[float]]]:
    """Values of each device, by kernel."""
    found: dict[str, dict[str, list[float]]] = {}
    for line in lines:
        if "seconds" in line and (what == "seconds" or "joules" in line):
            values = line["seconds"] if what == "seconds" else watts(line)
            found.setdefault(line["kernel"], {})[label(line)] = values
    return found


def show(lines: list[Line]) -> None:
    for what, unit in (("watts", "W"), ("seconds", "s")):
        for kernel, devices in plots(lines, what).items():
            everything = [value for values in devices.values() for value in values]
            low, high = min(everything), max(everything)
            medians = [statistics.median(values) for values in devices.values()]
            spread = (max(medians) - min(medians)) / statistics.median(medians)
            print(f"\n{kernel}: {what} from {low:.4g} to {high:.4g} {unit}; medians of devices differ by {spread:.1%}")
            for name, values in devices.items():
                print(f"  {name:24} {box(values, low, high)} {statistics.median(values):.4g} {unit}")
    for line in lines:
        if "not run" in line:
            print(f"{label(line)}, {line['kernel']}: not run: {line['not run']}")
        elif "unknown" in line:
            print(f"{label(line)}, {line['kernel']}: watts unknown: {line['unknown']}")


def table(lines: list[Line]) -> str:
    """For option place-table: the mean watts over all kernels of a device, and the seconds of a step of each."""
    text = "# hiroba power spread 1: host, kind, number, name, watts, seconds\n"
    devices: dict[str, list[Line]] = {}
    for line in lines:
        if "seconds" in line:
            devices.setdefault(label(line), []).append(line)
    for some in devices.values():
        first = some[0]
        known = all("joules" in line for line in some)
        mean = f"{statistics.mean(statistics.mean(watts(line)) for line in some):.6g}" if known else "unknown"
        seconds = sum(statistics.median(line["seconds"]) for line in some)
        words = [first["host"], first["kind"], str(first["number"]), first["device"], mean, f"{seconds:.9g}"]
        text += "\t".join(words) + "\n"
    return text


def draw(lines: list[Line], path: Path) -> None:
    panels = {f"{kernel}, W": devices for kernel, devices in plots(lines, "watts").items()}
    panels |= {f"{kernel}, s": devices for kernel, devices in plots(lines, "seconds").items()}
    try:
        from matplotlib.figure import Figure  # here, for it takes a second and not every run draws
    except ModuleNotFoundError as error:
        raise SpreadError(f"--plot needs matplotlib, which {sys.executable} does not have") from error
    figure = Figure(figsize=(1 + 3.6 * min(3, len(panels)), 0.6 + 3.4 * -(-len(panels) // 3)), layout="constrained")
    grid = list(figure.subplots(-(-len(panels) // 3), min(3, len(panels)), squeeze=False).flat)
    for axes, (name, devices) in zip(grid, panels.items(), strict=False):
        axes.boxplot(list(devices.values()), whis=(0, 100))
        axes.set_xticks(range(1, 1 + len(devices)), list(devices), rotation=30, ha="right", rotation_mode="anchor")
        axes.set_title(name, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(panels) :]:
        axes.remove()
    figure.suptitle("The same kernels on every device")
    figure.savefig(path, dpi=140)


def has_gpu() -> bool:
    return Path("/dev/nvidia0").exists()


def program_of(build: Path, kind: str) -> Path:
    name = "spread.cuda" if kind == "cuda" else "spread"
    found = [
        folder / "hiroba" / name for folder in (build / "lib", build / "lib64", *(build / "lib").glob("*-linux-*"))
    ]
    for path in found:
        if path.exists():
            return path
    why = "it is built where CMake finds nvcc; or give --devices host:1" if kind == "cuda" else "build or install it"
    raise SpreadError(f"there is no {found[0]}: {why}")


def measure(options: argparse.Namespace, devices: str, kind: str) -> list[Line]:
    n, mebibytes = options.size or SIZES[kind][0], options.mebibytes or SIZES[kind][1]
    where = ["--hosts", ",".join(f"{host.partition(':')[0]}:1" for host in options.hosts.split(","))]
    command = [str(options.build / "bin" / "hirobarun"), *(where if options.hosts else ["-n", "1"])]
    command += ["--power", "--power-idle", "0", "--devices", devices, str(program_of(options.build, kind))]
    command += [str(word) for word in (options.repeat, options.seconds, n, mebibytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = [line for line in done.stderr.splitlines() if ": power: " not in line]
    if done.returncode != 0:
        raise SpreadError("\n".join(told) or f"{command[0]} ended with status {done.returncode}")
    print("\n".join(told), end="\n" if told else "", file=sys.stderr)
    return lines_of(done.stdout)


def lines_of(text: str) -> list[Line]:
    if text.startswith("[\n"):  # from --json
        return list(json.loads(text))
    return [json.loads(line[line.index("{") :]) for line in text.splitlines() if '{"host"' in line]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="hiroba power spread", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--repeat", type=int, default=50, help="repetitions of each kernel (default 50)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each repetition (default 0.5)")
    parser.add_argument("--size", type=int, help="of the matrices (default 256; on GPUs 4096)")
    parser.add_argument("--mebibytes", type=int, help="of the copy (default 16; on GPUs 256)")
    parser.add_argument("--devices", help="as of hirobarun (default: cuda with a GPU, else host:1)")
    parser.add_argument("--hosts", default="", help="run on these hosts, as hirobarun --hosts (default: this machine)")
    parser.add_argument(
        "--from", dest="source", type=Path, help="lines that the program has printed, or a file of --json"
    )
    parser.add_argument("--json", type=Path, help="write all figures")
    parser.add_argument("--table", type=Path, help="write the table for hirobarun --place-table")
    parser.add_argument("--plot", type=Path, help="write the box plots as a picture")
    parser.add_argument("--program", action="store_true", help="print the path of the program, and end")
    options = parser.parse_args()
    for name, value, most in (("repeat", options.repeat, 10000), ("seconds", options.seconds, 60)):
        if not 0 < value <= most:
            parser.error(f"--{name} {value} is not above 0 and at most {most}")
    for name, value, most in (("size", options.size, 32768), ("mebibytes", options.mebibytes, 65536)):
        if value is not None and not 0 < value <= most:
            parser.error(f"--{name} {value} is not from 1 to {most}")
    return options


def run() -> None:
    options = parse()
    devices = options.devices or ("cuda" if has_gpu() else "host:1")
    kind = "cuda" if re.match(r"cuda|auto|\d", devices) else "host"
    if options.program:
        print(program_of(options.build, kind))
        return
    lines = lines_of(options.source.read_text()) if options.source else measure(options, devices, kind)
    if not lines:
        raise SpreadError(f"{options.source or 'the program'} has no figures")
    show(lines)
    if options.json:
        options.json.write_text(json.dumps(lines, indent=1) + "\n")
    if options.table:
        options.table.write_text(table(lines))
    if options.plot:
        draw(lines, options.plot)


def main() -> int:
    try:
        run()
    except (SpreadError, OSError, json.JSONDecodeError) as error:
        print(f"hiroba power spread: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    os.environ.pop("HIROBA_POWER", None)
    sys.exit(main())
