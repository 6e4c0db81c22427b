"""The atoms of time in a text, Chinese and English."""

import re
from functools import lru_cache

from soulgraph.senses.values.chinese_times import RULES as CHINESE
from soulgraph.senses.values.english_times import RULES as ENGLISH
from soulgraph.senses.values.english_words import HOUR_WORD
from soulgraph.senses.values.rules import Found, Scanner

_TRADITIONAL = "週禮點鐘個後兩時號這來過節國慶聖誕開從當萬裡間會將別記準備應該約見須說講還經歲樓線門機車場員區內夾紀舊"
_SIMPLIFIED = "周礼点钟个后两时号这来过节国庆圣诞开从当万里间会将别记准备应该约见须说讲还经岁楼线门机车场员区内夹纪旧"
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B)} | {0x3000: " ", 0x2019: "'"}
_FOLD = str.maketrans(_TRADITIONAL, _SIMPLIFIED) | _FULL_WIDTH

_CHINESE = Scanner(CHINESE)
_ENGLISH = Scanner(ENGLISH, r"(?<![a-z0-9.:$£€/]){}(?![a-z0-9])")
_CHINESE_SIGN = re.compile(
    "[年月日号天周期拜点时早晚午夜晨昏春夏秋冬旬假节后前旦诞庆每儿]|五一|六一|十一|双十|清明|冬至|分钟|小时|钟头|刻钟|:"
)
_ENGLISH_SIGN = re.compile(
    r"\d|day|night|tonite|week|month|year|morning|afternoon|evening|noon|tom|tmr|ago|hour|hrs|min|from now|dail|clock"
    r"|mas|hallow|valentine|fools|uary|march|april|may|june|july|august|ember|october|spring|summer|autumn|fall|winter|fortnight"
    r"|\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tues?|wed|thu|thurs?|fri|sat|sun)\b"
    rf"|\b(?:at|by|around|about|before|after|until|till?|from|to) {HOUR_WORD}\b"
    rf"|\b(?:past|half) {HOUR_WORD}\b|midnight|[ap]\.?m\b"
    r"|\bthe (?:first|second|third|\w+th)\b|[- ](?:first|second|third)\b"
)


def fold(text: str) -> str:
    """The text in lower case, simplified and half-width, with every character at its place."""
    folded = text.translate(_FOLD) if not text.isascii() else text
    lower = folded.lower()
    return lower if len(lower) == len(text) else folded  # a few capitals grow when lowered


@lru_cache(maxsize=256)
def time_words(folded: str) -> tuple[Found, ...]:
    """The atoms in the order of the text; where two overlap, the earlier and then the longer one counts.

    Remembered, because plans, questions and the index all read the same text.
    """
    found: list[Found] = []
    if not folded.isascii() and _CHINESE_SIGN.search(folded):
        found += _CHINESE.scan(folded)
    if _ENGLISH_SIGN.search(folded):
        found += _ENGLISH.scan(folded)
    kept: list[Found] = []
    for atom in sorted(found, key=lambda atom: (atom.start, -atom.end)):
        if not kept or atom.start >= kept[-1].end:
            kept.append(atom)
    return tuple(kept)
