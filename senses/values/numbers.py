"""Parses numbers in Chinese and English words.

`in_digits` writes every number of a text in digits, so that all other parsers need to know digits only.
"""

import re

from text_to_num import alpha2digit  # type: ignore[import-untyped]

from soulgraph.senses.text import normalise

Number = int | float

_DIGITS = {char: value for value, chars in enumerate(["零〇", "一幺", "二两", *"三四五六七八九"]) for char in chars}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_BIG_UNITS = {"万": 10_000, "亿": 100_000_000}
_NUMERALS = "".join([*_DIGITS, *_UNITS, *_BIG_UNITS])

# 晚一点 means later, but 今晚一点 one o'clock; 五六 is vague (five or six), so it must not become 56.
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
    """Writes 两百零五 as 205 and twenty six as 26; digits named one by one keep their zeros: 五点零五 becomes 5点05."""
    text = normalise(text)
    if _ENGLISH.search(text):
        text = alpha2digit(_ARTICLE.sub("one ", _SECOND.sub("sec", text)), "en", 0.0)
    return _SPOKEN.sub(_to_digits, text)


def number(text: str) -> Number | None:
    """The number in a text: the one after 到 or "to" if there is one, else the first; None without one.

    Labels (二号灯, number two), clock times and durations are used only if there is no other number.
    """
    text = in_digits(text)
    found = min(_NUMBER.finditer(text), key=lambda n: _number_rank(text, n), default=None)
    return None if found is None else int_if_whole(_value(found))


def percent(text: str) -> Number | None:
    """A percentage: named as one (三成, half, full), else any number; None without one in 0 to 100."""
    found = _PERCENT.search(in_digits(text))
    value = _percent_value(found) if found else number(text)
    return int_if_whole(value) if value is not None and 0 <= value <= 100 else None


def int_if_whole(value: float) -> Number:
    return int(value) if value == int(value) else round(value, 6)


def _to_digits(found: re.Match[str]) -> str:
    numeral = found[0]
    if found["no_number"]:
        return numeral
    if found["mixed"]:
        return str(int_if_whole(float(found["mixed"]) * (_UNITS | _BIG_UNITS)[found["unit"]]))
    if len(numeral) > 1 and all(char in _DIGITS for char in numeral):
        return "".join(str(_DIGITS[char]) for char in numeral)
    return str(_parse_numeral(numeral))


def _parse_numeral(numeral: str) -> int:
    """The value of a Chinese numeral; a last digit counts tenths of its unit: 一百二 is 120, 一百零二 is 102."""
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


def _number_rank(text: str, found: re.Match[str]) -> int:
    """0 for a target (调到 26), 2 for a label or a number of another unit, else 1."""
    before = text[max(0, found.start() - 12) : found.start()]
    after = text[found.end() :]
    if _LABEL.search(before) or _OTHER_UNIT.match(after):
        return 2
    return 0 if _TARGET.search(before) else 1


def _value(found: re.Match[str]) -> float:
    if found["half"]:
        return 0.5
    if found["whole"]:
        part = _parse_float(found["part"])
        whole = int(found["whole"])
        return part if whole in (0, 100) else part / whole
    size = _parse_float(found["n"]) + (0.5 if found["and_half"] else int(found["tenth"] or 0) / 10)
    return -size if found["minus"] else size


def _percent_value(found: re.Match[str]) -> float:
    if found["whole"]:
        return 100 * _parse_float(found["part"]) / (int(found["whole"]) or 1)
    if found["tenths"]:
        return 10 * _parse_float(found["tenths"]) + int(found["hundredths"] or 0)
    if found["quarters"]:
        return 25 * int(found["quarters"])
    return _parse_float(found["n"]) if found["n"] else 50 if found["half"] else 100 if found["all"] else 0


def _parse_float(written: str) -> float:
    return float(written.replace("点", "."))
