"""Numbers as people say them, in Chinese and in English.

`in_digits` writes every spoken number of a sentence in digits, so that all other readers need to know digits only.
"""

import re

from text_to_num import alpha2digit  # type: ignore[import-untyped]

from soulgraph.senses.text import normalise

Number = int | float

_DIGITS = {char: value for value, chars in enumerate(["零〇", "一幺", "二两", *"三四五六七八九"]) for char in chars}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_BIG_UNITS = {"万": 10_000, "亿": 100_000_000}
_NUMERALS = "".join([*_DIGITS, *_UNITS, *_BIG_UNITS])

# 晚一点 is later, but 今晚一点 is one o'clock; 五六 is a guess, which we would rather ask about than read as 56
_NO_NUMBER = (
    "零下|万一|统一|千万|十分(?!钟|之)|一(?:半|下|起|些|样|直|定|会|边|切|旦|共|般|点[都也儿])"
    rf"|(?:[大小高低快慢亮暗多少轻重冷热暖凉响有]|(?<![今明])[早晚])一点(?!半|钟|整|[\d{_NUMERALS}])"
    rf"|(?<![点{_NUMERALS}])(?:一[二两]|[二两]三|三四|四五|五六|六七|七八|八九)(?![{_NUMERALS}])"
)
_SPOKEN = re.compile(
    rf"(?P<no_number>{_NO_NUMBER})|(?P<mixed>\d{{1,9}}(?:\.\d+)?)(?P<unit>[百千万亿])"
    rf"|[{''.join(_DIGITS)}十][{_NUMERALS}]{{0,19}}|百(?=分之)"
)
_ENGLISH = re.compile("[a-z]", re.IGNORECASE)
_ARTICLE = re.compile(r"\ban? (?=hundred|thousand|million)", re.IGNORECASE)
_SECOND = re.compile(r"\bsecond\b", re.IGNORECASE)  # of time, not the 2nd

_N = r"(?<![\d.])\d{1,15}(?:[.点]\d{1,6})?(?!\d)"
_NUMBER = re.compile(
    rf"(?P<whole>\d{{1,6}})分之(?P<part>{_N})"
    rf"|(?P<minus>零下|负|\b(?:minus|negative) |(?<![\w-])-)?\s*(?P<n>{_N})"
    r"(?:(?P<and_half>[个度]半| and a half)|度(?P<tenth>\d)(?!\d))?"
    r"|(?P<half>半(?!夜|天)|\bhalf\b(?! past))",
    re.IGNORECASE,
)
_TARGET = re.compile(r"(?:[到至成为]|\b(?:to|at))\s*(?:零下|负|minus |-)?$", re.IGNORECASE)
_LABEL = re.compile(r"(?:第|\b(?:number|no\.)|#)\s*$", re.IGNORECASE)
_OTHER_UNIT = re.compile(
    r"\s*(?:[号点时:分秒刻天周月]|个?(?:小时|钟头|星期|礼拜)|(?:[ap]m|[hms]|mins?|minutes?|secs?|seconds?|hours?|days?)\b)",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    rf"(?P<whole>\d{{1,6}})分之(?P<part>{_N})|(?P<n>{_N})\s*(?:%|per ?cent\b)"
    rf"|(?P<tenths>{_N})成(?![功本])(?P<hundredths>\d(?!\d))?"
    r"|(?P<quarters>\d) quarters?\b|(?P<half>一半|\bhalf\b(?! an?\b| past| hour))"
    r"|(?P<all>最[大高亮响强]|[拉开调]满|\b(?:full|max(?:imum)?|all the way up)\b)"
    r"|(?P<none>最[小低暗轻弱]|\b(?:minimum|all the way down)\b)",
    re.IGNORECASE,
)


def in_digits(text: str) -> str:
    """两百零五 becomes 205 and twenty six 26; digits said one by one stay so: 五点零五 becomes 5点05."""
    text = normalise(text)
    if _ENGLISH.search(text):
        text = alpha2digit(_ARTICLE.sub("one ", _SECOND.sub("sec", text)), "en", 0.0)
    return _SPOKEN.sub(_written, text)


def number(text: str) -> Number | None:
    """The number these words name: the one after 到 or "to" if there is one, else the first.

    Labels (二号灯, number two), clock times and durations come last.
    """
    text = in_digits(text)
    found = min(_NUMBER.finditer(text), key=lambda n: _rank(text, n), default=None)
    return None if found is None else plain(_value(found))


def percent(text: str) -> Number | None:
    """A share of 100: said as one (三成, half, full) or, failing that, as a number; none outside 0 to 100."""
    found = _PERCENT.search(in_digits(text))
    value = _share(found) if found else number(text)
    return plain(value) if value is not None and 0 <= value <= 100 else None


def plain(value: float) -> Number:
    return int(value) if value == int(value) else round(value, 6)


def _written(found: re.Match[str]) -> str:
    numeral = found[0]
    if found["no_number"]:
        return numeral
    if found["mixed"]:
        return str(plain(float(found["mixed"]) * (_UNITS | _BIG_UNITS)[found["unit"]]))
    if len(numeral) > 1 and all(char in _DIGITS for char in numeral):
        return "".join(str(_DIGITS[char]) for char in numeral)
    return str(_counted(numeral))


def _counted(numeral: str) -> int:
    """A last digit counts tenths of the unit before it: 一百二 is 120, 一百零二 is 102."""
    total = section = digit = 0
    unit = 1
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
            unit = unit if digit else 1
        elif char in _UNITS:
            unit = _UNITS[char]
            section, digit = section + (digit or 1) * unit, 0
        else:
            unit = _BIG_UNITS[char]
            section, digit = section + digit, 0
            total, section = (total + section * unit if char == "万" else (total + section) * unit), 0
    return total + section + digit * max(1, unit // 10)


def _rank(text: str, found: re.Match[str]) -> int:
    before, after = text[max(0, found.start() - 12) : found.start()], text[found.end() :]
    if _LABEL.search(before) or _OTHER_UNIT.match(after):
        return 2
    return 0 if _TARGET.search(before) else 1


def _value(found: re.Match[str]) -> float:
    if found["half"]:
        return 0.5
    if found["whole"]:
        part, whole = _float(found["part"]), int(found["whole"])
        return part if whole in (0, 100) else part / whole
    size = _float(found["n"]) + (0.5 if found["and_half"] else int(found["tenth"] or 0) / 10)
    return -size if found["minus"] else size


def _share(found: re.Match[str]) -> float:
    if found["whole"]:
        return 100 * _float(found["part"]) / (int(found["whole"]) or 1)
    if found["tenths"]:
        return 10 * _float(found["tenths"]) + int(found["hundredths"] or 0)
    if found["quarters"]:
        return 25 * int(found["quarters"])
    return _float(found["n"]) if found["n"] else 50 if found["half"] else 100 if found["all"] else 0


def _float(written: str) -> float:
    return float(written.replace("点", "."))
