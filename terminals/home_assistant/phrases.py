"""How people ask for an appliance to be switched or dimmed: patterns around its name, in both languages.

A catalog's keywords must stand as they are; people put words between. What refuses, wonders, tells of the past or
speaks of somebody else's is sorted out by the intent filter, and so is which of two ways was meant.
"""

import re

from soulgraph.soul.language import lang_of

_SAME = "[^。！？!?；;，,]"
_REST = "[^。！？!?；;]"
_ROOM = "客厅|卧室|主卧|次卧|书房|厨房|餐厅|饭厅|阳台|浴室|卫生间|厕所|走廊|过道|玄关|门口|儿童房|床头|车库|院子"
_THERE = "(?:里面?|里头|那边|上)?的?(?:[那这]一?)?[个盏台只条张]?"
_ZH = {
    "on": "(?:打开|开[开启上一起]|给我开着|启动|点[亮上]|弄亮|亮起来|整上|开(?![心会关着]))",
    "off": "(?:关[掉上闭了一咯啦]|熄[掉了灭]|灭[了掉]|停[了掉]|拔了|关(?![于系心注])"
    "|(?:别|不用|不要)再?[吹亮响转开喷烧照]着?了)",
}
_ZH_LEVEL = (
    "(?:亮度|[调设][到成为至在高低亮暗]|亮一?[点些]|暗一?[点些]"
    "|[开弄降升减加提][到成至](?=最|百|\\d|[一二三四五六七八九十半]))"
)
_EN_MOVE = r"\b(?:turn|switch|flip|flick|put|power|click|shut)(?:ing)?"
_EN = {"on": r"(?:back )?on\b", "off": r"(?:back )?(?:off|out|down)\b(?! to)"}
_EN_ALONE = {"on": "(?:(?:fire|power|start|boot) up|start)", "off": "(?:kill|cut|stop|douse|unplug|shut(?: down)?)"}
_EN_GOING = r"\bget(?: [\w'-]+){0,3} NAME (?:going|running|started|on)\b"
_EN_LEVEL = r"\b(?:set|dim|brighten|turn|bring|take|put|make|lower|raise|crank|bump|get|have)(?:ming)?(?: (?:down|up))?"
_PERCENT = r"(?:\d+|\w+ty\b|percent|per cent|half\b|full\b|all the way|max)"
_NUMBER = r"(?:\d+|ten|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|half|full|max(?:imum)?)\b"
_IT = r"(?:it|that|them|this|that one|this one)"


NO_WISHES = ["要是", "如果", "假如", "想买", "要买", "再买", "开着吗", "开着呢", "开着没", "关着吗", "what if", "if i"]
"""Words with which one does not ask, beside those that the intent filter knows of any thing."""


def to_switch(name: str, way: str) -> list[str]:
    """Patterns of sentences in the name's language that want it switched on or off."""
    named = spoken(name)
    if lang_of(name) == "zh":
        return _before_and_behind(named, _ZH[way])
    way_words, alone = _EN[way], _EN_ALONE[way]
    return [
        rf"{_EN_MOVE} {way_words}(?: [\w'-]+){{0,4}} {named}|^\W*(?:the |my )?{named},? {way_words}",
        rf"{_EN_MOVE}(?: [\w'-]+){{0,4}} {named}{_SAME}{{0,60}}?\b{way_words}",
        rf"{named}{_REST}{{0,60}}?(?:{_EN_MOVE} (?:{way_words} {_IT}|{_IT} {way_words})"
        rf"|\bget {_IT} (?:turned|switched) {way_words})",
        rf"\b{alone}(?: [\w'-]+){{0,4}} {named}",
        *([_EN_GOING.replace("NAME", named)] if way == "on" else []),
    ]


def to_dim(name: str) -> list[str]:
    """Patterns of sentences in the name's language that want a lamp brighter or darker."""
    named = spoken(name)
    if lang_of(name) == "zh":
        return _before_and_behind(named, _ZH_LEVEL)
    return [
        rf"{_EN_LEVEL}(?: [\w'-]+){{0,4}} {named}{_SAME}{{0,40}}?{_PERCENT}",
        rf"\b(?:dim|brighten|lower)(?: [\w'-]+){{0,3}} {named}",
        rf"{named},?(?: down| up)? (?:to|at) {_NUMBER}",
    ]


def _before_and_behind(named: str, wish: str) -> list[str]:
    """Chinese has it in both places, also behind a clause about the thing."""
    return [f"{wish}{_SAME}{{0,5}}?{named}", f"{named}(?:{_SAME}{{0,10}}?|{_REST}{{0,16}}?[，,]{_SAME}{{0,6}}?){wish}"]


def spoken(name: str) -> str:
    """A pattern for a name as people say it: 卧室那盏灯 for 卧室灯, "the lamp on my desk" for "Desk lamp"."""
    if room := re.fullmatch(f"({_ROOM})(.+)", name):
        return f"{re.escape(room[1])}{_THERE}{re.escape(room[2])}"
    words = [re.escape(word) for word in name.split()]
    if len(words) == 2 and name.isascii():
        return rf"(?:{words[0]}[ -]?{words[1]}|{words[1]} (?:on|in|by|at|of) (?:the |my )?{words[0]})"
    return r"\s+".join(words)
