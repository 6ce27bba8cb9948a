"""What has been started and goes on while the program computes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from typing import Any

from hiroba.job import library
from hiroba.library import Handle


class Request:
    """Wait for it once: `request.wait()`, or `await request`. Buffers that it uses live as long as it does."""

    def __init__(self, handle: Handle, used: object = None, result: Callable[[], Any] = lambda: None) -> None:
        self._handle, self._used, self._result = handle, used, result

    def wait(self) -> Any:
        """Blocks until it is complete, and returns the result."""
        library.hiroba_wait(ctypes.byref(self._handle))
        self._used = None
        return self._result()

    def done(self) -> bool:
        """Whether wait() would return at once. Lets it advance."""
        out = ctypes.c_int()
        library.hiroba_test(ctypes.byref(self._handle), ctypes.byref(out))
        return out.value != 0

    def __await__(self) -> Generator[None, None, Any]:
        while not self.done():
            yield
        return self.wait()
