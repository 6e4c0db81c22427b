"""Finds the names of people, animals and places in what was said, in both languages, by how they are introduced."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from soulgraph.soul.patterns import lazy_pattern

IsCommon = Callable[[str], bool]
"""Whether a word, in small letters, is one that everybody uses."""

HAN = r"\u3400-\u9fff"
_ACCENTS = lazy_pattern(r"[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufe0e\ufe0f\ufeff]")
_BOUND = r"(?<![A-Za-z0-9_]){}(?![A-Za-z0-9_])"
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方"
    "邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常汤康易乔赖文欧施洪季柯童颜翁梅盛柳邢骆岳齐沙尤祝纪舒耿卜詹关费鲍"
)
# Nobody is called so, though a person is meant, or somebody is spoken of in general.
_NOT_NAMES = lazy_pattern(
    r"[你我他她它您咱谁啥这那哪每某各人的了吗呢吧啊不没很太真都也还又再就才只是在有和跟给被把让叫说想要会能可去来上下里外什怎么们个些]"
)
_ROLE_WORD = lazy_pattern(
    r"(?:爸|妈|爷|奶|哥|姐|弟|妹|叔|伯|姨|姑|舅|婆|公|孙|儿子|女儿|闺女|孩子|小孩|老公|老婆|丈夫|妻子|老伴|男友|女友|朋友|对象|老师|医生|护士"
    r"|大夫|老板|领导|同事|同学|室友|邻居|房东|客人|客户|经理|主任|教练|师傅|大家|医院|公司|学校|单位|家里|领导|书上|网上|新闻|电视|手机|老人|猫|狗)"
)
_TITLES = (
    "老师|医生|大夫|护士|阿姨|叔叔|师傅|经理|主任|教授|同学|先生|女士|小姐|老板|总|哥|姐|叔|婶|爷爷|奶奶|爷|奶|工|导"
    "|队|处|局|妈|爸|嫂"
)
_END = rf"(?=[^{HAN}A-Za-z]|$)"
_DOES = (
    "说|问|告诉|答应|打电话|骂|哭|笑|走了|来了|死了|病了|不见|生气|借|欠|骗|结婚|离婚|搬|住院|去世|没了|又|也|总|老是"
    "|从来|已经|昨天|今天"
)

_INTRODUCED = lazy_pattern(
    rf"(?:我叫|名叫|叫做|叫作|名字(?:叫|是)|取名|起名|外号|绰号|小名|大名|网名|昵称|乳名|姓名|[我他她它]叫"
    rf"|[都就以]叫我|管[我他她它]叫|[都就以]喊我|[{HAN}]叫)(?:是|为|叫)?\s?([{HAN}]{{1,4}}?)(?:吧|呀|啊|哦|呢|啦|了|的)?{_END}"
)
_RUNNING = lazy_pattern(rf"(?:名叫|叫做|名字叫|取名叫?|起名叫?|外号叫?|绰号叫?|小名叫?|昵称叫?)([{HAN}]{{2,3}})")
_NICKNAME = lazy_pattern(
    rf"阿[{HAN}]|[老小大][{_SURNAMES}](?:子|儿)?|[{_SURNAMES}]{{1,2}}(?:{_TITLES})|[{_SURNAMES}][老总工导](?![是在是实])"
)
_FULL_NAME = lazy_pattern(rf"[{_SURNAMES}][{HAN}]{{1,2}}")
_WITH = lazy_pattern(
    r"(?:跟|和|与|给|找|被|让|陪|替|帮|问|骂|恨|想|爱|等|对|向|把|嫁给|娶了?|喜欢|梦见|想念|认识|我家|我们家"
    rf"|同事|朋友|同学|室友|儿子|女儿|老公|老婆)([{HAN}]{{2,3}})"
)
_SPOKE = lazy_pattern(rf"(?:^|[^{HAN}])([{HAN}]{{2,3}}?)(?={_DOES})")
# Words that are somebody's name as soon as they do something.
_NICKNAME_WORDS = (
    "胖子|瘦子|眼镜|光头|大头|黑子|猴子|石头|铁蛋|狗蛋|妞妞|豆豆|馒头|包子|饺子|汤圆|团子|年糕|布丁|可乐|奶茶|花花"
    "|花生|大黄|小黑|小白|小花"
)
_DOING = lazy_pattern(rf"(?:^|[^{HAN}]|[狗猫鸟兔龟子儿女孙弟妹])({_NICKNAME_WORDS})(?={_DOES})")
_DOUBLED = lazy_pattern(rf"([{HAN}])\1")
_REDUPLICATED = frozenset(
    "聊看想说走试坐听谈玩转逛歇等问尝笑哭写天常爸妈爷奶哥姐弟妹叔伯姨舅公婆人个处时刻慢好快轻偷悄刚仅渐往默静星点等谢宝狗猫"
)

_LATIN_IN_HAN = lazy_pattern(rf"(?<=[{HAN}])\s?([A-Z][A-Za-z'-]+)|([A-Z][A-Za-z'-]{{1,40}})\s?(?=[{HAN}])")
_ENGLISH_INTRODUCED = lazy_pattern(
    r"\b(?:called|named|name is|name's|call me|known as|nicknamed)\s+"
    r"(?!(?:not|what|it|the|a|me|my|him|her|them|us|you|off|in|on|for|to|by)\b)([A-Za-z][A-Za-z'-]+)",
    re.IGNORECASE,
)
_TITLED = lazy_pattern(
    r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Aunt|Auntie|Uncle|Nurse|Father|Sister|Brother|Grandma|Grandpa)\.?"
    r" ([A-Z][A-Za-z'-]+)"
)
_INSIDE = lazy_pattern(r"(?<=[A-Za-z0-9,;:'’\"”)] )[\"“'‘(]?([A-Z][a-z][A-Za-z'-]*|[A-Z]'[A-Z][A-Za-z]+)")
_FIRST = lazy_pattern(r"(?:^|[.!?…:\n]\s{0,8}[\"“'‘]?)([A-Z][a-z][A-Za-z]*)")
_CALENDAR = lazy_pattern(
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|September"
    r"|October|November|December|Christmas|Easter|I(?:'\w+)?|Mum|Mom|Mummy|Dad|Daddy|Grandma|Grandpa|Gran|Granny|Nan"
    r"|Mr|Mrs|Ms|Miss|Dr|Internet|English|OK|Okay)(?:'s)?"
)
# Words that are given to people too: after them a capital letter decides, wherever in the sentence it stands.
_GIVEN_WORDS = """
amber angel april art august autumn basil bill bob brandy brook buddy candy carol charity chase christian chuck clay
cliff constance coral crystal daisy dale dawn dean dick dolly drew duke earl eve faith fern flora frank gale gene
ginger glen grace grant guy hazel heath heather holly honor hope hunter iris ivy jack jade jasmine jay jewel joy june
king lane lily major mark mason may melody mercy miles misty nick norm olive pat patience pearl penny peter pierce
poppy prudence ray reed rich rob robin rock rose rosemary ruby rusty sandy sky stella sterling sue summer sunny teddy
terry tom trinity victor violet wade ward will willow winter woody
"""
_GIVEN = frozenset(_GIVEN_WORDS.split())


def fold(text: str) -> str:
    """The text in plain letters: no full-width forms, no accents, nothing invisible."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'").replace("‘", "'"))
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", decomposed))


