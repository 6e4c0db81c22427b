"""Events come out as they went in, however their bytes are cut and their lines end."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.voices.event_reader import EventReader

EVENTS = [b'{"a": 1}', "你好".encode(), b"two\nlines", b"[DONE]"]
CUTS = st.lists(st.integers(0, 200)).map(sorted)


def sent(line_end, space=b" "):
    lines = [b": a comment", b""]
    for event in EVENTS:
        lines += [b"event: message", *(b"data:" + space + part for part in event.split(b"\n")), b"id: 7", b""]
    return b"".join(line + line_end for line in lines)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("space", [b" ", b""])
@given(cuts=CUTS)
def test_how_the_bytes_are_cut_makes_no_difference(line_end, space, cuts):
    body, reader = sent(line_end, space), EventReader()
    pieces = [body[begin:end] for begin, end in pairwise([0, *(cut for cut in cuts if cut < len(body)), len(body)])]
    assert [event for piece in pieces for event in reader.feed(piece)] == EVENTS


def test_an_event_comes_with_the_last_byte_of_its_end_and_not_later():
    reader = EventReader()
    assert reader.feed(b"data: a\r\n\r") == [b"a"]
    assert reader.feed(b"\ndata: b\n") == []
    assert reader.feed(b"\n") == [b"b"]


@pytest.mark.parametrize(
    "nothing", [b"\n\n\n", b"event: ping\n\n", b"data:\n\n", b"data\n\n", b"<html>\n\n", b"data: x"]
)
def test_what_has_no_data_or_no_end_is_no_event(nothing):
    assert EventReader().feed(nothing) == []
