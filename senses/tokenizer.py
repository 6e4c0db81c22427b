"""The tokenizer of both languages: English stems and Chinese character bigrams, without stop words."""

import re
from functools import cache, lru_cache
from operator import add
from zlib import crc32

import numpy as np

from soulgraph.senses.stemming import stemmer as _stemmer
from soulgraph.senses.synonyms import Synonyms, build_synonyms, synonym_groups
from soulgraph.senses.text import normalise

MAX_CHARS = 8000
"""Characters of a text that are read, as many as a person can say at once; a longer one is found by its beginning."""

MAX_TERMS = 512
"""Terms kept of one text."""

MAX_WORD = 64
"""Letters of a word that count: no word is longer, and the stemmer takes quadratic time."""

_HAN = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_FIRST_HAN = "\u3040"
_RUN = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+(?:'[^\W_{_HAN}]+)*")

_STOP_WORDS = """
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
_STOP_TERMS = frozenset(_STOP_WORDS.split())
# Forms that the stemmer does not lead back to their word: `form word`, separated by commas.
_IRREGULAR = """
ate eat, eaten eat, became become, began begin, begun begin, bought buy, broke break, broken break, brought bring,
built build, came come, caught catch, children child, chose choose, chosen choose, drank drink, drawn draw, drew draw,
driven drive, drove drive, drunk drink, fallen fall, feet foot, fell fall, felt feel, flew fly, flown fly,
forgot forget, forgotten forget, fought fight, found find, froze freeze, frozen freeze, gave give, given give,
grew grow, grown grow, heard hear, held hold, hid hide, hidden hide, kept keep, knew know, knives knife, known know,
led lead, left leave, lent lend, lost lose, meant mean, men man, met meet, mice mouse, paid pay, people person,
ran run, rang ring, ridden ride, risen rise, rode ride, rose rise, sang sing, sat sit, saw see, seen see, sent send,
shaken shake, shook shake, shot shoot, shown show, slept sleep, sold sell, sought seek, spent spend, spoke speak,
spoken speak, stole steal, stolen steal, stood stand, struck strike, sung sing, swam swim, swept sweep, swum swim,
taken take, taught teach, teeth tooth, thought think, threw throw, thrown throw, took take, tore tear, torn tear,
understood understand, wives wife, woke wake, woken wake, women woman, won win, wore wear, worn wear, written write,
wrote write
"""

# A bigram of two of these is a stop word; beside another character each of them helps to tell words apart.
FUNCTION_CHARS = frozenset(
    "的了吗呢吧啊呀嘛哦嗯我你您他她它们是在有和与就都也很还不没这那个么什怎哪谁会要能可以被把给让到对说去来着过得地"
)


# Phrases that only greet, thank or agree are no query. They are regexes, separated by commas.
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
_PHRASES = sorted(" ".join(_COURTESIES.split()).split(", "), key=len, reverse=True)
_COURTESY = re.compile(
    rf"\b(?:{'|'.join(filter(str.isascii, _PHRASES))})\b"
    rf"|{'|'.join(phrase for phrase in _PHRASES if not phrase.isascii())}"
)


def terms_of(text: str) -> list[str]:
    """The terms of a text in their order, with repetitions; each has letters and digits only."""
    return list(_terms_of(text))


@lru_cache(maxsize=1024)
def _terms_of(text: str) -> tuple[str, ...]:
    """Remembered: a turn asks for those of the same texts several times, and what is recalled comes again."""
    terms: list[str] = []
    for run in _RUN.findall(_plain(text).lower()):
        if run[0] >= _FIRST_HAN:
            terms += _bigrams(run)
        elif stem := _stem(run[:MAX_WORD]):
            terms.append(stem)
    return tuple(terms[:MAX_TERMS])


def index_terms(text: str) -> list[str]:
    """The words of a text and its concepts, which are the same in both languages."""
    return words_of(text) + concepts_of(text)


def words_of(text: str) -> list[str]:
    """The terms of a text, with irregular forms led back to their word: bought is found by buy."""
    return [_words_of_forms().get(term, term) for term in terms_of(text)]


def concepts_of(text: str) -> list[str]:
    """The concepts of a text alone."""
    return _synonyms().concepts(_plain(text), terms_of(text))[:MAX_TERMS]


def query_terms(text: str) -> list[int]:
    """The fingerprints of a query's terms; empty for a greeting, thanks or agreement."""
    return [fingerprint(term) for term in index_terms(without_courtesies(text))]


def without_courtesies(text: str) -> str:
    """The text in lower case, without phrases that only greet, thank or agree."""
    return _COURTESY.sub(" ", _plain(text).lower())


def fingerprints(text: str, *more: str) -> bytes:
    """The fingerprints of a text's index terms and of `more`, packed as little-endian 32-bit numbers."""
    return np.array([fingerprint(term) for term in (*index_terms(text), *more)], dtype="<u4").tobytes()


def text_size(text: str) -> int:
    """How much a text says, about the number of its letters; a Chinese character counts as two."""
    return len(text) + sum(char >= _FIRST_HAN for char in text)


def fingerprint(term: str) -> int:
    return crc32(term.encode())


def _plain(text: str) -> str:
    """The beginning of a text in plain letters, of which some are several: ﷺ is eighteen."""
    return normalise(text[:MAX_CHARS])[:MAX_CHARS]


def _bigrams(run: str) -> list[str]:
    """The bigrams of a run of Chinese characters without stop words; a single character is a term itself."""
    bigrams = map(add, run, run[1:]) if len(run) > 1 else [run]
    return [
        pair
        for pair in bigrams
        if pair not in _STOP_TERMS and not (pair[0] in FUNCTION_CHARS and pair[-1] in FUNCTION_CHARS)
    ]


@lru_cache(maxsize=2048)
def _stem(word: str) -> str:
    """The stem of an English word without what follows an apostrophe; empty for a stop word."""
    plain = word.partition("'")[0]
    if plain in _STOP_TERMS or word.replace("'", "") in _STOP_TERMS:
        return ""
    stem: str = _stemmer().stemWord(plain) if plain.isalpha() else plain
    return stem


@cache
def _words_of_forms() -> dict[str, str]:
    pairs = (pair.split() for pair in " ".join(_IRREGULAR.split()).split(", "))
    return {_stem(form): _stem(word) for form, word in pairs}


@cache
def _synonyms() -> Synonyms:
    return build_synonyms(synonym_groups(), _stem)
