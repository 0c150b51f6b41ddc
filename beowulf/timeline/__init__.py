"""The timeline: what each rank of an MPI program did and when, which message it waited for, what was on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

BEGIN_MARK, END_MARK = 10, 11  # levels of MPI_Pcontrol


@contextmanager
def mark(name: str) -> Iterator[None]:
    """Name a part of a program in its timeline, by `with`; nothing happens where the program is not recorded."""
    import ctypes

    control = getattr(ctypes.CDLL(None), "MPI_Pcontrol", None)
    text = ctypes.c_char_p(name.encode())
    if control:
        control(BEGIN_MARK, text)
    try:
        yield
    finally:
        if control:
            control(END_MARK, text)
