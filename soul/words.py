"""The words of a text that carry meaning, in both languages: enough to compare short sentences."""

import re

_WORD = re.compile(r"[a-z0-9']{3,}")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_COMMON = """
the and you your that this what who when where how are was were did does have has had for with about from
remember know tell told said say can could would should will not but his her its our their them they she him
什么 怎么 我们 你们 他们 这个 那个 还记 记得 得吗 一下 是不 不是 知道
"""
_STOP = frozenset(_COMMON.split())


def terms_of(text: str) -> frozenset[str]:
    """English words and Chinese character pairs, without the common ones."""
    words = _WORD.findall(text.lower())
    pairs = (run[i : i + 2] for run in _HAN.findall(text) for i in range(max(1, len(run) - 1)))
    return frozenset(words).union(pairs) - _STOP
