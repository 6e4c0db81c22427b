"""How the C library keeps the memory that a server no longer uses."""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # as <malloc.h> numbers them
_OPTIONS = {_ARENA_MAX: 2, _MMAP_THRESHOLD: 256 * 1024, _TRIM_THRESHOLD: 1024 * 1024}


def give_memory_back() -> None:
    """Have glibc return what was freed; to be called before there are threads. Other C libraries are left as they are.

    By itself it keeps an arena for each of many threads, and puts ever larger arrays among small objects, where their
    place stays taken when they are gone.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for option, value in _OPTIONS.items():
            mallopt(option, value)
