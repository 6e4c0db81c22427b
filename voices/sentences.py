"""A reply that comes in pieces, as sentences to be said aloud: without marks that only eyes understand."""

import re
from unicodedata import category

_CLOSERS = "\"'”’」』）)\\]"
_BREAK = re.compile(
    r"\n+"
    rf"|[。！？!?]*[。！？][{_CLOSERS}]*(?=\s*[^\s。！？!?{_CLOSERS}])"
    rf"|[!?]+[{_CLOSERS}]*(?=\s+[^\s!?{_CLOSERS}]|[^\x00-\x7f。！？{_CLOSERS}])"
    rf"|\.+[{_CLOSERS}]*(?=\s+[^\sa-z])"
)
"""Where a sentence ends, as far as what follows it is there already; question marks stand in addresses too."""
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:(?:[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|[a-z]\.[a-z])\.(?=\s)|(?:No|Nr)\.(?=\s+\d))"
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_LEAD = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|>\s+)+")
_MARKS = re.compile(r"[`~]+|\*+(?=\S)|(?<=\S)\*+|(?<!\w)_+|_+(?!\w)")
_LOOSE = re.compile(r"\s+(?=[.,!?;:。，！？；：])")
_READ_ALOUD = "°℃℉№©®™"
_JOINERS = "\ufe0f\ufe0e\u200d\u20e3"


MAX_SENTENCE = 300
"""Characters that are said in one go: some twenty seconds. A longer sentence is cut where one may breathe."""
_BREATH = re.compile(r"[,;:，、；：]\s*|\s+")


class Sentences:
    """Takes a text in pieces and gives its sentences, each as soon as it is whole."""

    def __init__(self) -> None:
        self._text = ""

    def feed(self, piece: str) -> list[str]:
        self._text += piece
        found = []
        while end := _end_of_first(self._text):
            found.append(self._text[:end])
            self._text = self._text[end:]
        return [*filter(None, map(spoken, found))]

    def rest(self) -> list[str]:
        """What has come last, although no end was seen."""
        rest = self.feed("")
        text = self._text
        self._text = ""
        return [*rest, *filter(None, [spoken(text)])]


def sentences_of(text: str) -> list[str]:
    """The sentences of a text that is there as a whole."""
    sentences = Sentences()
    return [*sentences.feed(text), *sentences.rest()]


def spoken(text: str) -> str:
    """The text as it is said: no emphasis, no list marks, no addresses of links, no emoji; empty if no word is left."""
    text = _MARKS.sub("", _LEAD.sub("", _LINK.sub(r"\1", text)))
    text = "".join(char for char in text if not _is_picture(char))
    text = _LOOSE.sub("", " ".join(text.split()))
    return text if re.search(r"\w", text) else ""


def _is_picture(char: str) -> bool:
    return char in _JOINERS or (category(char) in ("So", "Sk") and char not in _READ_ALOUD and not char.isascii())


def _end_of_first(text: str) -> int:
    """Where the first sentence ends; 0 if it may go on."""
    for found in _BREAK.finditer(text):
        if not (found[0] == "." and _ends_abbreviation(text, found.end())):
            return min(found.end(), _breath_in(text))
    return _breath_in(text) if len(text) > MAX_SENTENCE else 0


def _ends_abbreviation(text: str, at: int) -> bool:
    return any(found.end() == at for found in _ABBREVIATION.finditer(text, max(0, at - 8)))


def _breath_in(text: str) -> int:
    """The last place to breathe within the most that is said in one go."""
    if len(text) <= MAX_SENTENCE:
        return len(text)
    return max((found.end() for found in _BREATH.finditer(text[:MAX_SENTENCE])), default=MAX_SENTENCE)
