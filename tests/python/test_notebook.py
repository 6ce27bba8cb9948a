"""`%%hiroba` in notebooks that nobody looks at: each test is one, run by nbclient in a kernel. Exits with 77 without
it."""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest
from typing import Any

if importlib.util.find_spec("nbclient") is None or importlib.util.find_spec("ipykernel") is None:
    print("no nbclient, or no ipykernel")
    sys.exit(77)
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

LOADED = "The hiroba extension is already loaded. To reload it, use:\n  %reload_ext hiroba"
SECONDS = 300  # of a cell


def text_of(cell: Any) -> str:
    """What a cell has printed and shown, in order."""
    parts: list[str] = []
    for output in cell.outputs:
        if output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}\n" + "\n".join(output.traceback))
        else:
            parts.append(output.text if output.output_type == "stream" else output.data["text/plain"])
    return "".join(parts)


class Notebooks(unittest.TestCase):
    client: Any

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = NotebookClient(
            nbformat.v4.new_notebook(), timeout=SECONDS, allow_errors=True, coalesce_streams=True, kernel_name="python3"
        )
        cls.client.create_kernel_manager()
        cls.client.start_new_kernel()
        cls.client.start_new_kernel_client()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.client._cleanup_kernel()

    def run_cells(self, *cells: str, interrupt: bool = False) -> list[Any]:
        """Runs all cells, also after one that failed, beginning without a job; interrupts the first one when it has
        printed something."""
        before = [nbformat.v4.new_code_cell(text) for text in ("%load_ext hiroba", "%hiroba stop")]
        book = [nbformat.v4.new_code_cell(text) for text in cells]
        self.client.nb.cells = [*before, *book]
        if interrupt:
            threading.Thread(target=self.interrupt, args=(book[0],)).start()
        for index, cell in enumerate(self.client.nb.cells):
            self.client.execute_cell(cell, index)
        self.assertIn(text_of(before[0]), ("", f"{LOADED}\n"))
        return book

    def interrupt(self, cell: Any) -> None:
        for _ in range(SECONDS * 10):
            if cell.outputs:
                break
            time.sleep(0.1)
        time.sleep(0.2)  # the other rank, too
        os.kill(self.client.km.provisioner.pid, signal.SIGINT)

    def test_output_of_all_ranks(self) -> None:
        first, later = self.run_cells(
            "%%hiroba -n 3 --nodes 2\n"
            "import hiroba\n"
            "A = hiroba.zeros(9)\n"
            "A.local[...] = hiroba.rank\n"
            "print('rank', hiroba.rank, hiroba.node)",
            "%%hiroba\nprint(hiroba.size)\nfloat(A.sum())",
        )
        self.assertEqual(text_of(first), "rank 0 0\nrank 1:\nrank 1 0\nrank 2:\nrank 2 1\n")
        self.assertEqual(first.outputs[1].data["text/html"].count("<details>"), 2)
        self.assertEqual(text_of(later), "3\n9.0ranks 1, 2:\n3\n9.0\n")

    def test_pictures(self) -> None:
        (cell,) = self.run_cells("%%hiroba -n 2\nfrom matplotlib.figure import Figure\nFigure(figsize=(1, 1))")
        self.assertIn("image/png", cell.outputs[0].data)
        of_show, of_end, none = self.run_cells(
            "%%hiroba -n 2\nfrom matplotlib import pyplot\nfor i in 1, 2:\n    pyplot.plot([1, i])\n    pyplot.show()\n"
            "print('after')",
            "%%hiroba\npyplot.figure()\npyplot.plot([1, 2]);",
            "%%hiroba\nprint('none')",
        )
        for cell, pictures in ((of_show, 2), (of_end, 1), (none, 0)):
            self.assertEqual(sum("image/png" in each.get("data", {}) for each in cell.outputs), pictures, cell.outputs)
        self.assertNotIn("Warning", text_of(of_show))

    def test_exceptions(self) -> None:
        everywhere, one, later = self.run_cells(
            "%%hiroba -n 2\nimport hiroba\nx = 5\nnothing",
            "%%hiroba\nif hiroba.rank == 1:\n    1 / 0",
            "%%hiroba\nx",
        )
        text = text_of(everywhere)
        self.assertRegex(text, "all 2 ranks: NameError: name 'nothing'")
        self.assertRegex(text, r'File "cell \d+", line 4, in <module>\n    nothing')
        self.assertNotIn("notebook/", text)
        self.assertIn("rank 1: ZeroDivisionError", text_of(one))
        self.assertTrue(text_of(later).startswith("5"), text_of(later))

    def test_a_rank_that_others_wait_for(self) -> None:
        one, later = self.run_cells(
            "%%hiroba -n 2 --nodes 2\nimport hiroba\nif hiroba.rank == 1:\n    1 / 0\nhiroba.barrier()",
            "%%hiroba\nhiroba.rank",
        )
        self.assertRegex(text_of(one), r"the job has ended: hiroba: .*cell \d+:5")
        self.assertRegex(text_of(one), r"Before, rank 1 had:\n(.*\n)*ZeroDivisionError")
        self.assertIn("NameError", text_of(later))  # of a new job

    def test_dead_ranks(self) -> None:
        for death in (
            "import os; os._exit(3)",
            "import os; os.kill(os.getpid(), 9)",
            "import ctypes; ctypes.string_at(16)",
        ):
            begin = time.monotonic()
            (cell,) = self.run_cells(
                f"%%hiroba -n 2 --nodes 2\nimport hiroba\nif hiroba.rank == 1:\n    {death}\nhiroba.barrier()"
            )
            self.assertRegex(text_of(cell), r"JobEndedError.*the job has ended: hiroba(run)?: .*rank 1")
            self.assertLess(time.monotonic() - begin, 20)

    def test_death_between_cells(self) -> None:
        process, _, later, next_one = self.run_cells(
            "%%hiroba -n 2\nimport os\nimport threading\ntimer = threading.Timer(0.5, os._exit, (3,))\ntimer.start()",
            "import time; time.sleep(3)",
            "%%hiroba\n1",
            "%%hiroba\n1",
        )
        self.assertEqual(text_of(process), "")
        self.assertRegex(text_of(later), "the job has ended since the last cell: hirobarun: .*status 3")
        self.assertIn("1", text_of(next_one))

    def test_interrupt(self) -> None:
        cell, later = self.run_cells(
            "%%hiroba -n 2\nx = 7\nimport time\nprint('sleeps', flush=True)\ntime.sleep(50)",
            "%%hiroba\nx",
            interrupt=True,
        )
        self.assertIn("all 2 ranks: KeyboardInterrupt", text_of(cell))
        self.assertTrue(text_of(later).startswith("7"), text_of(later))

    def test_interrupt_of_a_rank_that_waits(self) -> None:
        (cell,) = self.run_cells(
            "%%hiroba -n 2\nimport hiroba\nimport time\nprint('waits', flush=True)\n"
            "if hiroba.rank == 0:\n    hiroba.barrier()\ntime.sleep(50)",
            interrupt=True,
        )
        self.assertRegex(text_of(cell), "JobEndedError: the job has ended: hiroba: ")

    def test_restart_and_stop(self) -> None:
        _, other, again, gone, stopped = self.run_cells(
            "%%hiroba -n 2\nx = 1",
            "%%hiroba -n 3\nx",
            "%hiroba restart -n 3",
            "%%hiroba -n 3\nx",
            "%hiroba stop",
        )
        self.assertIn("%hiroba restart -n 3 starts another one", text_of(other))
        self.assertEqual(text_of(again), "3 ranks: hirobarun -n 3\n")
        self.assertIn("NameError", text_of(gone))
        self.assertEqual(text_of(stopped), "no job\n")

    def test_options_that_hirobarun_refuses(self) -> None:
        (cell,) = self.run_cells("%%hiroba -n 0\n1")
        self.assertRegex(text_of(cell), "the job could not start: hirobarun: ")

    def test_the_kernel_is_no_rank(self) -> None:
        (cell,) = self.run_cells("import hiroba\nhiroba.zeros(3)")
        self.assertRegex(text_of(cell), r"begin cells with %%hiroba -n 2")

    def test_the_example(self) -> None:
        path = pathlib.Path(__file__).parents[2] / "examples" / "heat.ipynb"
        book = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            client = NotebookClient(book, timeout=SECONDS, resources={"metadata": {"path": folder}})
            try:
                client.execute()
            except CellExecutionError as error:
                self.fail(str(error))
        self.assertIn("image/png", book.cells[-1].outputs[0].data)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    os.environ["PATH"] = f"{arguments.bin}:{os.environ['PATH']}"
    unittest.main(argv=[sys.argv[0], *rest])
