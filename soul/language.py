"""Tells Chinese texts from English ones."""

import re
from typing import Literal

Lang = Literal["zh", "en"]

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def lang_of(text: str) -> Lang:
    """Chinese as soon as the text has one Chinese character."""
    return "zh" if _CJK.search(text) else "en"
