"""own_files.py: what is written where other users have planted links, FIFOs and files."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path

from hiroba import own_files

NOBODY = 65534


class OwnFiles(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.victim = self.folder / "victim"
        self.victim.write_text("precious")

    def test_link_with_the_name_of_a_part(self) -> None:
        part, file = self.folder / "a.npy.part", self.folder / "a.npy"
        part.symlink_to(self.victim)
        with own_files.create(part, file, own_files.SHARED) as opened:
            opened.write(b"mine")
        with own_files.reopen(part) as opened:
            opened.write(b"ours")
        self.assertEqual((self.victim.read_text(), part.read_text()), ("precious", "ours"))

    def test_link_with_the_name_of_the_file(self) -> None:
        file = self.folder / "a.html"
        file.symlink_to(self.victim)
        own_files.write_whole(file, "mine", own_files.PRIVATE)
        self.assertEqual((self.victim.read_text(), file.read_text()), ("precious", "mine"))
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)

    def test_mode_of_the_older_file(self) -> None:
        for mode in (0o600, 0o640, 0o664):
            self.victim.chmod(mode)
            own_files.write_whole(self.victim, "mine", own_files.PRIVATE)
            self.assertEqual(self.victim.stat().st_mode & 0o777, mode)

    def test_no_files(self) -> None:
        fifo, link = self.folder / "fifo", self.folder / "link"
        os.mkfifo(fifo)
        link.symlink_to(self.victim)
        for name in (fifo, self.folder):
            with self.assertRaises(OSError):
                own_files.write_whole(name, "x", own_files.PRIVATE)
        for name in (fifo, link, self.folder):
            with self.assertRaises(OSError):
                own_files.reopen(name)
        self.assertEqual(set(self.folder.iterdir()), {fifo, link, self.victim})

    def test_of_another_user(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can make files of other users")
        link = self.folder / "link"
        link.symlink_to(self.victim)
        own_files.refuse_links_of_others(link)
        os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
        with self.assertRaises(PermissionError):
            own_files.refuse_links_of_others(link)
        os.chown(self.victim, NOBODY, NOBODY)
        self.victim.chmod(0o666)
        with self.assertRaises(PermissionError):
            own_files.reopen(self.victim)
        own_files.write_whole(self.victim, "mine", own_files.PRIVATE)
        self.assertEqual(self.victim.stat().st_mode & 0o777, 0o600)


if __name__ == "__main__":
    unittest.main()
