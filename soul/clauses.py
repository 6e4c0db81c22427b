"""Splits a user's text into the sentences and clauses that may state a wish.

Code, quotations, plain questions, suppositions and hearsay are left out.
"""

import re

from soulgraph.soul.own_words import own_words
from soulgraph.soul.patterns import lazy_pattern

MAX_CHARS = 2000  # of a text; only its beginning is searched

_NAMED = lazy_pattern(
    r"“([^”\n]*)”|「([^」\n]*)」|『([^』\n]*)』|《([^》\n]*)》|\"([^\"\n]*)\"|`([^`\n]*)`|‘([^’'\n]*)[’']"
)
_SENTENCE = lazy_pattern(
    r"(?:[^。！？!?；;…~～\n.]|\.(?=\S)|(?<=\b[DM][rs])\.|(?<=\bMrs)\.|(?<=\bProf)\.)+[。！？!?；;…~～.]*",
    re.IGNORECASE,
)
_CLAUSE = lazy_pattern(r"[^，,、:：]+")
_PAUSES = " \t。.！!；;…~～"

_POLITE_IF = lazy_pattern(
    r"(?:如果|要是)?(?:可以|方便|不介意|行|能)的话|如果(?:可以|方便|不介意)"
    r"|\bif (?:you (?:don't mind|do not mind|can|could|would|will|like|please)|possible"
    r"|(?:that|it)'?s (?:ok|okay|fine|alright)(?: with you)?)\b",
    re.IGNORECASE,
)
_SUPPOSES = lazy_pattern(
    r"如果|要是|假如|假设|万一|倘若|(?<![说讲你您我])的话|[是换成要]我的话|会怎么?样|会如何"
    r"|\b(?:(?<!prefer it )(?<!like it )if|unless|suppose|imagine|would it be|would have)\b",
    re.IGNORECASE,
)
_IS_RULE = lazy_pattern(
    r"\W*(?:以后|今后|往后|从现在|从今|记住|from now on|going forward|in (?:the )?future)", re.IGNORECASE
)
_WONDERS = lazy_pattern(r"会怎么?样|会如何|就好了|多好|[?？]|\b(?:what if|would|wish)\b", re.IGNORECASE)
_SPEAKS_ABOUT = lazy_pattern(
    r"^\W*(?:请|帮我|你)*(?:把|将)?翻译|跟我念|造句|什么是|是什么|什么叫|什么意思|啥意思|是啥|有啥|有什么|有哪些|哪[些个种]|区别|介绍|(?<!每次)(?<!每回)解释(?!得|的时候)|说明(?!书)|讲讲"
    r"|讲一下|为什么(?!老|总|又)|为啥(?!老|总|又)|(?<![你您话])怎么(?!又|老|总|还|这么|那么)|[你您话]怎么(?!又|老|总|还|这么|那么|跟|像|和)|(?<!无论)如何|听说|(?<![数证根])据说|以前|昨天|小时候"
    r"|^\W*(?:please |can you |could you )*(?:translate|repeat after me)\b"
    r"|\b(?:what(?:'s| is| are| does| was| do)|which|why(?! (?:do|are|must) you (?:keep|always))"
    r"|how (?:do|does|is|can|would)|difference|means?|meaning"
    r"|explain(?! (?:things|everything|more)|[^,;]* in (?:more |greater )?(?:detail|depth))|describe"
    r"|(?:tell me|know|heard?|read|learn(?:ed)?|wonder\w*|think|thinking) about|used to|yesterday)\b",
    re.IGNORECASE,
)
PERSONS_ZH = (
    "[老导教]师|老板|领导|客[户服]|同[事学]|朋友|室友|医生|面试官|邻居|[男女]友|对象|前任|闺蜜|经理|主管|组长|总监|教授|教练"
    "|[校班店院]长|保安|房东|司机|店员|秘书|护士|网友|主播|队友|亲戚|家人|阿姨|叔叔|大[爷妈叔婶伯]|师傅|[表堂][哥姐弟妹]|[婆公]{2}|岳[父母]|学[生长姐弟妹]"
)
_HEARSAY = lazy_pattern(
    rf"(?:[他她它]们?|人家|别人|大家|有人|{PERSONS_ZH}"
    r"|[我他她](?:妈妈?|爸爸?|老婆|老公|姐姐?|妹妹?|哥哥?|弟弟?|奶奶|爷爷|孩子|儿子|女儿))"
    r"(?!一样|那样|似的)[^你了，,]{0,3}?(?:说|让|叫|要|告诉|觉得|喜欢|希望|问|嫌|劝)|[他她它]们?的|被[^你，,]{1,6}(?:说|嫌|批评|骂|夸)"
    r"|\b(?:they|people) (?:always |all )?(?:say|want|call|like)\b"
    r"|\b(?:he|she|they|someone|somebody|people|everyone|my (?!name)\w+|the \w+|(?-i:[A-Z][a-z]+))"
    r" (?:just |always |never |once |also )?"
    r"(?:said|says|told|tells|wants|wanted|asked|asks|thinks|likes|prefers|kept|keeps|calls|called)\b",
    re.IGNORECASE,
)
_ASKS = lazy_pattern(
    r"[?？]|[吗么]\W*$|(?:^|[，,])[^，,在]*呢\W*$|^\W*(?:(?:and|so|but|hey|well)\W+)?"
    r"(?:is|are|was|were|am|do(?!n't| not)|does|did|have|has|had|should|shall|what|why|how|who|when|where)\b",
    re.IGNORECASE,
)
_REQUESTS = lazy_pattern(
    r"[能可]不[能可]|可不可以|可以.*[吗么]|能.*[吗么]|[行好]不[行好]|[好行成][吗么]|可否|请|麻烦|拜托|[说讲告诉]过[^，,]{0,4}(?:别|不要|不用)"
    r"|怎么(?:又|老|总|还)|为[什啥]么?(?:老|总|又)|\b(?:can|could|would|will|won't|can't|couldn't) you\b|\bplease\b"
    r"|\b(?:ok|okay|alright)\s*\?|\bwhy (?:do|are|must) you\b",
    re.IGNORECASE,
)
_REFUSES = lazy_pattern(
    r"(?:(?<![特区分告性级个识])别|(?<!要)不要|(?<!用)不用|(?<!想)不想|不必|不需要|不许|不准|不是|不喜欢|不爱|讨厌"
    r"|没有?|(?<![好要能可行])不|甭|勿|无需)"
    r"(?:[再又你要想用总老是太让说搞整讲写编唱都得我听发加带]|[给跟对]我|那么|这么|这样|每次|一直|什么|以后)*$"
    r"|\b(?:don't|do not|dont|never|not|no|without|stop|quit|isn't|wasn't|didn't|doesn't|hate|won't|wouldn't"
    r"|needn't)"
    r"(?: (?:a|an|the|to|be|being|you|want|need|have|use|using|in|into|so|too|that|this|it|any|like|please"
    r"|ever|me|my|your|start|keep|always|say|said|asking|asked|for|write|tell|sing))*\s*$",
    re.IGNORECASE,
)


