"""How each MPI is told to start a job over hosts with agent.py in place of ssh, over eth0 alone. Blocks on nothing."""

import pathlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence

AGENT = str(pathlib.Path(__file__).resolve().parent / "agent.py")
# Debian has both, with these endings; elsewhere the plain name is one of them, which its version tells.
NAMES = {"openmpi": "Open MPI", "mpich": "HYDRA"}
PACKAGES = {"openmpi": "openmpi-bin libopenmpi-dev", "mpich": "mpich libmpich-dev"}


def launcher(kind: str) -> str:
    if kind not in NAMES:
        raise ValueError(f"MPI is 'openmpi' or 'mpich', not '{kind}'")
    if path := shutil.which(f"mpirun.{kind}"):
        return path
    if path := shutil.which("mpirun"):
        told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=20)
        if NAMES[kind] in told.stdout:
            return path
    raise FileNotFoundError(f"{kind} is not installed here (Debian's packages: {PACKAGES[kind]})")


def compiler(kind: str) -> str:
    """The C compiler's wrapper beside the launcher."""
    path = pathlib.Path(launcher(kind))
    wrapper = path.with_name(path.name.replace("mpirun", "mpicc"))
    if not wrapper.exists():
        raise FileNotFoundError(f"{kind} has no {wrapper.name} here (Debian's packages: {PACKAGES[kind]})")
    return str(wrapper)


def job(
    kind: str, ranks: Mapping[str, int], command: Sequence[str], env: Mapping[str, str], options: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Command and additional environment of the launcher."""
    path = launcher(kind)
    total = str(sum(ranks.values()))
    hosts = ",".join(f"{name}:{n}" for name, n in ranks.items())
    if kind == "openmpi":
        settings = {
            "plm": "rsh",
            "plm_rsh_agent": AGENT,
            "oob_tcp_if_include": "eth0",
            "btl_tcp_if_include": "eth0",
            "btl": "self,vader,tcp",  # shared memory on a host, TCP between hosts
            "pml": "ob1",
            # So that a cut is noticed after five seconds rather than eight minutes. Keep-alive is silent while data
            # waits for an answer, so a side that was just sending notices when TCP gives up, after a quarter of an hour
            # (less with a smaller net.ipv4.tcp_retries2).
            "oob_tcp_keepalive_time": "2",
            "oob_tcp_keepalive_intvl": "1",
            "oob_tcp_keepalive_probes": "3",
        }
        words = [word for name, value in settings.items() for word in ("--mca", name, value)]
        words += ["--bind-to", "none", "--host", hosts, "-np", total]
        words += [word for name in env for word in ("-x", name)]
        allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return [path, *words, *options, *command], {**allow, **env}
    words = ["-launcher", "ssh", "-launcher-exec", AGENT, "-iface", "eth0", "-hosts", hosts, "-n", total]
    # Debian's MPICH moves data between hosts by UCX (ch4:ucx), which must be told to take plain TCP; on one host MPICH
    # has shared memory of its own. Hydra has no setting by which it notices a cut. Debian's MPICH 4.0.2 with UCX 1.13
    # may hang in MPI_Finalize, without these hosts, too, often so with three ranks or more.
    ucx = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
    words += [word for name, value in {**ucx, **env}.items() for word in ("-genv", name, value)]
    return [path, *words, *options, *command], dict(env)
