"""Rewrites untrusted text so that it cannot imitate the structure of a prompt and stays readable.

Persona files, cards, memories, templates, lore, user input and tool results all go through `defuse`. It compares
characters by their look (`lookalikes.py`): a tag in full-width letters is a tag.

| what                                | becomes          |
|---|---|
| a section marker: `---TITLE---`     | `·TITLE·`        |
| a tag of ours or a role's: `<system>` | `(system)`     |
| a role's bracket: `[INST]`          | `(INST)`         |
| a speaker at a line's start: `System:` | `“System”:`   |
| a role's heading: `### System`      | `· System`       |
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from soulgraph.prompts.lookalikes import LONG_DASHES, MARK, shadow, spelled_out, visible
from soulgraph.soul.patterns import lazy_pattern

Edit = tuple[int, int, str]
"""Start, end and replacement."""

_GAP = rf"[\s{MARK}]{{0,3}}"
_PAD = rf"[\s*{MARK}]{{0,3}}"
_ALSO = {
    "_": rf"[_.{MARK}\s-]{{0,3}}",
    "a": "[a4@]",
    "e": "[e3]",
    "i": "[il1!|]",
    "l": "[l1i|]",
    "m": "(?:m|rn)",
    "n": "[nv]",
    "o": "[o0]",
    "s": "[s5$]",
    "u": "[uvy]",
    "v": "[vu]",
    "助": "(?:助|且力)",
}


def _looks_like(word: str, gap: str) -> str:
    """A pattern for the word, with a digit or a sign for some of its letters; `gap` may stand between them."""
    return gap.join(_ALSO.get(letter, letter) for letter in word)


def _any_of(words: str) -> str:
    """A pattern for each of the words; their letters may carry accents."""
    return "|".join(_looks_like(word, f"{MARK}*") for word in words.split())


_OURS = "|".join(_looks_like(word, _GAP) for word in ("narrative", "state_update_json"))
_ROLES = (
    f"(?:{_any_of('system')})(?:[ _](?:prompt|message|instructions?))?"
    f"|{_any_of('assistant user human developer administrator admin instructions instruction tools tool')}"
    f"|(?:{_any_of('系统')})(?:提示词?|消息|指令)?|{_any_of('助手 用户 开发者 管理员 指令')}"
)
_TOKENS = _any_of(
    "start_of_turn end_of_turn tool_calls tool_call tool_results tool_result function_calls function_call"
    " thinking think sys inst bos eos"
)
_TOKENS += "|s"  # a digit or a dollar for it would be a comparison: 3 < 5
_IM = f"[|l1]?(?:{_any_of('im_start im_end endoftext')})[|l1]?"
_LESS = r"(?:<{1,3}|&lt;?|&\#0*60;?|&\#x0*3c;?|\\u003c)"
_MORE = r"(?:>{1,3}|&gt;?|&\#0*62;?|&\#x0*3e;?|\\u003e)"
_TAG = lazy_pattern(
    rf"({_LESS}){_PAD}[/\\]?{_PAD}(?:(?:{_OURS}|{_ROLES}|{_TOKENS}|{_IM})(?!\w)|\|)[^<>&\\\n]{{0,200}}({_MORE})?",
    re.ASCII,
)
_BRACKET = lazy_pattern(rf"(\[{{1,2}}){_GAP}/?{_GAP}(?:{_ROLES}|{_TOKENS}){_GAP}(\]{{1,2}})")
_SPACED = "|".join(_looks_like(word, _GAP) for word in ("system", "assistant", "user", "系统", "助手", "用户", "指令"))
_SPEAKER = lazy_pattern(rf"^[^\w\n“]*({_ROLES}|{_SPACED})(?=[ \t*_{MARK}]{{0,4}}:)", re.MULTILINE)
_HEADING = lazy_pattern(
    rf"^[ \t>]*((?:\#{MARK}*){{1,6}}|[=*~]{{2,}})(?=[ \t{MARK}]*(?:{_ROLES})(?![a-z]))", re.MULTILINE
)
_DASH = "[-一]"
_DASHES = lazy_pattern(rf"{_DASH}(?:[ \t{MARK}]{{0,3}}{_DASH})*+")
_LINE = lazy_pattern(r"[^\n]+")
_TABLE_LINE = lazy_pattern(r"(?=[^|+┌├└╔╠╚╭╰]{0,8}[|+┌├└╔╠╚╭╰])[^\w\n]+")
_BLANK = lazy_pattern(r"\n[ \t]*\n\s*\n")
_WORDY = lazy_pattern(r"\w")


@lru_cache(maxsize=1024)
def defuse(text: str) -> str:
    """The text without anything that looks like prompt structure; idempotent."""
    text = _BLANK.sub("\n\n", visible(text)).strip()
    spelled = spelled_out(text)
    defused = _without_structure(spelled)
    return defused if defused != spelled else text


def _without_structure(text: str) -> str:
    seen = shadow(text)
    for rule in (_tags, _brackets, _sections, _headings, _speakers):
        edited = _edited(text, rule(text, seen))
        if edited != text:
            text, seen = edited, shadow(edited)
    return text


def one_line(text: str) -> str:
    """The text on one line, so that a list item cannot pass for two; it is not defused."""
    return " ".join(visible(text).split())


def _edited(text: str, edits: Iterable[Edit]) -> str:
    parts, at = [], 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _tags(text: str, seen: str) -> Iterator[Edit]:
    yield from _in_parentheses(_TAG.finditer(seen))


def _brackets(text: str, seen: str) -> Iterator[Edit]:
    yield from _in_parentheses(_BRACKET.finditer(seen))


def _in_parentheses(found: Iterable[re.Match[str]]) -> Iterator[Edit]:
    for match in found:
        yield *match.span(1), "("
        if match[2]:
            yield *match.span(2), ")"


def _speakers(text: str, seen: str) -> Iterator[Edit]:
    for match in _SPEAKER.finditer(seen):
        start, end = match.span(1)
        yield start, end, f"“{text[start:end]}”"


def _headings(text: str, seen: str) -> Iterator[Edit]:
    yield from ((*match.span(1), "·") for match in _HEADING.finditer(seen))


def _sections(text: str, seen: str) -> Iterator[Edit]:
    for line in _LINE.finditer(seen):
        if ("-" in line[0] or "一一一" in line[0]) and not _TABLE_LINE.fullmatch(line[0]):
            yield from ((*run.span(), "·") for run in _title_dashes(text, seen, *line.span()))


def _title_dashes(text: str, seen: str, start: int, end: int) -> list[re.Match[str]]:
    """The runs of dashes that make a line look like a title: three at its start, or some on both sides of words."""
    runs = list(_DASHES.finditer(seen, start, end))
    some = [run for run in runs if _dash_count(run[0]) >= 2 or text[run.start()] in LONG_DASHES]
    if len(some) > 1 and not _words_outside(seen, start, end, some[0], some[-1]):
        return some
    three = [run for run in some if _dash_count(run[0]) >= 3]
    return three if len(three) > 1 or (three and not _WORDY.search(seen, start, three[0].start())) else []


def _dash_count(run: str) -> int:
    return len(run) - sum(map(run.count, (" ", "\t", MARK)))


def _words_outside(seen: str, start: int, end: int, first: re.Match[str], last: re.Match[str]) -> bool:
    """Whether there are words before the first or after the last run."""
    return bool(_WORDY.search(seen, start, first.start()) or _WORDY.search(seen, last.end(), end))