def own_sentences(text: str) -> list[str]:
    """The sentences of a text in its author's own words: without code, quotations and "if you like"."""
    said = _NAMED.sub(_unquoted, own_words(text[:MAX_CHARS]))
    sentences = (_POLITE_IF.sub("", match.group()).strip() for match in _SENTENCE.finditer(said))
    return [sentence for sentence in sentences if sentence]


def wish_sentences(text: str) -> list[str]:
    """The sentences of a text that may state its author's own wish; a request phrased as a question counts."""
    return [sentence for sentence in own_sentences(text) if not _only_mentions(sentence)]


def clauses_of(sentence: str) -> list[str]:
    return [stripped for clause in _CLAUSE.findall(sentence) if (stripped := clause.strip(_PAUSES))]


def is_refused(before: str) -> bool:
    """Whether the part of a clause before some words negates them."""
    return _REFUSES.search(before) is not None


def _unquoted(name: re.Match[str]) -> str:
    return next(group for group in name.groups() if group is not None)


def _supposes(sentence: str) -> bool:
    """A condition inside a rule for the future supposes nothing: "from now on, if I am tired, keep it short"."""
    return _SUPPOSES.search(sentence) is not None and not (_IS_RULE.match(sentence) and not _WONDERS.search(sentence))


def _only_mentions(sentence: str) -> bool:
    """Whether a sentence supposes, reports or asks about something instead of requesting it."""
    if _supposes(sentence) or _SPEAKS_ABOUT.search(sentence) or _HEARSAY.search(sentence):
        return True
    return _ASKS.search(sentence) is not None and _REQUESTS.search(sentence) is None
