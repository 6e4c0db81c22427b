"""Detects refused commands: 别开灯, 不要把灯打开, don't turn on the light."""

import re

from soulgraph.senses.intents.opposites import names_side
from soulgraph.senses.intents.utterance import ParsedUtterance, Span

_MAX_CHARS_BEFORE = 60  # characters in front of a command
_REST = r"[^,.;!?，。；！？、]"

# A-not-A questions (要不要开灯), the suggestion 要不 and the emphasis 特别 are no refusals.
_REFUSES_ZH = (
    r"(?:(?<![特区分告性级个识])别(?!忘)|(?<!要)不要|(?<!用)不用|(?<!想)不想|(?<!能)不能|(?<!可)不可以|(?<!需)不需要"
    r"|(?<!要)不(?!错|久|好意思)|没有?[让叫说]|不是[让叫]|不到|不必|不许|不准|无需|甭|勿|禁止|没有?)"
)
_BETWEEN_ZH = (
    r"(?:再|又|先|去|给|你|要|总|打|一直|[给帮替为]我|让[他她它你]|急着|马上|现在|立刻|随便|自动|[总老]是"
    rf"|[把将]{_REST}{{0,6}}?)*"
)
_VERB_ZH = rf"(?:打开|开启?|关[掉上闭]?|启动|播?放|调|动|碰|用){_REST}{{0,4}}"

_REFUSES_EN = (
    r"(?:(?<!why )\b(?:don'?t|do not|not)|\b(?:never|no need to|needn't|shouldn't|mustn't|without)"
    r"|\b(?:can't|cannot|couldn't|won't|wouldn't)(?! you\b))\s+"
)
_BETWEEN_EN = (
    r"(?:(?:ever|please|just|you|again|to|want|need|have|going|gonna|bother|try|let|even|dare"
    r"|turn|turning|switch|switching|put|set|make|the|my|your|a|an|this|that|these|those|any|all)\s+)*"
)
_VERB_EN = r"(?:(?:open|close|start|stop|play|shut|lock|unlock|use|touch)\s+|(?:on|off|up|down)\s+)(?:\w+\s+){0,4}"

_DIRECTLY = re.compile(f"(?:{_REFUSES_ZH}{_BETWEEN_ZH}|{_REFUSES_EN}{_BETWEEN_EN})$", re.IGNORECASE)
_THROUGH_A_VERB = re.compile(
    rf"(?:{_REFUSES_ZH}{_BETWEEN_ZH}(?:{_VERB_ZH})?|{_REFUSES_EN}{_BETWEEN_EN}(?:{_VERB_EN})?)$", re.IGNORECASE
)


def is_refused(utterance: ParsedUtterance, span: Span) -> bool:
    """Whether a refusal stands before the span: directly, or, if the span names no action, before its verb."""
    in_front = utterance.text[max(0, span.start - _MAX_CHARS_BEFORE) : span.start]
    refusal = _DIRECTLY if names_side(utterance.part(span)) else _THROUGH_A_VERB
    return refusal.search(in_front) is not None
