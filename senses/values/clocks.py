"""Parses times of the day: 下午三点一刻, half past six, 19:30, noon."""

from datetime import timedelta
from itertools import count

import regex

# Parts of the day with the hour they begin at, and the hour they mean without a clock time. An hour given with a part
# is the first such hour from its beginning on, so that 晚上一点 is 25:00, one o'clock in the following night.
_PARTS = [
    (regex.compile(words, regex.IGNORECASE), begins, usual)
    for words, begins, usual in (
        (r"凌晨", 0, 3),
        (r"半夜|午夜|深夜|夜里|\bmidnight\b", 18, 24),
        (r"中午|正午|\b(?:noon|midday)\b", 11, 12),
        (r"下午|午后|\bafternoon\b", 12, 15),
        (r"傍晚|黄昏", 15, 18),
        (r"晚上|晚(?![饭餐安点一霞会])|\b(?:evening|tonight|night)\b", 17, 20),
        (r"上午|早上|早(?![饭餐安点一教])|清晨|\bmorning\b", 1, 8),
    )
]

_CLOCK = regex.compile(
    r"""
      (?P<to>差) (?P<m>\d{1,2}) (?: 分钟? | (?P<quarters>刻)钟? ) 到? (?P<h>\d{1,2}) 点
    | (?<!\d) (?P<h>\d{1,2}) [点时] [钟整过]? \s*
        (?: (?P<half>半) | (?P<m>\d)(?P<quarters>刻) | (?P<m>\d{1,2}) (?![\d号个度%] | \s*(?:分钟|小时|天)) )?
    | (?<![\d:]) (?P<h>\d{1,2}) : (?P<m>\d{2}) (?!\d) \s* (?: (?P<am>a\.?m) | (?P<pm>p\.?m) )?
    | \b (?: (?P<half>half) | (?P<quarters>quarter) | (?P<m>\d{1,2})(?:\ minutes?)? )
        \ (?: past | after | (?P<to>to|till) ) \ (?P<h>\d{1,2}) \b
    | \b (?P<h>\d{1,2}) (?: [ .](?P<m>\d{2}) | \ oh\ (?P<m>\d) )? \s*
        (?: (?P<am>a\.?m)\b | (?P<pm>p\.?m)\b | o'?clock | (?=in\ the\ | at\ night) )
    | \b (?:at|by|for|until|around|tonight) \ (?P<h>\d{1,2}) (?: [ .](?P<m>\d{2}) | \ oh\ (?P<m>\d) )? \b
        (?! \s*(?: [%°\d:.] | per\ ?cent | degrees | people | times
                 | (?: [smh] | secs? | seconds? | mins? | minutes? | hrs? | hours? | days? | weeks? )\b ) )
    | \b (?P<h>\d{1,2}) \ (?P<m>\d{2}) (?= \ (?: tomorrow | today | tonight | this\ | in\ the\ ) )
    | ^\s* (?P<h>\d{1,2}) (?: \ (?P<m>\d{2}) | \ oh\ (?P<m>\d) )? \s*$
    """,
    regex.IGNORECASE | regex.VERBOSE,
)


def clocks(text: str, dated: bool) -> list[timedelta]:
    """The times a text with numbers in digits may mean, as offsets from midnight; 三点 alone may mean two.

    With a day (`dated`) an hour before six is in the afternoon: 明天三点 is 15:00.
    """
    begins, usual = next(((begins, usual) for words, begins, usual in _PARTS if words.search(text)), (None, None))
    for found in _CLOCK.finditer(text):
        minutes = _minutes(found)
        if int(found["h"]) <= 24 and abs(minutes) < 60:
            begins = 0 if found["am"] else 12 if found["pm"] else begins
            return [timedelta(hours=hour, minutes=minutes) for hour in _hours(found["h"], begins, dated)]
    return [] if usual is None else [timedelta(hours=usual)]


def _minutes(found: regex.Match[str]) -> int:
    minutes = 30 if found["half"] else int(found["m"] or 1) * 15 if found["quarters"] else int(found["m"] or 0)
    return -minutes if found["to"] else minutes


def _hours(digits: str, begins: int | None, dated: bool) -> list[int]:
    hour = int(digits)
    small = hour % 12
    if hour > 12 or (begins is None and digits.startswith("0")):
        return [hour]
    if begins is not None:
        return [next(hour for hour in count(small, 12) if hour >= begins)]
    return [small + 12] if dated and small < 6 else [small, small + 12]
