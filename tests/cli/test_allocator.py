"""Memory that was freed goes back to the operating system."""

import platform
import subprocess
import sys

import pytest

from soulgraph.cli import allocator, hosting
from soulgraph.settings import Settings

ONLY_GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such options")
# What is mapped for itself is given back when it is freed. The first free would raise the size from which that is so.
MAPPED = """
import ctypes
from soulgraph.cli.allocator import give_memory_back

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]


class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "more", "rest")]
    _fields_ += [(f"f{n}", ctypes.c_int) for n in range(3)]


libc.mallinfo.restype = Info
give_memory_back()
libc.free(libc.malloc(8 * 1024 * 1024))
before = libc.mallinfo().hblks
libc.malloc(512 * 1024)
print(libc.mallinfo().hblks - before)
"""


@ONLY_GLIBC
def test_large_arrays_stay_apart_from_small_objects():
    assert subprocess.run([sys.executable, "-c", MAPPED], check=True, capture_output=True, text=True).stdout == "1\n"


@pytest.mark.parametrize("serve", [hosting.host, hosting.host_beside_others])
def test_a_server_begins_with_it(serve, monkeypatch):
    class Begun(Exception):
        pass

    def give_memory_back():
        raise Begun

    monkeypatch.setattr(hosting, "give_memory_back", give_memory_back)
    with pytest.raises(Begun):
        serve(Settings.load(), print)


def test_a_library_without_the_options_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda name: object())
    allocator.give_memory_back()
