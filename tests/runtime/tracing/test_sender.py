"""The thread that sends: it loses what is too much, survives what it cannot tell, and ends in time."""

import logging
import threading
import time
from uuid import uuid4

import pytest

from soulgraph.runtime.tracing import sender
from soulgraph.runtime.tracing.runs import Run, RunTree
from soulgraph.runtime.tracing.sender import Sender
from soulgraph.runtime.tracing.trace import Trace


def tree(name="turn"):
    made = RunTree(Trace())
    made.runs.append(Run(uuid4(), made, None, "chain", name, {}, {}, (), 0))
    return made


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(sender, "_GATHER_S", 0.05)
    monkeypatch.setattr(logging.getLogger(sender.__name__), "filters", [])


def names(tree):
    return [run.name for run in tree.runs]


def test_what_comes_together_is_sent_together_and_closing_sends_the_rest():
    sent = []
    sending = Sender("test", names, sent.append)
    for name in "abc":
        sending.put(tree(name))
    sending.close()
    assert [name for batch in sent for name in batch] == ["a", "b", "c"]
    assert len(sent) <= 2


def test_while_nothing_can_be_sent_a_bounded_number_waits_and_one_line_says_so(monkeypatch, caplog):
    monkeypatch.setattr(sender, "_MAX_WAITING", 5)
    away, sent = threading.Event(), []

    def send(batch):
        away.wait()
        sent.extend(batch)

    sending = Sender("test", names, send)
    for _ in range(30):
        sending.put(tree())
    assert len(sending._waiting) <= 5
    away.set()
    sending.close()
    assert 0 < len(sent) <= 15
    assert len([record for record in caplog.records if "does not keep up" in record.getMessage()]) == 1


def test_closing_does_not_wait_for_a_server_that_does_not_answer():
    stuck = threading.Event()
    sending = Sender("test", names, lambda batch: stuck.wait() and None)
    sending.put(tree())
    began = time.monotonic()
    sending.close(timeout_s=0.2)
    assert time.monotonic() - began < 5
    assert sending._thread.daemon  # nor does the end of the process
    stuck.set()


def test_a_trace_that_cannot_be_told_is_left_out_and_the_next_is_sent(caplog):
    sent = []

    def prepare(tree):
        if tree.root.name == "odd":
            raise TypeError("no data")
        return names(tree)

    sending = Sender("test", prepare, sent.extend)
    sending.put(tree("odd"))
    sending.put(tree("plain"))
    sending.close()
    assert sent == ["plain"]
    assert "the trace of odd cannot be told" in caplog.text
