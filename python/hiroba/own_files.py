"""Files that are written in folders in which other users may make files, such as /tmp: no link and no file of another
user is written through. What src/base/files/own_file.hpp is for C++. Imports nothing of the package, so that commands
take it along without a job."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE = 0o600  # files that may have data of the program
SHARED = 0o666  # as the user's mask says
PERMISSIONS = 0o777


def create(file: Path, like: Path, mode: int) -> BinaryIO:
    """Makes a new file, after which an older one of this user is gone. If `like` is a file of this user, the new one
    gets the mode of that."""
    older = stat_of(like)
    if older is not None and not (stat.S_ISREG(older.st_mode) or stat.S_ISLNK(older.st_mode)):
        problem = errno.EISDIR if stat.S_ISDIR(older.st_mode) else errno.EINVAL
        raise OSError(problem, "it is there, and is no file" if problem == errno.EINVAL else os.strerror(problem), like)
    before = stat_of(file)
    if before is not None and (stat.S_ISREG(before.st_mode) or stat.S_ISLNK(before.st_mode)):
        file.unlink()
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    if older is not None and stat.S_ISREG(older.st_mode) and older.st_uid == os.geteuid():
        os.fchmod(descriptor, stat.S_IMODE(older.st_mode) & PERMISSIONS)
    return os.fdopen(descriptor, "w+b")


def reopen(file: Path) -> BinaryIO:
    """A file that another process of this user has made, for writing."""
    descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(descriptor)
        raise PermissionError(errno.EPERM, "it is no file of this user, and is left alone", file)
    return os.fdopen(descriptor, "r+b")


def write_whole(file: Path, text: str, mode: int) -> None:
    """The whole file or nothing, also if two processes write it. A link of that name is replaced, not followed."""
    draft = draft_of(file)
    try:
        with create(draft, file, mode) as opened:
            opened.write(text.encode())
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def draft_of(file: Path) -> Path:
    """A name beside this one that nobody can foretell."""
    return file.with_name(f"{file.name}.{secrets.token_hex(8)}")


def refuse_links_of_others(file: Path) -> None:
    """For libraries that open files by name, and follow links: those of this user and of root are meant."""
    found = stat_of(file)
    if found is not None and stat.S_ISLNK(found.st_mode) and found.st_uid not in (0, os.geteuid()):
        raise PermissionError(errno.EPERM, "it is a link of another user, which is not followed", file)


def stat_of(file: Path) -> os.stat_result | None:
    try:
        return file.lstat()
    except FileNotFoundError:
        return None
