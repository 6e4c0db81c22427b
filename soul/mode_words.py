"""Finds the session mode in a user's text: a mode they request, or a hint of one that suits the text."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from soulgraph.soul.clauses import MAX_CHARS, clauses_of, is_refused, wish_sentences
from soulgraph.soul.patterns import lazy_pattern

Mode = Literal["rational", "idol", "hybrid", "strict"]
RequestedMode = Mode | Literal["default"]


class ModeRequest(NamedTuple):
    """The mode a user requests, and the clause that does."""

    mode: RequestedMode
    evidence: str


class ModeHint(NamedTuple):
    """The mode that suits a text, and the words that show it."""

    mode: Mode
    evidence: str


_NAMES: dict[RequestedMode, tuple[str, str]] = {
    "rational": ("理性|理智|逻辑|冷静", "rational|logical|analytical"),
    "idol": ("偶像|爱豆|元气|应援", "idol|cheerleader|cheerful"),
    "strict": ("严格|严肃|严谨|正经|严厉", "strict|serious|stern"),
    "hybrid": ("混合|平衡", "hybrid|balanced|mixed"),
    "default": ("默认|正常|普通|平时|平常", "default|normal|usual|regular"),
}
# How somebody is who is in a mode: "be logical", 活泼一点.
_MANNERS: dict[RequestedMode, tuple[str, str]] = {
    "rational": (
        "理性|理智|客观|冷静|有逻辑|讲逻辑",
        "rational|logical|analytical|objective|level-headed|factual|unemotional|dispassionate",
    ),
    "idol": (
        "活泼|热情|元气|可爱|俏皮|调皮|欢乐|开朗|闹腾|萌",
        "playful|cheerful|bubbly|enthusiastic|upbeat|silly|goofy|fun|cute|perky|peppy|lively|excited",
    ),
    "strict": ("严格|严厉|严肃|严谨|正经|认真", "strict|stern|serious|tough|hard|firm|rigorous|demanding|no-nonsense"),
    "hybrid": ("(?!)", "hybrid|balanced"),
    "default": ("正常|自然", "normal|yourself|your (?:usual|normal|old) self"),
}
# Whom somebody in a mode is like: "be my cheerleader", 像个爱豆一样.
_ROLES: dict[RequestedMode, tuple[str, str]] = {
    "rational": (
        "分析师|科学家|工程师|逻辑学家|数学家",
        "analyst|scientist|engineer|lawyer|logician|mathematician",
    ),
    "idol": (
        "偶像|爱豆|啦啦队员?|小太阳|元气少女|应援团",
        "idol|cheerleader|pop ?star|hype (?:man|girl|squad)|ray of sunshine",
    ),
    "strict": (
        "严师|教官|教练|监工|班主任|严父",
        "drill (?:sergeant|instructor)|taskmaster"
        "|(?:strict|stern|tough|ruthless|harsh|demanding) (?:coach|teacher|boss)",
    ),
    "hybrid": ("(?!)", "(?!)"),
    "default": ("(?!)", "(?!)"),
}
_NOT = r"(?:别|不要|不用)(?:再|这么|那么|太|总|老|是)*"
_STOP = r"\b(?:stop being|quit being|don't be|don't get)(?: so| too| that| all)*"
_OTHER_REQUESTS: dict[RequestedMode, str] = {
    "rational": (
        rf"{_NOT}(?:煽情|感性|情绪化|抒情)|用逻辑[^，,]{{0,4}}(?:说话|分析|思考|讨论)|拿出你?的?(?:理性|理智)"
        r"|(?:放下|抛开|撇开|收起|不带|别带|不掺杂?|去掉)(?:你的|个人|所有|任何|一切)*(?:感情|情绪|情感)"
        r"|把?(?:感情|情绪|情感)(?:先|都|统统)*(?:放|搁|丢|抛)(?:在|到)?(?:一[边旁]|脑后)(?=吧?$)"
        r"|\b(?:put|set|leave|keep|push)(?: (?:aside|your|the|all|any|our))* (?:feelings?|emotions?)"
        r"(?: aside| out of (?:it|this)| away| at the door)"
        r"|\b(?:put|set|leav)(?:e|ing)? aside(?: \w+)? (?:feelings?|emotions?)"
        rf"|\b(?:logically|rationally|analytically|objectively|less emotional)\b"
        rf"|{_STOP} (?:emotional|sentimental|dramatic)\b"
    ),
    "idol": (
        r"[给为]我(?:打打?气|加加?油|点鼓励|一?点?鼓励)|鼓励(?:鼓励|一下|下)?我|哄哄?我|逗(?:逗?我|我?(?:开心|笑))|让我开心"
        r"|夸夸我|来点(?:元气|鼓励|热情|欢乐)|(?:撒(?:个|点|一?下)?娇|卖(?:个|点|一?下)?萌)(?=[吧嘛呀啊哦啦呗一给]|\W|$)"
        rf"|{_NOT}(?:严肃|板着脸|一本正经|死气沉沉)|\bcheer me (?:on|up)\b|\b(?:hype|pump|pep) me up\b|\bpep talk\b"
        r"|\bencourage me\b|\bsome encouragement\b|\blighten up\b|\bhave (?:some|a little) fun with me\b"
        rf"|\bmake me laugh\b|{_STOP} (?:serious|uptight|gloomy|stern)\b"
    ),
    "strict": (
        r"只[说讲给](?:我)?(?:重点|结论|事实)|(?:直接|就)[说讲给](?:我)?(?:重点|结论|答案)|[说讲挑]重点|[说谈]正事|废话少说"
        r"|少废话|别废话|长话短说|对我(?:要|得|再)*(?:严|狠|凶)(?:一?点儿?|一?些)|(?:别|不要)(?:让我偷懒|惯着我|心软)"
        r"|(?:督促|监督|盯着)我"
        r"|\bjust the facts\b|\b(?:cut|straight) to the (?:chase|point)\b|\bget to the point\b"
        r"|\b(?:no|skip the|cut the|drop the) (?:fluff|small talk|nonsense|chit-?chat)\b|\bstick to the facts\b"
        r"|\bfacts only\b|\b(?:hard|tough|strict) on me\b|\b(?:don't|do not) (?:let me slack|go easy on me)\b"
        r"|\bhold me accountable\b|\bno excuses\b"
    ),
    "hybrid": (
        r"各(?:来|占)?一半|一半[^，,]{1,4}一半[^，,]*|混合?着来"
        r"|\b(?:balanced |even )?mix of (?:both|the two|[^,]*\bmodes)\b|\bhalf and half\b"
        r"|\ba (?:bit|little) of both\b|\bbalance (?:both|the two|reason)\b"
    ),
    "default": (
        r"(?:恢复|回到|变回|回归|切回|换回|做回)(?:成|到)?你?(?:默认|正常|平时|平常|往常|原样|原来|本来|自己)"
        r"|像(?:平时|平常|往常|一?开始|最初|当初|刚开始|原来)(?:一样|那样|的样子)|正常(?:一点|点|说话)"
        r"|模式(?:还原|复原|重置|归位|复位)(?=一下|[吧了啊]|$)|(?:还原|重置|复原)(?:一下|你的|到|成)*(?:模式|默认|原样)"
        r"|\bback to (?:normal|default|usual|yourself|how you (?:usually|normally) (?:are|talk|speak))\b"
        r"|\b(?:to|be|the|back) (?:your )?(?:usual|normal|old|default) (?:self|mode|tone|way)\b"
        r"|\bbe (?:yourself|normal)\b"
        r"|\b(?:how|like|the way) you (?:were|did|talked|spoke|sounded)"
        r" (?:before|(?:at|in) (?:the )?(?:start|beginning|first))\b"
        r"|\b(?:like|as) (?:at|in) the (?:start|beginning)\b|\breset (?:your|the) mode\b"
        r"|\bthe (?:normal|old|usual) you\b"
    ),
}
_VERB_ZH = (
    r"(?:切换?|换|转|调|改|变|用)(?:到|成|为|回|用)?|开启?|打开|启动|进入|回到|恢复(?:到)?|来个?|拿出|保持(?:在)?|使用"
)
_KIND_ZH = "模式|状态|风格|口吻|语气|方式|样子|劲头?|一面"
_END_ZH = r"(?:吧|啊|呀|哦|啦|了|好吗|可以吗|行吗|就好|就行|谢谢|[，。！!~?？\s])*$"
_KIND_EN = "mode|style|tone|voice|self|side|persona|version|energy"
_INTO_EN = r"\b(?:in|into|to|use|on|with|enter|enable|activate|try|start|go|give me|show me|be)(?: the| your| a)?"
_END_EN = r"(?:\W|please|now|on|thanks|thank you|for me|from now on|instead|again)*$"
_BE_EN = (
    r"\b(?:be|get|go|act|stay|sound|more|turn|become)"
    r"(?: (?:more|a bit|a little|as|so|purely|strictly|completely|totally|fully|really|super|extra|very|all|nice and))*"
)
_AFTER_EN = r"(?=(?:,? and \w+)? (?:please|now|about|with|on|here|for|today|tonight|from|again|to|towards?)\b|\W*$)"

# A request is addressed to the soul: only courtesy, "you", "I want" or a verb of changing may stand in front of it.
_COURTESY = lazy_pattern(
    r"(?:\W|请|麻烦|拜托|那么?|这会儿|然后|好[的了啦]?|嗯|哎|诶|喂|行|现在|开始|今天|今晚|这次|接下来|从现在起|从现在开始|以后|今后"
    r"|每次|先|还是|就|快|赶紧|都|你|您|咱们?|我们|[能可]不[能可]|可不可以|可以|可否|能|[给跟对和帮陪]我"
    r"|我(?:现在|今天)?(?:想|要|希望|需要)|希望|想|要|让|说话|说|聊天|聊|回答|回复|讲话|讲|分析|稍微|更|再|尽量|多"
    r"|一起|来|一?点|一下|记得|记住|继续|保持|一直|始终|不如|干脆|直接|吧|的|地|得|时候|了|一|着|把|切换?|换|成|到|用"
    r"|开启?|进入|回到|\b(?:i'd|i'll|let's|please|pls|just|ok|okay|so|now|then|hey|well|right|alright|lets|let|us|can"
    r"|could|would|will|you|i|want|need|to|like|prefer|from|on|(?<!you )always|be|a|an|bit|little|more|today|for|try"
    r"|and|go|switch|change|get|back|kindly|maybe|start|give|me|some|put|yourself|stay|keep|it|turn|set|your|mode"
    r"|think|speak|talk|answer|reply|act|take|come|the|once|again|come|time|look|at|return|revert|reset|drop|act|purely|strictly|how|really|much|being|this)\b)*+",
    re.IGNORECASE,
)


def _exit_pattern() -> str:
    """Matches a request to leave any mode, which is a request for the default."""
    zh, en = ("|".join(names) for names in zip(*_NAMES.values(), strict=True))
    verb = "turn off|exit|quit|leave|disable|end|stop"
    return rf"(?:退出|关闭|关掉|结束|取消|解除)(?:{zh})模式|\b(?:{verb})(?: the)? (?:{en}) mode\b"


def _any_manner(modes: Iterable[RequestedMode]) -> tuple[str, str]:
    """The names and manners of some modes, in Chinese and in English."""
    zh, en = zip(*(words[mode] for mode in modes for words in (_NAMES, _MANNERS)), strict=True)
    return "|".join(zh), "|".join(en)


def _blend_pattern() -> str:
    """Matches two modes in one request, which is a request for the hybrid."""
    zh, en = _any_manner(("rational", "idol", "strict"))
    return (
        rf"半(?:{zh})半(?:{zh})|(?:{zh})[和跟与加](?:{zh})(?:都|混|结合|兼顾|并存|搭配)"
        rf"|\bhalf[ -](?:{en})(?: \w+)?(?: and)? half[ -]\w+"
        rf"|\b(?:mix|blend|combine|combination|balance)(?: of| between| your| being)*"
        rf" (?:{en})(?: \w+)? (?:and|with)\b"
    )


def _request_pattern(mode: RequestedMode) -> re.Pattern[str]:
    zh, en = _NAMES[mode]
    named_zh = rf"(?:{_VERB_ZH})(?:一下|你的|那个|个)?(?:{zh})(?:分析|思考)?的?(?:{_KIND_ZH})|(?:{zh})模式(?={_END_ZH})"
    some_en = _any_manner([mode])[1]
    named_en = (
        rf"{_INTO_EN} (?:{en}) (?:mode|style|tone|voice)\b|\b(?:{en}) mode(?={_END_EN})|\bmode (?:to )?(?:{en})\b"
        rf"|{_INTO_EN}(?: [\w-]+){{0,2}}? (?:{some_en})(?: [\w-]+){{0,2}}? (?:{_KIND_EN}){_AFTER_EN}"
    )
    others = {"default": _exit_pattern, "hybrid": _blend_pattern}
    other = f"|{others[mode]()}" if mode in others else ""
    frames = (named_zh, named_en, _manner_pattern(mode), _role_pattern(mode), _OTHER_REQUESTS[mode] + other)
    return lazy_pattern("|".join(frames), re.IGNORECASE)


def _manner_pattern(mode: RequestedMode) -> str:
    zh, en = _MANNERS[mode]
    doing = "一?点儿?|一?些|起来|满满|分析|思考|讨论|看待|对待|地[^，,]{0,2}[说聊谈讲看帮想分讨]"
    return rf"(?:{zh}|[又和而、])*(?:{zh})(?:{doing})|{_BE_EN}(?: [\w-]+ (?:and|but))? (?:{en}){_AFTER_EN}"


def _role_pattern(mode: RequestedMode) -> str:
    """Matches a role the soul is to play; "I want to be a scientist" is a plan of the user's own."""
    zh, en = _ROLES[mode]
    return (
        rf"(?<!想)(?<!我要)(?:当|做|扮演?|变成|化身成?)(?:(?:一下|我的?|一?[个位名])+[^，,]{{0,5}}?|魔鬼)?(?:{zh})"
        rf"|像(?:一?[个位名])?[^，,]{{0,3}}?(?:{zh})(?:一样|那样|似的|般)(?=[^，,]*(?:[说聊讲谈回想]|[跟和对陪给哄帮求管]我)|\W*$)"
        rf"|(?:(?<!to )|(?<=you to )|(?<=time to ))\b(?:be|act|play|go|turn|think|talk|channel)"
        rf"(?: (?:like|as|into|full|all|my|your|an?|the))+(?: [\w-]+){{0,2}}? (?:{en}){_AFTER_EN}"
    )


