"""Whether a sentence tells of what was or of what will be, judged from its verbs near a place."""

import re
from bisect import bisect_left

from soulgraph.senses.values.periods import Tense

_PAST_EN = (
    "was|were|wasn't|weren't|did|didn't|had|hadn't|been|went|came|got|took|made|said|told|saw|met|gave|found|left|felt"
    "|thought|knew|bought|brought|ate|drank|drove|flew|ran|sat|slept|spoke|spent|stood|taught|wrote|woke|won|lost|kept"
    "|heard|held|paid|sent|sold|built|broke|began|fell|fought|forgot|grew|rang|rode|sang|swam|stole|threw|wore|caught"
    "|chose|became|blew|drew|dreamt|hung|hid|led|lent|lay|meant|shot|shook|stuck|struck|tore|understood|couldn't"
    "|used to|burnt|learnt|quit|split|[a-z]{2,}ed"
)
# Forms in -ed that are no verbs, or verbs of plans.
_NO_PAST_EN = (
    "need|feed|seed|speed|indeed|exceed|proceed|succeed|breed|bleed|weed|greed|excited|tired|bored|scared|worried|naked"
    "|married|red|bed|shed|hundred|sacred|wicked|interested|complicated|exhausted|stressed|annoyed|relaxed|pleased"
    "|disappointed|confused|retired|divorced|engaged|crowded|blessed"
)
_FUTURE_EN = (
    "will|won't|shall|gonna|going to|wanna|want to|need to|have to|has to|got to|gotta|must|should|might|may|could you"
    "|can|let's|lets|plan|plans|planning|hope|hoping|remind|remember to|don't forget|due|see you|[a-z]+'(?:ll|d)"
    "|supposed to|booked|scheduled|upcoming|(?:i'm|we're|you're|he's|she's|they're|is|are|am|be|im) [a-z]+ing|coming up"
    "|starts|(?:[a-z]+'ve|have|has|she's|he's) got|begins|opens|leaves|arrives|expires|ask me|wake me|call me|tell me"
)
_PAST_ZH = (
    "(?<![为除算好别忘罢得点号半末天年月周刻分])了(?!解)|(?<![不经通超难路再])过(?![来去年节两几])|曾|刚|已经|当时|那时|那会"
    "|来着|还在|本来|原来|(?<![号日天月年周期拜点分时一二三四五六末])(?:之前|以前)|才(?![能会行可])|又(?![要会想])|还没"
)
_FUTURE_ZH = (
    r"(?:要|快|该|别)[^,，。！？\s]{0,6}?了|要(?!是)|(?<![社开机])会(?![议场])|打算|准备|将|记得|提醒|别忘|想|应该"
    "|得去|能|可以|计划|安排|希望|快|吧|再|约[好了的]|见|必须|需要|叫我|问问?我|到期|改[到成在]|推迟|推到|延[期到]"
)
_CUE = re.compile(
    rf"\b(?:{_NO_PAST_EN})\b|\b(?P<future>{_FUTURE_EN})\b|\b(?P<past>{_PAST_EN})\b"
    rf"|(?P<future_zh>{_FUTURE_ZH})|(?P<past_zh>{_PAST_ZH})"
    r"|(?P<now>\b(?:is|are)\b|是)|(?P<stop>[.!?。！？\n…;；]|\b(?:and|but|because|so|which|who|while)\b)"
    r"|(?P<pause>[,，])"
)
_MAX_STEPS = 8
# A time that is a clause of its own belongs to the verb beyond a comma: "On Friday, we met".
_CLAUSE_BEGIN = re.compile(r"(?:^|[,，.!?。！？\n;；]|\b(?:and|but|so)\b)\s*(?:(?:on|in|at|by)\s+)?$")
_CLAUSE_END = re.compile(r"\s*(?:$|[,，.!?。！？\n;；])")
_MAX_LEAD = 12
_FAR = 10_000


class Tenses:
    """The signs of tense in a text, for questions about places in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = [(cue.start(), cue.lastgroup) for cue in _CUE.finditer(text) if cue.lastgroup]
        self._places = [place for place, _ in found]
        self._kinds = [kind.removesuffix("_zh") for _, kind in found]

    def at(self, start: int, end: int) -> Tense:
        """The tense of the verb nearest to a span within its clause; "any" without one."""
        lead = self._text[max(0, start - _MAX_LEAD) : start]
        alone = bool(_CLAUSE_BEGIN.search(lead) and _CLAUSE_END.match(self._text, end))
        first = bisect_left(self._places, start)
        after = bisect_left(self._places, end)
        left = self._nearest(range(first - 1, max(-1, first - 1 - _MAX_STEPS), -1), start, alone)
        right = self._nearest(range(after, min(len(self._kinds), after + _MAX_STEPS)), end, alone)
        kind = min(left, right)[1]
        return "past" if kind == "past" else "future" if kind == "future" else "any"

    def _nearest(self, steps: range, place: int, cross: bool) -> tuple[int, str]:
        """How far the next verb is, and its tense."""
        for n in steps:
            kind = self._kinds[n]
            distance = abs(self._places[n] - place)
            if kind == "stop" or (kind == "pause" and not cross):
                break
            if kind != "pause":
                return distance, kind
            cross = False
        return _FAR, ""
