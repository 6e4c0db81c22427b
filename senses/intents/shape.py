"""The shape of a clause: a plain request, or a refusal, a statement about the past or a state, a question, praise.

An utterance is like an example only if both have the same shape: 先别扫了 does not mean 扫个地吧.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

Shape = frozenset[str]
"""Empty for a plain request."""

_SHAPES = {
    "refusal": (
        r"(?<![特区分告性级个识])别(?![人的处墅忘]|.{0,3}[开关锁]着)|(?<!要)不要(?!紧)|(?<!用)不用(?!谢)|(?<!需)不需要|不必|不许|不准|无需|甭|勿"
        r"|没有?[让叫说]|不是[让叫]|(?<!想)不想[听看要跳]|(?<!怎么)不[开关放播]了"
        r"|^\W*(?:please |hey |just |i said )*(?:don't|do not|never|no need to)\b"
        r"|\bdon't (?:want|need) (?:you )?to\b"
    ),
    "past": (
        r"昨天|昨晚|昨夜|前天|小时候|以前|从前|上次|上周|上个月|去年|那天|那年|当时|曾经|梦[见到]|的时候|总是|是[^吗么]{1,8}[^着]的\W*$|刚[才刚]?[^那的,，]{0,6}了"
        r"|\bwhen i was (?:a|young|little|small)\b|\bused to\b|\bdream(?:t|ed)\b|\byesterday i\b"
    ),
    "wonder": r"谁|为什么|为啥|什么意思|怎么会|怎么回事|怎么来的|你[喜爱讨会懂觉认知].{0,8}[吗么]",
    "praise": r"真[好美棒香酷不]|太[好美棒香酷气]|好[累烦香美棒]|坏了|[好难][看听吃][啊呀的了]|不错",
    "state": (
        r"着[呢的吗]|着(?=\W*$)|[太这那]久了|半天了|太[暗亮大小高低吵冷热]了?\W*$|怎么[又还]?[开关锁]了"
        r"|\b(?:is|are|was|were)(?: still| already)? (?:on|off|open|closed|locked|unlocked)\b"
    ),
}
_WORDS = {name: re.compile(words, re.IGNORECASE) for name, words in _SHAPES.items()}


def shape_of(clauses: Sequence[str]) -> Shape:
    """The shapes of all clauses; "state" only if every clause has it, as a request may come with a description."""
    shapes = [_shape(clause) for clause in clauses]
    return frozenset.union(*shapes) - ({"state"} - frozenset.intersection(*shapes))


@lru_cache(maxsize=4096)
def _shape(clause: str) -> Shape:
    return Shape(name for name, words in _WORDS.items() if words.search(clause))


def refuses(shape: Shape) -> bool:
    return "refusal" in shape


def is_about_past(clause: str) -> bool:
    """Whether a clause is about the past instead of asking for something."""
    return _WORDS["past"].search(clause) is not None