_REQUESTS = {mode: _request_pattern(mode) for mode in _NAMES}

_ZH, _EN = _any_manner(_NAMES)
_LISTED = lazy_pattern(
    rf"(?P<zh>{_ZH})、(?=(?:{_ZH}))|\b(?P<en>{_EN}|(?:your|an?|the) [\w-]+),(?= (?:{_EN})\b)", re.IGNORECASE
)
_CLAUSE_END = lazy_pattern(r"[\n，,。.！!？?；;]")
_HINTS: dict[Mode, re.Pattern[str]] = {
    "rational": lazy_pattern(
        r"```|Traceback \(most recent|^[ \t]+at [\w.$<>]+\(.*\)|(?-i:\b[A-Z]\w*(?:Error|Exception)\b)|\bstack ?trace\b"
        r"|\bsegmentation fault\b|\bsegfault\b|\bcore dumped\b|\bexit code \d|\b(?:HTTP|status)[ /:]*[45]\d\d\b"
        r"|\bE(?:RR)?[-_]?\d{3,}\b|\berrno\b|\berror code\b|\b0x[0-9a-f]{4,}\b|\b(?:compile|syntax|runtime) error\b"
        r"|\b(?:debug|null pointer)\b|报错|错误[代]?码|堆栈|编译(?:失败|不过|错误)|抛出?了?异常|程序异常"
        r"|异常(?=信息|日志|码|退出|堆栈|\W|$)",
        re.IGNORECASE | re.MULTILINE,
    ),
    "idol": lazy_pattern(
        r"(?:生日|新年|圣诞|中秋|节日|周年|元旦|情人节|儿童节)快乐"
        r"|[写作编来](?:一?[首个段篇封])?[^，。,.!！?？]{0,6}?(?:诗|情书|歌词|故事|童话|小说)"
        r"|[讲说](?:一?个)[^，。,.!！?？]{0,4}(?:故事|笑话|童话)|唱(?:一?首|个|支)?[^，。,.!！?？]{0,4}歌|庆祝|恭喜"
        r"|纪念日|我[^，。,.!！?？]{0,6}(?:考上|升职|毕业|夺冠|得奖|中奖)(?:了|啦)"
        r"|\bhappy (?:birthday|new year|anniversary)\b|\bmerry christmas\b|\blet'?s celebrate\b|\bcongrat\w*"
        r"|\bsing (?:me|us|a|something)\b"
        r"|\b(?:write|compose|make up|invent|tell)(?: me| us)? (?:a|an|some)(?: \w+){0,2}?"
        r" (?:poem|song|story|haiku|lyrics|limerick|fairy tale|joke)\b"
        r"|\bi (?:got the job|got promoted|passed|won|graduated|made it)\b",
        re.IGNORECASE,
    ),
}


