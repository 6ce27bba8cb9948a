"""Reports of runs: the page in a browser.

report_page.py BUILD [TEST ...]
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import unittest
import unittest.mock
from pathlib import Path

from report import Reports, run


class Page(Reports):
    """In a browser."""

    SECTIONS = ("advice", "time", "path", "places", "locks", "timeline", "arrays", "bytes", "energy", "settings")

    def browse(self, page: Path, *words: str, part: str = "") -> subprocess.CompletedProcess[str]:
        browser = shutil.which("chromium")
        if browser is None:
            print("SKIPPED: the page of a report is tested in Chromium: apt install chromium", file=sys.stderr)
            self.skipTest("no chromium")
        home = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/browser"]
        quiet = ["--host-resolver-rules=MAP * 0.0.0.0", "--enable-logging=stderr", "--virtual-time-budget=5000"]
        command = [browser, *home, *quiet, *words, page.as_uri() + part]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def check(self, page: Path) -> str:
        seen = self.browse(page, "--dump-dom")
        self.assertEqual(seen.returncode, 0, seen.stderr)
        self.assertNotIn("CONSOLE", seen.stderr)
        for section in self.SECTIONS:
            self.assertIn(f'<section id="{section}">', seen.stdout)
        return seen.stdout

    def test_page(self) -> None:
        page = self.folder / "run.html"
        self.assertEqual(run(page, "missing_preload", ranks=4).returncode, 0)
        self.assertLess(page.stat().st_size, 5e6)
        self.assertNotIn("http", page.read_text().split('id="data">')[0])
        seen = self.check(page)
        self.assertIn("missing preload", seen.split('id="data">')[0])
        zoomed = self.browse(page, "--dump-dom", part="#timeline=0.1-0.2").stdout
        drawn = [int(re.findall(r'data-drawn="([0-9]+)"', text)[0]) for text in (seen, zoomed)]
        self.assertGreater(drawn[1], 0)
        self.assertLess(drawn[1], drawn[0])
        kept = os.environ.get("SCREENSHOTS")
        for name, scheme, size in (("light", 1, "1000,2400"), ("dark", 0, "1000,2400"), ("phone", 1, "500,2400")):
            out = Path(kept or self.folder) / f"{name}.png"
            settings = [f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={size}"]
            self.browse(page, f"--screenshot={out}", "--hide-scrollbars", *settings)
            self.assertGreater(out.stat().st_size, 10000)

    def test_page_of_a_killed_rank(self) -> None:
        page = self.folder / "run.html"
        self.assertEqual(run(page, "killed").returncode, 128 + 9)
        self.assertIn("did not come to its end", self.check(page))

    def test_texts_stay_texts(self) -> None:
        """Also bytes that are no UTF-8, and a comment in which a script would begin."""
        page = self.folder / "run.html"
        with unittest.mock.patch.dict(os.environb, {b"OMP_TEXT": b"\xff<!--<script>"}):
            self.assertEqual(run(page, "names").returncode, 0)
        seen = self.check(page)
        self.assertIn("&lt;/script&gt;&lt;b&gt;", seen)
        self.assertIn("\ufffd&lt;!--&lt;script&gt;", seen)

    def test_on_a_phone(self) -> None:
        """Nothing but tables, which scroll by themselves, is wider than the screen."""
        page = self.folder / "run.html"
        self.assertEqual(run(page, "worst_placement", ranks=4).returncode, 0)
        page.write_text(
            page.read_text()
            + "<script>document.title = `${document.documentElement.scrollWidth} of ${innerWidth}`</script>"
        )
        seen = self.browse(page, "--dump-dom", "--window-size=500,2400").stdout
        wide, screen = map(int, re.findall(r"<title>([0-9]+) of ([0-9]+)</title>", seen)[0])
        self.assertLessEqual(wide, screen)
        self.assertIn("received by the node of a row from the node of a column", seen)


if __name__ == "__main__":
    unittest.main()
