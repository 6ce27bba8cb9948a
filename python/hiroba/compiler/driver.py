"""hirobacc is used as cc is. Its own options begin with two dashes; every other one goes to the C compiler. Commands
without anything of Hiroba become that of the C compiler unchanged; the others go to translation.py. Imports little
before that is decided."""

from __future__ import annotations

import _signal as signals  # signal itself takes as long to import as all else here
import os
import sys

from .command import USAGE, Command, find_program, read_command
from .plain import header_folders, included_names, is_plain, read, with_sentinels

TYPE_CHECKING = False  # so does typing
if TYPE_CHECKING:
    from typing import NoReturn

NEEDS_NOTHING = ("-nostdlib", "-nodefaultlibs", "-r", "-no-libc", "--no-standard-libraries")
SYSTEM_LIBRARIES = frozenset(("m", "pthread", "dl", "rt", "c", "util"))
# An OpenMP program for all ranks lies at the start of the shared addresses: src/openmp/README.md.
OPENMP_LINK: tuple[str, ...] = ("-Wl,-no-pie", "-Wl,--no-relax", "-Wl,-z,now", "-Wl,-Ttext-segment=0x200000000000")
OPENMP_LIBRARIES = ("-Wl,--push-state,--no-as-needed", "-lhiroba_openmp", "-lhiroba", "-Wl,--pop-state")
# A shared library of it lies at other shared addresses, 64 MiB for each by its name (memory/space/program.hpp), has a
# constructor that comes first, and stays until the program ends.
OPENMP_SHARED = (
    *("-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,nodelete"),
    *("-Wl,--push-state,--whole-archive", "-lhiroba_openmp_library", "-Wl,--pop-state"),
)
FIRST_SHARED, SHARED_BYTES, SHARED_PLACES = 0x208000000000, 64 << 20, 8192
NOT_OVER_NODES = ("-static", "-static-pie", "-no-pie", "-fno-pie", "-fno-PIE")
NOT_GCC = ("clang", "icx", "icpx", "ifx", "nvc", "flang", "pgcc")
NAMES = (b"hiroba", b"sms_", b"smint_", b"xmp", b"mpc_")  # parts of all names of the library


class Installation:
    """The folders of smint.h and the libraries, and this command."""

    def __init__(self, headers: str, libraries: str, command: str) -> None:
        self.headers, self.libraries, self.command = headers, libraries, command


def open_standard_streams() -> None:
    """Opens those that the caller has closed, lest another file gets their number. Writing to this output is an error,
    as to one that is closed."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
            os.set_inheritable(number, True)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w")


def main(arguments: list[str], installation: Installation) -> int:
    open_standard_streams()
    try:
        if arguments and os.path.realpath(find_program(arguments[0]) or "") == installation.command:
            arguments = arguments[1:]  # hirobacc is CMake's launcher, and its compiler, too
        command = read_command(arguments)
        if command.help:
            print(USAGE, end="", flush=True)
            return 0
        if os.path.realpath(find_program(command.cc[0]) or "") == installation.command:
            print(f"hirobacc: `{command.cc[0]}` is hirobacc itself; name a C compiler with --cc", file=sys.stderr)
            return 1
        if os.path.basename(command.cc[0]).startswith("nvcc"):
            if not command.has("-E") and refuses_notation(command, installation.headers):
                return 1
            return become_nvcc(command, installation)
        return compile_or_link(command, installation)
    except BrokenPipeError:
        die_of(signals.SIGPIPE)
    except OSError as error:
        print(f"hirobacc: error: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        if not error.filename:  # or the interpreter would say it again at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 1


def compile_or_link(command: Command, installation: Installation) -> int:
    if not command.has("-E") and refuses_notation(command, installation.headers):
        return 1
    if command.over_nodes and command.has(*NOT_OVER_NODES):
        print("hirobacc: error: -fopenmp-nodes with -static or -no-pie: leave that out", file=sys.stderr)
        return 1
    if command.over_nodes and os.path.basename(command.cc[0]).startswith(NOT_GCC):
        needs = "-fopenmp-nodes needs gcc, g++ or gfortran: the OpenMP of other compilers calls other libraries"
        print(f"hirobacc: error: {needs}; --cc names the compiler", file=sys.stderr)
        return 1
    if command.over_nodes and not command.fortran:
        sync_calls = ["-include", f"{installation.headers}/sync_calls.h"]
        if command.has("-E"):
            sync_calls.append("-DHIROBA_PREPROCESSED")
        command.given, command.words = [*sync_calls, *command.given], [*sync_calls, *command.words]
    plain = not command.show and is_plain(command, installation.headers)
    if plain and not command.links:
        become(command.cc, command.given)
    if command.links and has_mistakes(command):
        return 1
    linked = [] if plain and stands_alone(command) else link_words(installation.libraries, command)
    if not plain and not command.sources:
        linked = [*header_folders(installation.headers), *linked]
    elif not plain:
        from .translation import translate_all

        ended = translate_all(command, installation.headers, linked)
        if isinstance(ended, int):
            return ended
        linked = [*ended, *linked]
    if command.over_nodes:  # before libgomp, which makefiles name themselves
        return become(command.cc, [*linked, *command.given])
    return become(command.cc, [*command.given, *linked])


def become(cc: list[str], words: list[str], environment: dict[str, str] | None = None) -> NoReturn:
    """Ends this program: the C compiler takes its place."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    signals.signal(signals.SIGPIPE, signals.SIG_DFL)  # Python ignores it
    try:
        os.execvpe(cc[0], [*cc, *words], os.environ if environment is None else environment)
    except FileNotFoundError:
        sys.exit(f"hirobacc: there is no C compiler `{cc[0]}`; name one with --cc")


