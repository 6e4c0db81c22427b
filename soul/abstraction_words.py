"""The patterns by which numbers, addresses, codes and other things that point at somebody are found in a text."""

import re

from soulgraph.soul.name_words import HAN
from soulgraph.soul.patterns import lazy_pattern

EMAIL = lazy_pattern(
    r"@|\((?:at|dot)\)|\[(?:at|dot)\]|\bat \S+ dot \w|\bdot (?:com|org|net|cn|example)\b|https?:|\bwww\b"
    r"|(?<![\w-])-*\w[\w-]*\.(?:com|org|net|cn|edu|gov|io|me|co|uk|de|info|app|dev|xyz|top|tv|example)\b|艾特|点(?:com|cn|net)",
    re.IGNORECASE,
)
_NUMERAL = "〇零一二三四五六七八九十百千万亿两幺"
_STREET = (
    r"street|road|lane|avenue|close|crescent|drive|terrace|mews|court|square|gardens|grove|alley|boulevard|wharf|estate"
)
_PLACE = (
    "小区|花园|家园|公寓|大厦|胡同|大道|新村|街道|弄堂|小学|中学|大学|学校|医院|公司|幼儿园|饭店|酒店|酒吧|餐厅|书店"
    "|工厂|广场|大街|[路街巷弄村镇乡县]"
)
WAYS = "路街巷弄"
GENERAL = lazy_pattern(r"[我你他她它们这那哪某每各一两几个家所间的在去到了来回是有进出附近]")
ADDRESS = lazy_pattern(
    r"\b[a-z]{1,2}\d[a-z\d]?\s*\d[a-z]{2}\b"
    r"|\b(?:flat|apartment|apt|suite|unit|room|house|number|no|block|floor|door)\b\.?\s*#?(?:\d+\s*-?[a-z]?|[a-z]\d+)\b"
    rf"|\b\d+[a-z]?\s+(?:\w+\s+){{1,3}}(?:{_STREET}|st|rd|ave)\b"
    rf"|[\d{_NUMERAL}]\s*(?:号楼|栋|幢|单元|号院|弄|室|门牌)|[\d{_NUMERAL}]号(?!码)|(?<!\d)\d+-\d+-\d+",
    re.IGNORECASE,
)
NAMED_STREET = lazy_pattern(rf"\b([a-z']{{1,40}}) ({_STREET})\b")
NAMED_PLACE = lazy_pattern(rf"([{HAN}]{{2}})({_PLACE})(?=(上?))")
LIVES_IN = lazy_pattern(rf"(?:住在?|地址是?|位于|家在|老家在?|搬到了?)([{HAN}]{{2,8}})")
CODE = lazy_pattern(r"\b(?=\w*\d)(?=\w*[a-z])\w+\b|\w_\w|#\w|\b(?:[a-z][ .-]){2,}[a-z]\b", re.IGNORECASE)
COUNTED = lazy_pattern(r"\d+(?:st|nd|rd|th|s|am|pm|h|kg|km|cm|mm|k|m|min)\b", re.IGNORECASE)
ACRONYM = lazy_pattern(r"(?<![A-Za-z])[A-Z]{2,}(?![a-z])")
HARMLESS_ACRONYMS = frozenset(("OK", "TV", "DIY", "AI", "KTV", "PPT", "APP", "CD", "DVD", "PC", "NO"))
SECRET = lazy_pattern(
    r"(?:\b(?:password|passcode|passphrase|pin|code ?word|safe ?word|secret word|login|username)\b"
    r"|密码|口令|暗号|验证码|账号|微信号)"
    r"(?:[^.。!！?？\n]{0,20}?(?:\bis\b|\bwas\b|\bare\b|是|为|叫|[:：=])|\s)\s*([^。!！?？\n，,]{2,60})",
    re.IGNORECASE,
)
_SMALL_NUMBER = "zero|oh|nought|one|two|three|four|five|six|seven|eight|nine|ten|double|triple"
_MONTH = "January|February|(?-i:March|May)|April|June|July|August|September|October|November|December"
_ORDINAL = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
NUMBER = lazy_pattern(
    r"\d|\b(?:eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundreds?|thousands?|millions?|billions?|eleventh|twelfth|\w+teenth|\w+tieth|hundredth)\b"
    rf"|\b(?:{_SMALL_NUMBER})(?:[\s,-]+(?:{_SMALL_NUMBER})\b)+"
    rf"|\b(?:{_MONTH})\s+(?:the\s+)?(?:{_ORDINAL})\b|\b(?:{_ORDINAL})\s+of\s+(?:{_MONTH})\b"
    rf"|[{_NUMERAL}]{{2,}}|(?:[{_NUMERAL}][、，,\s.-]){{2,}}[{_NUMERAL}]|[{_NUMERAL}]月[{_NUMERAL}]+[号日]",
    re.IGNORECASE,
)
NO_NUMBER = lazy_pattern(
    r"万一|千万(?=[别不要记得小种])|一一(?![零〇一二三四五六七八九])|乱七八糟|三三两两|七七八八|一五一十|千千万万"
    r"|不管三七二十一|(?:一两|两三|三四|三五|五六|七八)(?=[个句天次年回遍下步口人])|百分之百|十之八九|十有八九|亿万|万千"
)
MODEL = lazy_pattern(
    rf"([{HAN}]{{3}})(?=[0-9A-Za-z]{{2,}}(?![0-9A-Za-z]|\s?[年月日号点分岁个块元万次天斤米度小公%％]))"
)
BRAND = lazy_pattern(rf"([{HAN}]{{2}})牌(?!子)")
QUOTED = lazy_pattern(r"《([^》]{1,300})》|“([^”]{1,300})”|「([^」]{1,300})」|『([^』]{1,300})』|\"([^\"]{1,300})\"")
TITLE_CASE = lazy_pattern(r"\b[A-Z][a-z']+(?: (?:of|the|and|on|in) (?=[A-Z])| )[A-Z][a-z']+")
_FUNCTION_WORDS = """
a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it
its may me might must my no nor not of off on once or our out over she should so than that the their them then there
they this to too under up us was we were what when where which who whose why will with would you your see say just
such like own very more most much many some any all each other both only same
"""
FUNCTION = frozenset(_FUNCTION_WORDS.split())
