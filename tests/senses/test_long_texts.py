"""Texts without end: how much of one is looked at, counted and not timed. `bench/long_texts.py` measures the rest."""

from collections import Counter

import pytest

from soulgraph.senses import common_words, grounding, tokenizer
from soulgraph.stores.episodes import index_columns

ENDLESS = ["y" * 400_000, "ies" * 130_000, "1" * 400_000, "a\u0301" * 200_000, "\u200b" * 400_000, "好" * 400_000]
STEMMED = (tokenizer._stem, tokenizer._terms_of, common_words.is_common, common_words._words)


class Stemmer:
    """Notes the length of every word it is given."""

    def __init__(self) -> None:
        self.lengths: Counter[int] = Counter()

    def stemWord(self, word: str) -> str:  # noqa: N802
        self.lengths[len(word)] += 1
        return word


@pytest.fixture
def stemmer(monkeypatch):
    found = Stemmer()
    for module in (tokenizer, common_words):
        monkeypatch.setattr(module, "_stemmer", lambda: found)
    for cached in STEMMED:
        cached.cache_clear()
    yield found
    for cached in STEMMED:
        cached.cache_clear()


@pytest.mark.parametrize("text", ENDLESS, ids=lambda text: text[:3])
def test_no_endless_word_reaches_the_stemmer(stemmer, text):
    tokenizer.terms_of(text)
    tokenizer.query_terms(text)
    index_columns(text, 0.0, None)
    common_words.is_common(text)
    assert max(stemmer.lengths, default=0) <= tokenizer.MAX_WORD


def test_a_word_of_any_length_is_found_by_itself():
    word = "y" * 400_000
    indexed = tokenizer.fingerprints(f"{word} and tea")
    assert all(term.to_bytes(4, "little") in indexed for term in tokenizer.query_terms(word))


def test_a_text_is_indexed_by_its_beginning():
    beginning = "tea on Monday " * 600
    assert len(beginning) > tokenizer.MAX_CHARS
    assert index_columns(beginning + "axolotl", 0.0, None)["terms"] == index_columns(beginning, 0.0, None)["terms"]


def test_each_clause_is_read_once_however_many_it_is_held_against(monkeypatch):
    read: Counter[str] = Counter()
    said = grounding._said
    monkeypatch.setattr(grounding, "_said", lambda text: read.update([text]) or said(text))
    claim = ", ".join(f"likes tea{n}x" for n in range(20))
    assert grounding.grounded(claim, [f"She {claim}"])
    assert max(read.values()) == 1


def test_a_note_of_very_many_clauses_is_none():
    claim = ", ".join(f"tea{n}x" for n in range(60))
    assert not grounding.grounded(claim, [claim])
