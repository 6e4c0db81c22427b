"""Which of the two languages of the product a text is in."""

import re
from typing import Literal

Lang = Literal["zh", "en"]

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def lang_of(text: str) -> Lang:
    return "zh" if _CJK.search(text) else "en"
