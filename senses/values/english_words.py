"""The words English times are made of, as pieces of patterns on lower-case text, and what they mean."""

import re

from soulgraph.senses.values.numbers import in_digits

_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
NUMBER = rf"(?:\d{{1,3}}|(?:{_TENS})(?:[- ](?:{_ONES}))?|{_TEENS}|{_ONES})"
COUNT = rf"(?:{NUMBER}|an?|(?:a )?couple(?: of)?|half an?)"
HOUR_WORD = f"(?:{_ONES}|ten|eleven|twelve)"
HOUR = rf"(?:\d{{1,2}}|{HOUR_WORD})"
YEAR = r"(?:19|20)\d\d"

_ORDINALS = re.split(
    " ",
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first",
)
_ORDINAL_WORD = "|".join(reversed(_ORDINALS)).replace("-", "[- ]")
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{_ORDINAL_WORD})"
DAY_NUMBER = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{_ORDINAL_WORD})"

_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
SHORT_WEEKDAY = "(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
MONTH_NAME = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
MONTH = rf"(?:{MONTH_NAME}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
SEASONS = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}
SEASON = f"(?:{'|'.join(SEASONS)})"
PART = "(?:morning|afternoon|evening|night)"
UNIT = "(?:days?|weeks?|fortnights?|months?|years?)"
RELATION = r"(?:the )?(?:last|this past|this coming|this|past|coming|next|following|previous)"
DURATION = (
    rf"(?:half an hour|an hour and a half|{COUNT}(?: and a half)? (?:hours?|hrs?|minutes?|mins?)"
    rf"(?:,? (?:and )?{NUMBER} (?:minutes?|mins?))?)"
)

HOLIDAYS = {
    "christmas eve": (12, 24, 1),
    "christmas day": (12, 25, 1),
    "christmas": (12, 24, 3),
    "xmas": (12, 24, 3),
    "boxing day": (12, 26, 1),
    "new year's eve": (12, 31, 1),
    "new years eve": (12, 31, 1),
    "new year's day": (1, 1, 1),
    "new years day": (1, 1, 1),
    "new year's": (1, 1, 1),
    "new year": (1, 1, 1),
    "halloween": (10, 31, 1),
    "valentine's day": (2, 14, 1),
    "valentines day": (2, 14, 1),
    "valentine's": (2, 14, 1),
    "april fools' day": (4, 1, 1),
    "april fool's day": (4, 1, 1),
    "april fools": (4, 1, 1),
    "women's day": (3, 8, 1),
    "independence day": (7, 4, 1),
    "fourth of july": (7, 4, 1),
    "bonfire night": (11, 5, 1),
    "st patrick's day": (3, 17, 1),
}
"""Month, day and length in days."""

LEAD = re.compile(
    r"(?:^|[^a-z])(?:in|since|by|until|till?|of|during|every|each|from|to|through|around|before|after|early|late|mid|for"
    r"|last|next|this|between|back|circa|year"
    rf"|(?:{SEASON}|{MONTH_NAME}|{YEAR})(?: and| or)?|{'|'.join(HOLIDAYS)})"
    r"(?:[\s,-]+(?:the|mid|early|late))?[\s,-]*$"
)
"""What stands before a month, a year or a season that is meant as a time."""
DAY_LEAD = re.compile(r"(?:^|[^a-z])(?:on|by|until|till?|since|before|after|from|for|around|to|and|[a-z]*day)\s*$")
CLOCK_LEAD = re.compile(
    r"\b(?:(?P<at>at(?: around| about)?)|(?<!one )by|around|about|before|after|until|till?|since|from"
    rf"|(?:(?:from|between) {HOUR}|[ap]m) (?:to|and|or))\s+$"
)
_FOLLOWING = (
    "and|or|but|at|in|on|for|with|to|so|i|i'm|we|he|she|they|you|it|is|was|this|next|last|if|when|then|because|cause|cos"
    "|till|until|tomorrow|today|tonight|yesterday|every|each|sharp|please|pls|by|as|my|the|u|ur|lol|from|already|instead"
    "|tell|remind|call|wake|ask|text|ring|meet|come|pick|don't|do|can|could|will|would|we're|we'll|i'll|i've|she's|he's"
    "|they're|there|after|before|while|not|no|yes|right|ok|okay|just|that's|maybe|probably|only|too|again|latest|that"
    "|which|who|how|what|whether|about|over|like|without|unless|it's|its|a|an|our|your|his|her|their|also|still"
)
FOLLOW = re.compile(
    r"\s*(?:$|[^\w\s%°$€£:/-](?!\d)|-?ish\b|of (?:next|this|last|every|each) |of the month"
    rf"|(?:{_FOLLOWING}|{WEEKDAY})\b)"
)
"""What stands after a bare number that is meant as a day or a time: no noun."""


def relation(written: str) -> str:
    """last, this or next."""
    word = written.removeprefix("the ")
    if word in ("last", "this past", "past", "previous"):
        return "last"
    return "next" if word in ("next", "following") else "this"


def offset(written: str) -> int:
    return {"last": -1, "this": 0, "next": 1}[relation(written)]


def count(written: str) -> float:
    if "couple" in written:
        return 2
    if written in ("a", "an"):
        return 1
    return 0.5 if written.startswith("half") else float(in_digits(written))


def counted(written: str, unit: str) -> tuple[str, float]:
    """The unit in the singular, and how many of it: a fortnight is two weeks."""
    unit = unit.removesuffix("s")
    return ("week", 2 * count(written)) if unit == "fortnight" else (unit, count(written))


def day_number(written: str) -> int:
    return int(written.rstrip("stndrh")) if written[0].isdigit() else _ORDINALS.index(written.replace(" ", "-")) + 1


def month_number(written: str) -> int:
    return _MONTHS.index(written[:3]) + 1


def weekday_number(written: str) -> int:
    return _WEEKDAYS.index(written[:3])
