"""People as a message names them: by a name, by what they are to the speaker, by a pronoun, or all of them."""

import re
from collections.abc import Iterable, Iterator

from soulgraph.soul.clauses import PERSONS_ZH
from soulgraph.soul.patterns import lazy_pattern
from soulgraph.soul.people import EVERYONE

_ALL_EN = (
    r"(?:every|any)(?:one|body)(?: else)?(?! (?:at|in|on|from) (?!the world))|the (?:whole )?world|a (?:living )?soul"
    r"|no one(?: else)?|nobody(?: else)?|people|others|whoever"
)
_ALL_ZH = (
    "大家伙?儿?|大伙儿?|所有的?人|每个人|任何人|人人|全世界|别人|其他人|外人|随便谁|不管是?谁|无论是?谁|不论是?谁|谁"
)
_ALL = lazy_pattern(rf"(?:{_ALL_EN}|{_ALL_ZH}|.*(?:客人|顾客))们?都?", re.IGNORECASE)
_NOBODY = lazy_pattern(r"(?:no one|nobody)\b", re.IGNORECASE)
_OTHERS = lazy_pattern(r"(?:any|every)(?:one|body) else|others|别人|其他人|外人", re.IGNORECASE)
_SELVES = lazy_pattern(r"i|me|us|we|you|(?:my|your)self|it|[我咱俺你]们?|您|自己|它|一个", re.IGNORECASE)
_PRONOUNS = lazy_pattern(r"him|her|them|he|she|they|[他她]们?|人家", re.IGNORECASE)

_NO_NAME = (
    r"(?:i|us|we|it|this|that|these|those|the|an?|my|our|your|his|their|what|how|why|if|when|where|who|all|any\w*|every\w*"
    r"|some\w*|no|nothing|of|on|in|at|to|and|or|but|so|then|just|time|lies|jokes|stories|tales|fortunes|fibs|apart|off|more"
    r"|again|about|for|with|from|right|wrong|good|yes|also|there|not|don't|please|is|was|are|were|let|let's|story|truth"
    r"|go|come|be|do|can|could|may|should|must|will|would)\b"
)
_NO_ROLE = (
    r"(?:time|truth|story|stories|difference|joke|tale|news|secret|future|world|whole|rest|thing|point|way|same)\b"
)
_TITLES_EN = (
    r"(?:mr|mrs|ms|miss|mister|dr|doctor|prof|professor|sir|aunt|auntie|aunty|uncle|cousin|grandma|grandpa|granny|grandad"
    r"|nana|nan|sister|brother|father|mother|teacher|coach)"
)
_CAPITAL = r"(?-i:(?!I\b)[A-Z][\w-]*(?:'[A-Z]\w+)?)"
_ADJECTIVES = (
    r"(?:big|little|older|elder|younger|eldest|youngest|best|old|new|dear|poor|late|other|twin|baby|whole|entire)"
)
# Persons are atomic groups: a long list of names must not be tried in every way.
_PERSON_EN = (
    rf"(?>(?:{_ALL_EN}|(?:(?:my|our|the|his|her|their) )?{_TITLES_EN}\.? {_CAPITAL}"
    rf"|(?:(?:both |all )?my|our|the|his|her|their)(?: {_ADJECTIVES})*"
    rf" (?!{_NO_ROLE}|know|in\b)[a-z][\w-]+(?: {_CAPITAL})?"
    rf"|him|her|them|me|us|you|they|he|she|{_CAPITAL}(?: {_CAPITAL}){{0,2}}|(?!{_NO_NAME})[a-z][\w-]+)(?![\w-]))"
)
_PEOPLE_EN = rf"{_PERSON_EN}(?:(?:, {_PERSON_EN}){{0,8}},? (?:and|or|nor|&) (?!i\b){_PERSON_EN})?"

_KIN_ZH = (
    "爸妈|爸爸?|妈妈?|老爸|老妈|父母|父亲|母亲|爷爷|奶奶|姥姥|姥爷|外公|外婆|老公|老婆|丈夫|妻子|媳妇|儿媳妇?|女婿|儿子|女儿|闺女"
    "|孙[子女]|外孙女?|哥哥?|姐姐?|弟弟?|妹妹?|[大二三][哥姐伯]|叔叔?|伯[伯父]|姑[姑妈]|舅[舅妈]|姨妈?|婶婶?|嫂子|姐夫|妹夫|孩子|家里人?|全家"
)
_TITLES_ZH = (
    "先生|太太|女士|小姐|老师|医生|大夫|教授|经理|主任|师傅|同学|护士|老板|叔叔?|阿姨|姨|爷爷|奶奶"
    "|大[爷妈哥姐叔婶]|伯伯?|婶婶?|嫂子?|哥哥?|姐姐?|弟弟?|妹妹?|总|姑娘"
)
_HAN = r"[\u3400-\u9fff]"
_AFTER_NAME = (
    r"\W|$|我|你|您|他|她|咱|这|那|今|明[天早晚]|后天|昨|刚|一[声下句起个]|说|吧|呗|啊|哦|哈|呀|嘛|啦|是|不|别|也|都|可以|能|要|该|下[午周个]"
    r"|晚|上午|早|周|星期|礼拜|和|跟|与|还有|以及|关于|有|在|就|快|到|去|来|生日|新年|比赛|考|好|的|[带吃喝记把给买回打做看交拿穿帮等起睡按准]|注意"
)
_PERSON_ZH = (
    rf"(?>(?:{_ALL_ZH}|(?:我们?家?|咱们?家?|你)?的?(?:{_KIN_ZH}|{PERSONS_ZH})们?|{_HAN}{{1,2}}(?:{_TITLES_ZH})|[他她]们?|[我咱你您]们?|[A-Za-z][\w'-]*"
    rf"|(?![说是要让被已会把书])(?:[小阿老大]{_HAN}|{_HAN}{{2,4}}?(?={_AFTER_NAME})))(?!的))"
)
_AND_ZH = "(?:和|跟|与|还有|以及|、|及|或者?)"
PEOPLE = lazy_pattern(
    rf"(?=[^A-Za-z]|\w+{_HAN})(?:{_PERSON_ZH}(?:{_AND_ZH}{_PERSON_ZH}){{0,8}})|{_PEOPLE_EN}", re.IGNORECASE
)
_JOINED = lazy_pattern(rf",? (?:and|or|nor|&) |, |{_AND_ZH}")


def people_in(words: str, before: Iterable[str] = ()) -> Iterator[str]:
    """Each person of an enumeration but speaker and soul; a pronoun is whoever was named `before`, or nobody."""
    for person in filter(None, map(str.strip, _JOINED.split(words))):
        if _PRONOUNS.fullmatch(person):
            yield from before
        elif not is_speaker_or_soul(person):
            yield EVERYONE if _ALL.fullmatch(person) else person


def is_speaker_or_soul(words: str) -> bool:
    return _SELVES.fullmatch(words.strip()) is not None


def is_nobody(words: str) -> bool:
    """Whether what is said to be told is to be told to none: "tell nobody"."""
    return _NOBODY.match(words) is not None


def is_anybody_else(words: str) -> bool:
    return _OTHERS.fullmatch(words.strip()) is not None
