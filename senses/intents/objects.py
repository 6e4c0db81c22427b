"""Finds the object of a Chinese command: 把洗衣机打开 is about a washing machine, whatever else it is like."""

import re

_OBJECT = re.compile(
    r"[把将](?:[^的]{1,6}的)?(?P<thing>(?:(?![给都也])[\u4e00-\u9fff]){1,6}?)(?:[都也再先]|给[我你他她它]?|一下)*(?:打开|[开关停锁调拉换熄])"
)
_COMMON = "机器"  # ends the names of many things


def names_other_object(clause: str, words: str) -> bool:
    """Whether a clause names an object that does not occur in an intent's description `words`."""
    found = _OBJECT.search(clause)
    if not found:
        return False
    thing = found["thing"]
    return thing[-2:] not in words and (thing[-1] in _COMMON or thing[-1] not in words)
