"""What hiroba tune chooses from times that are made up, and that it runs."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import run


def times(of_size: dict[int, float], operations: tuple[str, ...] = ("allgather", "bcast", "allreduce")) -> run.Times:
    return {f"{name}_{size}": seconds for name in operations for size, seconds in of_size.items()}


class TuneTest(unittest.TestCase):
    def test_lanes_end_where_they_become_slower(self) -> None:
        lane, other = times({8: 1, 64: 1, 512: 3, 4096: 1}), times({8: 2, 64: 2, 512: 2, 4096: 2})
        self.assertEqual(64, run.last_faster(lane, other, run.COPIED, run.LANE_MOST))
        self.assertEqual(8, run.last_faster(lane, other, run.COPIED, 8))
        self.assertEqual(0, run.last_faster(other, lane, run.COPIED, run.LANE_MOST))

    def test_slices_begin_where_they_stay_faster(self) -> None:
        slices, other = times({8: 1, 64: 3, 512: 1, 4096: 1}), times({8: 2, 64: 2, 512: 2, 4096: 2})
        self.assertEqual(512, run.first_faster(slices, other, run.COMBINED))
        self.assertEqual(run.NEVER, run.first_faster(other, slices, run.COMBINED))

    def test_differences_within_the_noise_do_not_count(self) -> None:
        lane, other = times({8: 1.04, 64: 1}), times({8: 1, 64: 2})
        self.assertEqual(64, run.last_faster(lane, other, run.COPIED, run.LANE_MOST))

    def test_slices_compete_with_the_better_of_the_others(self) -> None:
        lane, none, slices = times({8: 1, 64: 9}), times({8: 9, 64: 4}), times({8: 2, 64: 3})
        self.assertEqual({"lane_copied": 8, "lane_combined": 8, "sliced": 64}, run.choose(lane, none, slices))

    def test_it_writes_a_file_that_programs_can_use(self) -> None:
        hiroba = os.environ["HIROBA"]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tuning.txt"
            words = ["tune", "-n", "2", "--rounds", "1", "--most", "65536", "--output", str(file)]
            done = subprocess.run([hiroba, *words], capture_output=True, text=True, check=False, timeout=300)
            self.assertEqual((0, ""), (done.returncode, done.stderr if done.returncode else ""))
            names = [line.split()[0] for line in file.read_text().splitlines() if not line.startswith("#")]
            self.assertEqual(["lane_copied", "lane_combined", "sliced"], names)


if __name__ == "__main__":
    unittest.main()