@lru_cache(maxsize=64)
def mode_request_in(text: str) -> ModeRequest | None:
    """The mode a user requests in their own words, the last of several; None without a request."""
    sentences = (_LISTED.sub(_joined, sentence) for sentence in wish_sentences(text))
    requests = [found for sentence in sentences for clause in clauses_of(sentence) for found in _requests_in(clause)]
    return requests[-1] if requests else None


def mode_hint_in(text: str) -> ModeHint | None:
    """The mode that suits a text: rational for errors, idol for celebrations and creative requests; else None."""
    for mode, pattern in _HINTS.items():
        for match in pattern.finditer(text[:MAX_CHARS]):
            if not is_refused(_CLAUSE_END.split(text[: match.start()])[-1]):
                return ModeHint(mode, match.group().strip())
    return None


def _joined(listed: re.Match[str]) -> str:
    """Two manners in a list belong to one clause."""
    return f"{listed['zh']}和" if listed["zh"] else f"{listed['en']} and"


def _requests_in(clause: str) -> list[ModeRequest]:
    """The requests of a clause, in their order; one may follow another without punctuation."""
    found = ((match, mode) for mode, pattern in _REQUESTS.items() for match in pattern.finditer(clause))
    requests, start = [], 0
    for match, mode in sorted(found, key=lambda pair: pair[0].start()):
        if match.start() >= start and _COURTESY.fullmatch(clause, start, match.start()):
            requests.append(ModeRequest(mode, clause))
            start = match.end()
    return requests