def die_of(number: int) -> NoReturn:
    """Ends as a program that does not handle a signal, so that make and shells end, too."""
    signals.signal(number, signals.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)


def refuses_notation(command: Command, headers: str) -> bool:
    """Prints the notation of files that are no C, which their compiler would ignore. Returns true if there is any."""
    suspects = [
        (file, language)
        for file, language in command.ignoring
        if os.path.isfile(file) and included_names(read(file)) is None
    ]
    fortran = with_sentinels(command.fortran, command.values("-I"))
    if not suspects and not fortran and not command.cxx:
        return False
    from .cxx_headers import files_with_suspects, refuse_in_headers
    from .foreign import refuse_in_fortran, refuse_in_others

    if refuse_in_others(suspects) | refuse_in_fortran(fortran):
        return True
    including = files_with_suspects(command, headers) if command.cxx else []
    return bool(including) and refuse_in_headers(command, including, headers)


def has_mistakes(command: Command) -> bool:
    """Prints errors between the given objects, of which few use Hiroba. Returns true if there are any."""
    output = command.values("-o")
    objects = {file: read(file) for file in command.others if file.endswith(".o") and os.path.isfile(file)}
    if not any(b"hiroba_" in text or b"smint_" in text for file, text in objects.items() if file not in output):
        return False
    from .link import check

    return not check({file: file for file in objects if file not in output}, lambda file: None, command.warnings)


def may_use_library(file: str) -> bool:
    """Returns false for objects, and archives of them, that name nothing of the library."""
    text = read(file) if file.endswith((".o", ".a")) and os.path.isfile(file) else b""
    if not text.startswith((b"\x7fELF", b"!<arch>\n")) or b".gnu.lto_" in text:
        return True
    return any(name in text for name in NAMES)


def stands_alone(command: Command) -> bool:
    """Returns true if no linked file can use the library, which has functions that replace some of the C library. With
    -v it is linked always: by that CMake asks what a C program needs that another compiler links."""
    if any(name == "-v" for name, _ in command.options):
        return False
    if command.has("-fgnu-tm") or command.over_nodes:
        return False
    given = [*command.values("-Xlinker", "-T"), *(value for value in command.values("-l") if value)]
    for name, _ in command.options:
        given += name.split(",")[1:] if name.startswith("-Wl,") else [name[2:]] if name.startswith("-l") else []
    brought = (word for word in given if not word.startswith("-") or word.startswith(("-l", "-T", "-R")))
    return SYSTEM_LIBRARIES.issuperset(brought) and not any(map(may_use_library, command.others))


def link_words(library: str, command: Command) -> list[str]:
    """Returns the library, for programs that use it, independent of earlier options about libraries."""
    is_static = command.has("-static", "-static-pie", "--static")
    if not command.links or command.has(*NEEDS_NOTHING):
        return []
    if command.over_nodes:
        words = OPENMP_LINK
        if command.has("-shared"):
            words = (*OPENMP_SHARED, f"-Wl,-Ttext-segment={place_of(command):#x}")
        return [f"-L{library}", f"-Wl,-rpath,{library}", *words, *OPENMP_LIBRARIES]
    if is_static:
        static = libraries_in(library, ".a")
        return [f"-L{library}", *static, "-lstdc++", "-lm"] if static else []
    if not command.sources and not command.others:
        return []
    shared = libraries_in(library, ".so") or ["-lhiroba"]
    if command.has("-fgnu-tm"):  # before the library of GCC, which it takes the place of
        shared.insert(0, "-lhiroba_tm")
    # libm as with Omni's xmpcc, whose programs do not name it.
    only_if_used = ["-Wl,--push-state,-Bdynamic,--as-needed", *shared, "-lm", "-Wl,--pop-state"]
    return [f"-L{library}", f"-Wl,-rpath,{library}", *only_if_used]


def place_of(command: Command) -> int:
    """Returns where a shared library of an OpenMP program lies; libraries of different names seldom share a place."""
    number = 0
    for byte in os.path.basename((command.values("-o") or ["a.out"])[-1]).encode():
        number = (number * 31 + byte) & 0xFFFFFFFF
    return FIRST_SHARED + number * 2654435761 % 2**32 * SHARED_PLACES // 2**32 * SHARED_BYTES


def libraries_in(folder: str, ending: str) -> list[str]:
    """Returns the libraries that exist: a tree need not have built all."""
    return [f"-l{name}" for name in ("hiroba_sparse", "hiroba") if os.path.exists(f"{folder}/lib{name}{ending}")]


def become_nvcc(command: Command, installation: Installation) -> NoReturn:
    """nvcc hands C files, and the link, to a host compiler: to this command, which has the one that nvcc would use."""
    host = (command.values("-ccbin", "--compiler-bindir") or ["gcc"])[-1]
    host = os.path.join(host, "gcc") if os.path.isdir(host) else host
    own = [*(["--show"] if command.show else []), *(["--explain"] if command.explain else []), *command.warnings]
    words = [part for word in own for part in ("-Xcompiler", word)]
    words += ["-E"] if command.show else []
    if find_program(command.cc[0]) is not None and command.links and not command.show:
        words.append("-lstdc++")
    become([*command.cc, "-ccbin", installation.command], [*command.given, *words], {**os.environ, "HIROBACC_CC": host})
