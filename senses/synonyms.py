"""VectorIndex that everyday words of both languages share, so that a question finds what was said in the other one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

import yaml

VectorIndex = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Synonyms:
    english: VectorIndex
    """By stem."""
    chinese: VectorIndex
    longest: int

    def meanings(self, text: str, stems: Iterable[str]) -> list[str]:
        """What a text of these stems speaks of, each meaning once; none of them looks like a word."""
        spoken = [meaning for stem in stems for meaning in self.english.get(stem, ())]
        written = [meaning for word in self._words(text) for meaning in self.chinese[word]]
        return list(dict.fromkeys(spoken + written))

    def _words(self, text: str) -> Iterator[str]:
        """The Chinese words in a text: from left to right, the longest that is known."""
        at = 0
        while at < len(text):
            word = next((text[at : at + n] for n in self._lengths if text[at : at + n] in self.chinese), "")
            if word:
                yield word
            at += len(word) or 1

    @property
    def _lengths(self) -> range:
        return range(self.longest, 0, -1)


def read_synonyms(lines: Iterable[Sequence[str]], stem: Callable[[str], str]) -> Synonyms:
    """A line names its meaning by its first word."""
    english: VectorIndex = {}
    chinese: VectorIndex = {}
    for words in lines:
        for word in words:
            by_word, key = (english, stem(word)) if word.isascii() else (chinese, word)
            if key:
                by_word.setdefault(key, []).append(f"={words[0]}")
    return Synonyms(english, chinese, max(map(len, chinese), default=0))


def everyday_words() -> list[list[str]]:
    fields: dict[str, list[str]] = yaml.safe_load((files(__package__) / "synonyms.yaml").read_text("utf-8"))
    return [line.split() for lines in fields.values() for line in lines]
