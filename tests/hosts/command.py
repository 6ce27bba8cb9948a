"""The command line of the test hosts, for `./dev hosts` and `hosts.py`. Messages go to standard error."""

import argparse
import signal
import subprocess
import sys

from hosts import HEAD, SKIPPED, Hosts, Unavailable, down, sets, sweep

HELP = """\
Several hosts on one machine, each with its own network, host name and /dev/shm, to try out what runs over a cluster.

  hosts up 2 --delay 5            two hosts, h1 and h2; packets take 5 ms from one to the other
  hosts run h1 hostname           run something there, in this folder, with this environment
  hosts mpi openmpi -n 2 ./prog   two ranks on each host, started from the head (h0), over plain TCP
  hosts mpi mpich ./prog          one rank on each host
  hosts cut h2                    pull the cable of h2
  hosts mend h2                   and plug it in again
  hosts list                      which sets there are, and what runs there
  hosts down                      end the hosts, and all that runs there

Hosts share files, users and processors with this machine. Their addresses are 10.77.0.1 and so on; each knows the
others by name. They need root. Exit status 77: this machine cannot do it, and the message says why.
"""


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="hosts", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--set", metavar="TAG", help="which set of hosts, if there are several (see list)")
    commands = parser.add_subparsers(dest="name", metavar="COMMAND", required=True)
    up = commands.add_parser("up", help="make a set of hosts, which stays until `down`")
    up.add_argument("count", type=int, metavar="K", help="how many hosts, besides the head")
    up.add_argument("--delay", type=float, default=0, metavar="MS", help="time from host to host, in milliseconds")
    up.add_argument("--loss", type=float, default=0, metavar="PERCENT", help="packets that are lost")
    up.add_argument("--rate", type=float, default=0, metavar="MBIT", help="what each host can send, in Mbit/s")
    down_parser = commands.add_parser("down", help="end a set of hosts, and all that runs there")
    down_parser.add_argument("--all", action="store_true", help="all sets that `up` has made, by whomever")
    commands.add_parser("list", help="show all sets of hosts")
    for name, text in (("cut", "pull the cable of a host"), ("mend", "plug it in again")):
        commands.add_parser(name, help=text).add_argument("host", metavar="HOST")
    run = commands.add_parser("run", help="run a command on a host")
    run.add_argument("host", metavar="HOST")
    mpi = commands.add_parser("mpi", help="run an MPI program over all hosts")
    mpi.add_argument("kind", choices=["openmpi", "mpich"])
    run.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND...")
    mpi.add_argument("words", nargs=argparse.REMAINDER, metavar="[-n RANKS_PER_HOST] PROGRAM...")
    return parser.parse_args(words)


def up(arguments: argparse.Namespace) -> int:
    hosts = Hosts(arguments.count, arguments.delay, arguments.loss, arguments.rate, stay=True)
    hosts.begin()
    print(f"{hosts.tag}: {' '.join(f'{name}={address}' for name, address in hosts.addresses.items())}")
    return 0


def show() -> int:
    staying = sets(staying=True)
    for tag in sets():
        hosts = Hosts.attach(tag)
        print(tag if tag in staying else f"{tag} (ends with process {tag.split('-')[1]}, which has made it)")
        for name, address in hosts.addresses.items():
            received, sent = hosts.traffic(name)
            running = len(hosts.processes(name))
            print(f"  {name:4} {address:12} received {received} B, sent {sent} B, processes {running}")
    return 0


def end(arguments: argparse.Namespace) -> int:
    swept = sweep()
    if swept:
        print(f"killed {swept} processes that sets of hosts had left behind")
    if arguments.all:
        ended = list(sets(staying=True))
    elif swept and not sets(staying=True):
        ended = []
    else:
        ended = [Hosts.attach(arguments.set, staying=True).tag]  # others end with their creators
    for tag in ended:
        down(tag)
        print(f"{tag}: ended")
    return 0


def ranks_per_host(words: list[str]) -> tuple[int, list[str]]:
    """Taken from the command's front by hand: argparse gives everything behind a program's name to the program."""
    if words[0] != "-n":
        return 1, words
    if len(words) < 3 or not words[1].isdigit() or int(words[1]) < 1:
        raise ValueError("-n needs the number of ranks on each host, and then a program: -n 2 ./program")
    return int(words[1]), words[2:]


def execute(arguments: argparse.Namespace) -> int:
    hosts = Hosts.attach(arguments.set)
    if arguments.name in ("cut", "mend"):
        (hosts.cut if arguments.name == "cut" else hosts.mend)(arguments.host)
        return 0
    if not arguments.words:
        raise ValueError(f"{arguments.name} needs a command: hosts {arguments.name} {HEAD} COMMAND...")
    if arguments.name == "run":
        command, environment = hosts.command(arguments.host, arguments.words), None
    else:
        ranks, words = ranks_per_host(arguments.words)
        command, environment = hosts.mpirun(arguments.kind, [ranks] * len(hosts.names), words)
    process = subprocess.Popen(command, env=environment)
    while True:
        try:
            status = process.wait()
            return status if status >= 0 else 128 - status
        except KeyboardInterrupt:
            pass  # the command has got it too


def main() -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as others do when what they print to ends
    arguments = parse(sys.argv[1:])
    try:
        if arguments.name == "up":
            return up(arguments)
        if arguments.name == "list":
            return show()
        if arguments.name == "down":
            return end(arguments)
        return execute(arguments)
    except Unavailable as error:
        print(f"hosts: {error}", file=sys.stderr)
        return SKIPPED
    except ValueError as error:
        print(f"hosts: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