def names_in(texts: Iterable[str], is_common: IsCommon) -> list[str]:
    """The names in these texts that are introduced or written as names, each once."""
    plain = [fold(text) for text in texts]
    return [*dict.fromkeys(name for text in plain for name in (*_chinese(text, is_common), *_latin(text, is_common)))]


def likely_names_in(text: str, is_common: IsCommon) -> Iterator[str]:
    """Words that may be names for where they stand, 跟秀英吵架, 志强说; many are none."""
    yield from _DOING.findall(text)
    yield from (2 * char for char in _DOUBLED.findall(text) if char not in _REDUPLICATED and not is_common(2 * char))
    for found in (*_WITH.findall(text), *_SPOKE.findall(text), *_FULL_NAME.findall(text)):
        for name in dict.fromkeys((found[:2], found)):
            if not (is_common(name) or _NOT_NAMES.search(name) or _ROLE_WORD.search(name)):
                yield name


def parts_of(name: str) -> Iterator[str]:
    """The names that somebody with this name is called by: whole, in parts, without the family name."""
    words = [word for word in re.split(r"[\s·・]+", name) if len(word) > 1 or not word.isascii()]
    yield from dict.fromkeys(filter(None, [" ".join(words), *words]))
    yield from (word[1:] for word in words if len(word) == 3 and word[0] in _SURNAMES)


def called(name: str) -> re.Pattern[str]:
    """Where a text has the name: a Latin one as a whole word, also among Chinese characters, in any case."""
    pattern = re.escape(name)
    return re.compile(_BOUND.format(pattern) if name.isascii() else pattern, re.IGNORECASE)


def is_given(word: str) -> bool:
    """Whether it is a word that people are called by too, like "Hope"."""
    return word.lower() in _GIVEN


def capitalised_inside(text: str) -> Iterator[str]:
    """The capitalised words that do not begin a sentence."""
    return (name.removesuffix("'s") for name in _INSIDE.findall(text) if not _CALENDAR.fullmatch(name))


def introduced_in(text: str) -> Iterator[str]:
    """The Latin names after "called", "my name is", "Mrs"…, in any case."""
    yield from _ENGLISH_INTRODUCED.findall(text)
    yield from _TITLED.findall(text)


def _latin(text: str, is_common: IsCommon) -> Iterator[str]:
    yield from (before or behind for before, behind in _LATIN_IN_HAN.findall(text) if not is_calendar(before or behind))
    yield from introduced_in(text)
    yield from capitalised_inside(text)
    for word in _FIRST.findall(text):
        if not _CALENDAR.fullmatch(word) and (is_given(word) or not is_common(word.lower())):
            yield word


def is_calendar(word: str) -> bool:
    return _CALENDAR.fullmatch(word) is not None


def _chinese(text: str, is_common: IsCommon) -> Iterator[str]:
    yield from (name for name in _INTRODUCED.findall(text) if len(name) > 1 and not _NOT_NAMES.match(name))
    yield from (name[:length] for name in _RUNNING.findall(text) for length in (2, 3) if not is_common(name[:length]))
    yield from (name for name in _NICKNAME.findall(text) if not is_common(name))
