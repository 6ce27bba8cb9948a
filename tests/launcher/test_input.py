"""What a job does with standard input: rank 0 reads it as it is, and the others find its end, whoever starts them."""

import os
import shutil
import subprocess
import tempfile

from launching import HIROBARUN, PYTHON, Ended, LauncherTest, main

# Says what it read. Without a job's variables (from mpirun) the ranks are told apart by the launcher's.
READING = """
import os, sys
names = ("HIROBA_JOB", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
rank = next(os.environ[name] for name in names if name in os.environ).split(":")[0]
try: text = os.read(0, 1 << 16) if rank != "0" or len(sys.argv) > 1 else sys.stdin.buffer.read()
except OSError as error: text = str(error).encode()
os.write(1, f"rank {rank} read {len(text)} {text[:4]}\\n".encode())
"""
NOT_READING = r"import os; os.write(1, b'not reading\n')"
WAYS: dict[str, list[str]] = {"hirobarun": []} | {
    mpi: ["--transport", "mpi", "--mpi", mpi]
    for mpi, launcher in (("openmpi", "mpirun.openmpi"), ("mpich", "mpirun.mpich"))
    if shutil.which(launcher)
}
LARGE = 3 << 20


class Input(LauncherTest):
    def setUp(self) -> None:
        super().setUp()
        if os.geteuid() == 0:
            self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def each(self, words: list[str], *lines: str, **settings: object) -> None:
        for way, options in WAYS.items():
            with self.subTest(way=way):
                result = self.read(options, words, **settings)
                self.assertEqual((result.returncode, sorted(result.stdout.splitlines())), (0, sorted(lines)), result)

    def read(self, options: list[str], words: list[str], **settings: object) -> Ended:
        command = [HIROBARUN, "-n", "2", *options, PYTHON, "-c", *words]
        done = subprocess.run(  # type: ignore[call-overload]
            command, capture_output=True, text=True, timeout=120, env=self.environment, check=False, **settings
        )
        return Ended(done.returncode, done.stdout, done.stderr, 0)

    def test_pipe(self) -> None:
        self.each([READING], "rank 0 read 8 b'one\\n'", "rank 1 read 0 b''", input="one\ntwo\n")

    def test_large(self) -> None:
        self.each([READING], f"rank 0 read {LARGE} b'xxxx'", "rank 1 read 0 b''", input="x" * LARGE)

    def test_large_and_not_read(self) -> None:
        self.each([NOT_READING], "not reading", "not reading", input="x" * LARGE)

    def test_file(self) -> None:
        with tempfile.TemporaryFile("w+") as file:
            file.write("one\ntwo\n")
            file.flush()
            for way, options in WAYS.items():
                file.seek(0)
                with self.subTest(way=way):
                    result = self.read(options, [READING], stdin=file)
                    lines = ["rank 0 read 8 b'one\\n'", "rank 1 read 0 b''"]
                    self.assertEqual((result.returncode, sorted(result.stdout.splitlines())), (0, lines), result)

    def test_a_loop_keeps_its_input(self) -> None:
        """What rank 0 does not read is left: a loop over lines that starts a job for each gets all of them."""
        loop = "while read -r line; do echo $line; {} -n 2 {} sh -c '{}'; done"
        reads = "case ${HIROBA_JOB:-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in 0*) read -r next; echo got $next;; esac"
        for way, options in WAYS.items():
            with self.subTest(way=way):
                words = ["sh", "-c", loop.format(HIROBARUN, " ".join(options), reads)]
                done = subprocess.run(
                    words, env=self.environment, input="one\ntwo\nthree\n", capture_output=True, text=True, timeout=120,
                    check=False,
                )  # fmt: skip
                self.assertEqual((done.stdout.split(), done.stderr), (["one", "got", "two", "three", "got"], ""))

    def test_closed(self) -> None:
        lines = "rank 0 read 0 b''", "rank 1 read 0 b''"
        self.each([READING], *lines, stdin=None, preexec_fn=lambda: os.close(0))

    def test_nothing(self) -> None:
        self.each([READING], "rank 0 read 0 b''", "rank 1 read 0 b''", stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
