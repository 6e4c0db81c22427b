"""What of a text its author says in their own voice: not what they quote, read aloud, paste or pass on.

Only that can become a preference, a fact, a plan or a memory: whoever reads a leaflet to a soul does not mean what the
leaflet says. What is somebody else's is blanked, so that every other character stays at its place.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files

import yaml

Span = tuple[int, int]

MAX_CHARS = 4000
"""Of a text: only its beginning is looked at. What follows is taken for nobody's."""

_PAIRS = {"“": "”", "「": "」", "『": "』", "《": "》", "‘": "’'", "«": "»", "„": "“”"}
_OPENING = re.compile(r"[“「『《‘«„]|(?<![\w\"])\"(?=\S)|(?<!\w)'(?=\S)|`+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_NEXT = re.compile(r"[\s,，:：—–-]*")
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.(?=\s|$)")
_SPOKEN_END = re.compile(
    r"\b(?:unquote|un-quote|end (?:of )?quote|close quote)\b|引用完毕?|引用结束|念完了", re.IGNORECASE
)
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]", re.IGNORECASE)
_TITLE = 12  # Chinese characters
_TITLE_WORDS = 6


def own_words(text: str, blank: str = " ", names: bool = True) -> str:
    """The text with everything blanked that is not its author's own; line breaks stay.

    `names`: a quotation of a word or two is a name, and stays with its marks.
    """
    return _blanked(text, borrowed_spans(text, is_name if names else _no_name), blank)


def own_statements(text: str) -> str:
    """The same for comparison with what somebody claims was said: titles of songs and the like are one's own too."""
    return _blanked(text, borrowed_spans(text, _is_title), " ")


def borrowed_words(text: str) -> list[str]:
    """What in a text is somebody else's, as it stands there."""
    return [text[start:end] for start, end in borrowed_spans(text[:MAX_CHARS], _is_title)]


def is_name(quoted: str) -> bool:
    """Whether a quotation is a name or a nickname, and nobody's sentence."""
    return len(quoted) <= 4 or (quoted.isascii() and len(quoted.split()) <= 2)


def _no_name(quoted: str) -> bool:
    return False


def _is_title(quoted: str) -> bool:
    if is_name(quoted):
        return True
    return len(_WORD.findall(quoted)) <= (_TITLE_WORDS if quoted.isascii() else _TITLE) and not gives_orders(quoted)


def gives_orders(text: str) -> bool:
    """Whether a text tells its reader how to behave, or what to keep, from now on."""
    return _pattern("orders").search(text) is not None


@lru_cache(maxsize=1024)  # all that is in a prompt is looked at again in every turn
def borrowed_spans(text: str, keeps: Callable[[str], bool]) -> tuple[Span, ...]:
    """Where a text is not its author's own, in order and without overlaps, but for the quotations that it `keeps`."""
    rest = [(MAX_CHARS, len(text))] if len(text) > MAX_CHARS else []
    text = text[:MAX_CHARS]
    quoted = [span for span in _quotations(text) if not keeps(text[span[0] + 1 : span[1] - 1].strip("`\"'”’」』》»"))]
    return (*_merged(sorted([*_passed_on(text), *quoted, *rest])),)


@lru_cache(maxsize=64)
def _passed_on(text: str) -> tuple[Span, ...]:
    """All but the quotations; remembered, because a turn asks about a text with several ideas of what they keep."""
    return *_framed(text), *_machine(text)


def _blanked(text: str, spans: Iterable[Span], blank: str) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], re.sub(r"[^\n]", blank, text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _merged(spans: list[Span]) -> Iterator[Span]:
    start = end = -1
    for begins, ends in spans:
        if begins > end:
            if end > start:
                yield start, end
            start, end = begins, ends
        end = max(end, ends)
    if end > start:
        yield start, end


def _quotations(text: str) -> Iterator[Span]:
    """Each outermost quotation with its marks, on several lines too. One that nobody closes ends with the paragraph."""
    at = 0
    while opened := _OPENING.search(text, at):
        end = _closed(text, opened)
        if end is None:
            at = opened.end()
            continue
        yield opened.start(), end
        at = end


def _closed(text: str, opened: re.Match[str]) -> int | None:
    """Where the quotation ends; None if it is none: an apostrophe, or a mark that is never closed."""
    mark, at = opened[0], opened.end()
    if mark in _PAIRS:
        return _closed_pair(text, mark, at)
    pattern = re.escape(mark) if mark.startswith("`") else rf"(?<=\S){mark}(?!\w)"
    found = re.compile(pattern).search(text, at)
    if found and (mark != "'" or "\n" not in text[at : found.start()]):
        return found.end()
    return None if mark == "'" or (mark == '"' and found) else _end_of_paragraph(text, at)


def _closed_pair(text: str, mark: str, at: int) -> int:
    """With quotations of the same kind inside it."""
    depth = 1
    for n in range(at, len(text)):
        depth += (text[n] == mark) - (text[n] in _PAIRS[mark] and not _is_apostrophe(text, n))
        if depth == 0:
            return n + 1
    return _end_of_paragraph(text, at)


def _is_apostrophe(text: str, n: int) -> bool:
    return (
        text[n] in "’'"
        and n + 1 < len(text)
        and text[n - 1].isalnum()
        and text[n + 1].isascii()
        and text[n + 1].isalnum()
    )


def _end_of_paragraph(text: str, at: int) -> int:
    found = _BLANK_LINE.search(text, at)
    return found.start() if found else len(text)


def _framed(text: str) -> Iterator[Span]:
    """What follows words like "the leaflet says:". A quotation ends with its marks, anything else with the text."""
    for frame in _pattern("reads").finditer(text):
        begins = _NEXT.match(text, frame.end()).end()  # type: ignore[union-attr]
        opened = _OPENING.match(text, begins)
        closed = _closed(text, opened) if opened else None
        yield begins, closed or len(text)
    if head := _pattern("heads").search(text):
        yield head.start(), len(text)
    yield from _spoken(text)
    for frame in _pattern("reports").finditer(text):
        ended = _SENTENCE_END.search(text, frame.end())
        yield frame.start(), ended.start() if ended else len(text)
    if _pattern("works_on").search(text):
        yield from _beside_request(text)


def _spoken(text: str) -> Iterator[Span]:
    """What stands between "quote" and "unquote"."""
    at = 0
    while frame := _pattern("spoken").search(text, at):
        end = _SPOKEN_END.search(text, frame.end())
        at = end.end() if end else len(text)
        yield frame.start(), at


def _beside_request(text: str) -> Iterator[Span]:
    """A text that somebody wants translated or explained: all lines but the one that asks for it."""
    at = 0
    for line in text.split("\n"):
        if not _pattern("works_on").search(line):
            yield at, at + len(line)
        at += len(line) + 1


def _machine(text: str) -> Iterator[Span]:
    """Code, lines that mail programs quote, tags and data: nobody talks like that."""
    return (found.span() for found in _pattern("machine").finditer(text))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    lists = yaml.load((files(__package__) / "own_words.yaml").read_text("utf-8"), yaml.CSafeLoader)
    parts: dict[str, str] = lists["parts"]
    expressions = "|".join(lists[name])
    for part, words in parts.items():
        expressions = expressions.replace(f"{{{part}}}", words)
    return re.compile(expressions, re.IGNORECASE | re.MULTILINE)
