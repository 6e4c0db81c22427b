"""Finds the MBTI types that a text names, and which of them it says of the character."""

import re
from typing import NamedTuple

_TYPE = re.compile(r"(?<![A-Za-z0-9])([EI][NS][TF][JP])(?:-[AT])?(?![A-Za-z0-9])", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?;。！？；\n]")
_REACH = 60
_QUOTED = 30
_LABEL = re.compile(r"mbti|myers|personality\s*type|\btype\s*[:：(]|人格|类型|型格|十六型|16型|测", re.IGNORECASE)
_LABEL_BEHIND = re.compile(r"^(?:-[AT])?\s*(?:型|人格|\(|（|personality|type\b)", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bhardly|\bno longer|\bneither)\s+(?:\w+\s+){0,3}$"
    r"|(?:不是|并非|绝非|不像|不算|不属于|才不|不是什么)[^，,。]{0,4}$",
    re.IGNORECASE,
)
_MISTAKEN = re.compile(
    r"\b(?:take|takes|took|mistake|mistakes|mistaken|mistook)\b[^.,;]*\bfor\s+(?:an?\s+)?$"
    r"|\b(?:think|thinks|thought|assume|assumes|assumed|guess|guessed|seems?|looks?|pretends?)\b[^.,;]*$"
    r"|(?:以为|误认|当成|当作|看起来|看上去|装作|假装|像是)[^。]{0,8}$",
    re.IGNORECASE,
)
_RELATIVE_EN = (
    r"brother|sister|mother|father|mom|dad|parents?|son|daughter|wife|husband|friend|rival|ex|boss|boyfriend|girlfriend"
    r"|partner|enemy|teacher|master|cousin|uncle|aunt|twin|roommate|colleague|neighbou?r|nemesis|lover|crush|mentor"
)
_OTHER = re.compile(
    rf"(?:\b(?:his|her|their|my|your|our|the)|['’]s)\s+(?:[\w-]+\s+){{0,2}}(?:{_RELATIVE_EN})\b"
    r"|\{\{user\}\}|<user>"
    r"|前女友|前男友|女友|男友|宿敌|对手|弟弟|哥哥|姐姐|妹妹|母亲|父亲|妈妈|爸爸|朋友|室友|同事|老板|上司|师父|师兄|师姐|徒弟|丈夫|妻子|老公|老婆|邻居|搭档|儿子|女儿|情敌",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\{\{char\}\}|<bot>|\b(?:himself|herself|themselves|myself)\b|\b(?:he|she|they|i)\b(?:['’](?:s|m|re))?|自己|本人"
    r"|(?:他|她|它|我)(?!的)",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """A type that is said of the character; `score` tells which counts, if there are several."""

    mbti_type: str
    score: int
    words: str


def statements(text: str, name: str = "") -> list[Statement]:
    """The types that the text says of the character, in its order; not those of others, or those denied."""
    found = []
    for match in _TYPE.finditer(text):
        before = _SENTENCE.split(text[max(0, match.start() - _REACH) : match.start()])[-1]
        if _DENIED.search(before) or _MISTAKEN.search(before) or _is_of_another(before, name):
            continue
        labelled = bool(_LABEL.search(before) or _LABEL_BEHIND.search(text[match.end(1) : match.end(1) + 20]))
        score = 1 + 2 * labelled + bool(_last(_OWN, before) >= 0 or (name and name in before))
        found.append(Statement(match[1].upper(), score, _quote(before, match[0])))
    return found


def _is_of_another(before: str, name: str) -> bool:
    """Whether the nearest person before the type is somebody else."""
    own = max(_last(_OWN, before), before.rfind(name) if name else -1)
    return _last(_OTHER, before) > own


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match ends; -1 if there is none."""
    return max((match.end() for match in pattern.finditer(text)), default=-1)


def _quote(before: str, mbti_type: str) -> str:
    return f"{before[-_QUOTED:].lstrip()}{mbti_type}".strip(" \"'([{-*#:：")
