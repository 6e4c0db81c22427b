"""One tokeniser for both languages: English stems and Chinese character pairs, without the words that say nothing."""

import re
from functools import cache, lru_cache
from operator import add
from zlib import crc32

import numpy as np
import snowballstemmer  # type: ignore[import-untyped]

from soulgraph.senses.synonyms import Synonyms, everyday_words, read_synonyms
from soulgraph.senses.text import normalise

MAX_TERMS = 512
"""Terms of one text: a pasted book is findable by its beginning."""

_HAN = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_FIRST_HAN = "\u3040"
_RUN = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+(?:'[^\W_{_HAN}]+)*")

_COMMON = """
a about after again all also am an and any are as at be because been before being but by can could did do does doing
don down during each else even ever few for from further get gets getting go going gone got had has have having he her
here hers herself him himself his how i if in into is it its itself just let like ll m made make many may me might more
most much must my myself no nor not now of off oh ok okay on once one only or other our ours ourselves out over own re
really s said same say says shall she should so some such sure t than that the their theirs them themselves then there
these they thing things this those through to too under until up upon us ve very was we well were what when where which
while who whom whose why will with would yeah yes yet you your yours yourself yourselves remember tell told know please
cant couldnt didnt doesnt dont hadnt hasnt havent isnt arent wasnt werent wont wouldnt shouldnt aint
时候 记得 知道 觉得 一下 一个 有点 起来 告诉 诉我 还记 得吗 记不 得我 是不 为什
"""
_STOP = frozenset(_COMMON.split())
# A pair made of these alone is grammar, not content; beside another character each of them helps to tell words apart.
_GRAMMAR = frozenset(
    "的了吗呢吧啊呀嘛哦嗯我你您他她它们是在有和与就都也很还不没这那个么什怎哪谁会要能可以被把给让到对说去来着过得地"
)


# What only greets, thanks or nods asks for nothing. Separated by commas; a plus means as often as one likes.
_COURTESIES = """
good morning, good night, good evening, good afternoon, goodbye, good bye, bye, hello, hi, hey, see you,
see you later, see you tomorrow, see you soon, take care, thank you, thanks, thanks a lot, thank you very much,
thank you so much, you're welcome, you are welcome, you're right, you are right, you're funny, you are funny,
how are you, what's up, i'm back, i am back, i'm here, i'm fine, i am fine, never mind, no problem, sorry,
hold on, wait a second, wait a minute, wait a moment, just a second, just a moment, that's fine, that is fine,
that's great, that's nice, that's good, that's right, all right, of course, i see, got it, sounds good, indeed,
wow, lol, ha(?:ha)+, h+m+, 晚安, 早安, 早上好, 上午好, 中午好, 下午好, 晚上好, 你好, 您好, 大家好, 再见, 拜拜,
明天见, 回头见, 谢谢, 谢谢你, 多谢, 感谢, 不客气, 没关系, 没事, 没事啦, 没事了, 对不起, 不好意思, 辛苦了,
没问题, 好的, 好吧, 好呀, 好啊, 行吧, 我回来了, 我来了, 在吗, 在不在, 干嘛, 哈+, 嘿+, 呵+, 原来如此, 真的,
真的吗, 真的假的, 等一下, 等等, 稍等, 这样, 就这样, 先这样, 知道了, 明白了, 加油
"""
_COURTESY = re.compile(
    "|".join(
        rf"\b(?:{said})\b" if said.isascii() else said
        for said in sorted(" ".join(_COURTESIES.split()).split(", "), key=len, reverse=True)
    )
)


def terms_of(text: str) -> list[str]:
    """The terms in their order, as often as they occur: letters and digits only, never with a space."""
    terms: list[str] = []
    for run in _RUN.findall(normalise(text).lower()):
        if run[0] >= _FIRST_HAN:
            terms += _pairs(run)
        elif stem := _stem(run):
            terms.append(stem)
    return terms[:MAX_TERMS]


def index_terms(text: str) -> list[str]:
    """The terms of a text, and what it speaks of in either language."""
    terms = terms_of(text)
    return terms + _synonyms().meanings(normalise(text), terms)[:MAX_TERMS]


def query_terms(text: str) -> list[int]:
    """The fingerprints of what a text calls to mind; none for a greeting, a thank-you or a nod."""
    return [fingerprint(term) for term in index_terms(_COURTESY.sub(" ", normalise(text).lower()))]


def fingerprints(text: str) -> bytes:
    """What a text is found by, as numbers of four bytes: what an index needs of it, small and fast to read."""
    return np.array([fingerprint(term) for term in index_terms(text)], dtype="<u4").tobytes()


def fingerprint(term: str) -> int:
    return crc32(term.encode())


def _pairs(run: str) -> list[str]:
    """Each two characters that stand beside each other; a character that stands alone is a term itself."""
    pairs = map(add, run, run[1:]) if len(run) > 1 else [run]
    return [pair for pair in pairs if pair not in _STOP and not (pair[0] in _GRAMMAR and pair[-1] in _GRAMMAR)]


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    """Empty for a word that says nothing; `don't` and `Mika's` are read without what follows the apostrophe."""
    plain = word.partition("'")[0]
    if plain in _STOP or word.replace("'", "") in _STOP:
        return ""
    stem: str = _stemmer().stemWord(plain) if plain.isalpha() else plain
    return stem


@cache
def _synonyms() -> Synonyms:
    return read_synonyms(everyday_words(), _stem)


@cache
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")
