"""Concepts that Chinese and English words share, so that a query finds texts in the other language."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

ConceptsByWord = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Synonyms:
    english: ConceptsByWord
    """Keyed by stem."""
    chinese: ConceptsByWord
    max_length: int
    """Characters of the longest Chinese word."""

    def concepts(self, text: str, stems: Iterable[str]) -> list[str]:
        """The concepts of a text with these stems, each once; they begin with "=", so none is equal to a word."""
        by_stem = [concept for stem in stems for concept in self.english.get(stem, ())]
        by_word = [concept for word in self._chinese_words(text) for concept in self.chinese[word]]
        return list(dict.fromkeys(by_stem + by_word))

    def _chinese_words(self, text: str) -> Iterator[str]:
        """The known Chinese words of a text, by longest match from left to right."""
        at = 0 if not text.isascii() else len(text)
        while at < len(text):
            word = next((text[at : at + n] for n in self._lengths if text[at : at + n] in self.chinese), "")
            if word:
                yield word
            at += len(word) or 1

    @property
    def _lengths(self) -> range:
        return range(self.max_length, 0, -1)


def build_synonyms(groups: Iterable[Sequence[str]], stem: Callable[[str], str]) -> Synonyms:
    """The words of a group share one concept, which is named after the first of them."""
    english: ConceptsByWord = {}
    chinese: ConceptsByWord = {}
    for words in groups:
        for word in words:
            index, key = (english, stem(word)) if word.isascii() else (chinese, word)
            if key:
                index.setdefault(key, []).append(f"={words[0]}")
    return Synonyms(english, chinese, max(map(len, chinese), default=0))


@cache
def synonym_groups() -> list[list[str]]:
    """The groups of `synonyms.yaml`."""
    fields: dict[str, list[str]] = yaml.load(
        (files(__package__) / "synonyms.yaml").read_text("utf-8"), yaml.CSafeLoader
    )
    return [line.split() for lines in fields.values() for line in lines]
