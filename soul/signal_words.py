"""The expressions by which a sentence is known as a lasting wish, one for this time, a correction, or none."""

import re

from soulgraph.soul.clauses import PERSONS_ZH
from soulgraph.soul.patterns import lazy_pattern
from soulgraph.soul.preference_words import NOT_ZH, STRESS_ZH

_LASTING_ZH = (
    r"以后(?!的|再说|会|吧)|今后|往后|日后|从现在(?:起|开始)|从今(?:[天儿往以]|后)*(?:起|开始)?|从此|从(?:这一?刻|此刻|明天)(?:起|开始)"
    r"|(?<![你么])每[次回]都?|永远|永久|始终|一律|长期|默认(?=都|用|就)|(?<!给我)记[住着牢]|记得|牢记|记一?下|记好了?"
)
_LASTING_EN = (
    r"\bfrom (?:now|here|today|this (?:day|point|moment)) (?:on(?:wards?)?|forward)\b|\b(?:going|moving) forward\b"
    r"|\bhenceforth\b|\b(?:in|for)(?: the| all)? future\b|\bfor good\b|\bpermanent(?:ly)?\b|\bat all times\b"
    r"|\b(?:(?:as|make it) a (?:\w+ )?rule|by default|standing (?:request|rule|order|instruction))\b|, ever\W*$"
    r"|\bstarting (?:now|today)\b"
    r"|(?<!you )(?<!you're )(?<!are )(?<!were )(?<!i've )(?<!have )\balways\b|\b(?:every|each) time(?! you| i)"
    r"|^\W*(?:please |and |also |ok |okay )*(?:remember(?! (?:when|how|the|what|that time))|(?:keep|bear) in mind)\b"
    r"|\b(?:make|take) (?:a )?(?:\w+ )?note\b"
    r"|^\W*(?:please )?(?:note\b|never\b(?! mind)|(?:don't|do not) (?:you )?ever\b)"
)
LASTING = lazy_pattern(f"{_LASTING_ZH}|{_LASTING_EN}", re.IGNORECASE)
ONCE = lazy_pattern(
    r"这一?[次回条遍句段题]|这个(?:问题|回答)|这会儿|今[天晚]|暂[时且]|例外|下不为例|刚才那|就一[次回遍]"
    r"|\bthis (?:time|once|one|answer|reply|message|question|response|evening)\b|\bjust once\b|\bfor now\b|\btoday\b"
    r"|\btonight\b|\bthis last\b|\blast (?:bit|part)\b",
    re.IGNORECASE,
)
_YOU_EN = r"(?<!can )(?<!could )(?<!would )(?<!will )\byou"
CORRECTS = lazy_pattern(
    rf"{NOT_ZH}(?:给我|跟我|对我|你)*(?:再|老|总|一直|每次|又)|(?:别|不要)[^，,]*了\W*$"
    r"|怎么(?:又|老|总|还)|为什么(?:又|老|总)|你[^，,]{0,4}(?:老|总|又|一直|每次)"
    r"|太[^，,太]{1,5}了|太[长短多凶]\W*$|受不了|说过|说了多少|听着(?:别扭|难受|不舒服)|看着[累烦]"
    r"|^\W*(?:不对|不是这样|错了|不行)"
    rf"|\b(?:stop|quit) \w+ing\b|{_YOU_EN}(?:'re| are)? (?:keep|always)\b|\bwhy (?:do|must) you\b|\bany ?more\b"
    r"|\bno more\b"
    r"|\b(?:is|are|was|that's|you're|talk|talking|way|far) too \w+|\bagain\W*$|\benough with\b|\btold you\b"
    r"|\bi (?:hate|dislike|don't like)(?: it)? (?:when|how) you\b|\b(?:sick|tired) of\b"
    r"|^\W*(?:no(?=[,.!])|nope|wrong|not like that|that's (?:wrong|not right))",
    re.IGNORECASE,
)
ABOUT_SELF = lazy_pattern(
    rf"^\W*(?:(?:{_LASTING_ZH}|今天|昨天|其实|因为|{_LASTING_EN}"
    r"|(?:even )?(?:when(?:ever)?|(?:every|each) time|if))[，,:：\s]*)?"
    r"(?:我(?!们|希望(?!自己|我)|想让|想要?你|要你|[更最很]?喜欢|比较喜欢|不喜欢|受不了|讨厌|觉得|需要(?!学)|宁愿|说过|怕|习惯|不[吃喝能爱]"
    r"|(?:永远|再也|真的|完全)*不(?:想|要|愿意?)再?(?:看|听|收|见)到?|对[^，,]{1,6}过敏)"
    r"|i (?!want(?! to)|need(?! to)|would(?! (?:like|love|prefer) to)|prefer|like|love|hate|dislike|don't|wish|really"
    r"|always (?:want|prefer|like)|told|can't stand)"
    r"|i'd (?!like(?! to)|prefer(?! to)|rather you|love(?! to)|appreciate)|i've |i'm (?!sick|tired)|i'll |we "
    r"|(?:it|this|there) (?:is|was|were) )",
    re.IGNORECASE,
)
ADDRESSES_SOUL = lazy_pattern(r"[你您]|\byour?\b", re.IGNORECASE)
_ANSWERS = "(?:answers?|repl(?:y|ies)|responses?|messages?|sentences?|texts?|tone|jokes?|emojis?|questions?)"
_OTHERS_ZH = (
    "[他她它]们?|人家|大家|别人|孩子们?|(?:[我咱他她这那][^，,你]{0,2}|[^，,你您我用像]{1,6}的|楼[上下]|隔壁|对面|门口)?"
    rf"(?:[爸妈哥姐弟妹]{{1,2}}|老[婆公]|儿子|女儿|{PERSONS_ZH})(?=[^，,你]*[^，,你我])"
)
ABOUT_OTHERS = lazy_pattern(
    rf"^\W*(?:(?:{_LASTING_ZH}|{_LASTING_EN})[，,:：\s]*)?"
    rf"(?:{_OTHERS_ZH}|(?:he|she|they|it|everyone|everybody|people|nobody|his|her|their|our)\b(?!'s too)"
    rf"|(?:my (?!name)|(?:the|this|these|those|that|some|most|many) (?!{_ANSWERS}|i\b|you))\w+(?: \w+)?"
    r" (?:is|are|was|were|has|have|can|will|always|never|just|\w+s|\w+ed|sent|wrote|spoke|kept|got|had|did"
    r"|belongs?|feel)\b)",
    re.IGNORECASE,
)

LIKE_THIS = lazy_pattern(
    r"[都就也还请你续](?:用|像|照|按)?(?:这么|这样|现在这样|这种(?:方式|语气|风格))(?:[跟和对]我)?(?:[说讲聊来回答]|\W|就|吧|$)"
    r"|\b(?:like (?:this|that)|(?:this|that) way)\b",
    re.IGNORECASE,
)
# What a complaint without a known manner must be about: how the soul talks. Else 别再难过了 would be one.
_HABIT_ZH = (
    "重复|复读|道歉|对不起|打断|插嘴|抢话|反问|敷衍|解释|催|唠叨|夸|奉承|拍马屁|吹捧|附和|跑题|转移话题|岔开|感叹号|省略号"
    "|标点|波浪号|口头禅|废话|套话|官腔|装熟|装可爱|套近乎|抬杠|怼我|学我说话|术语|网络用语|方言|复述|总结|安慰|劝|提醒我"
    "|(?:夹|蹦|冒|掺)[^，,]{0,4}(?:英[文语]|中文|外[文语]|单词|洋文)|中英[文语]?(?:混|夹)"
)
_SPEECH_ZH = "说话|讲话|语气|口气|口吻|腔调|措辞|回答|回复|回我|说得|讲得"
_UNWANTED_LIKE_ZH = "机器|说明书|客服|念经|背课文|复读机|模板|人机|领导|公文|念稿|新闻|教科书|上司|推销|审问|审犯人"
_HABIT_EN = (
    r"apologi[sz]\w*|sorry|repeat\w*|interrupt\w*|questions?|exclamation\w*|explain\w*|flatter\w*|prais\w*|compliment\w*"
    r"|agree\w*|hedg\w*|disclaimers?|warn\w*|jargon|slang|caps|punctuation|parrot\w*|nag\w*|small talk|clich\w+|filler"
    r"|caveats?|summar\w+|quot\w+|second-guess\w*|overthink\w*|over-?explain\w*"
    r"|(?:mix|switch|throw)\w* [^,;]*(?:languages?|english|chinese)"
)
_SPEECH_EN = (
    r"talk\w*|speak\w*|answer\w*|repl(?:y|ies|ying)|respond\w*|messages?|sentences?|tone|act(?:ing)?|treat\w*|say\w*"
    r"|phras\w+|writ\w+|end(?:ing)?|start(?:ing)?"
)
_PRAISE_ZH = (
    "好|棒|甜|可爱|有|对|美|妙|温柔|感人|精彩|厉害|贴心|暖|动听|逗|搞笑|幽默|到位|及时|用心|懂|真诚"
    "|让我(?:感动|开心|高兴|安心|惊喜)"
)
_PRAISE_EN = "well|good|nice|kind|sweet|funny|cute|beautiful|true|much fun|lovely|great"
FREE_CORRECTION = lazy_pattern(
    rf"{NOT_ZH}(?:给我|跟我|对我|你)*(?:再|老|总|一直)是?(?:[对跟和]我)?用?(?:这样|这么|那样|那么|这种|那种)"
    rf"|{NOT_ZH}[^，,]{{0,4}}{STRESS_ZH}[^，,]{{0,6}}(?:{_HABIT_ZH})|(?:别|不要|不许|不准)[^，,]{{0,5}}(?:{_HABIT_ZH})"
    rf"|(?:别|不要)[^，,]{{0,2}}(?:一口一个|张口闭口)|^\W*(?:不对|不是这样|不是|错了|不行)\W.*(?:别|不要|不该|不应该)"
    rf"|你[^，,我他她]{{0,5}}(?:[说讲写答话]|回[答复]?|语气|口气)[^，,我]{{0,4}}(?:太|过于)(?!{_PRAISE_ZH})"
    rf"|你[^，,]{{0,6}}(?:老是?|总是?|又|一直|每次|每句|动不动就?|一上来就?|三句不离)[^，,]{{0,6}}(?:{_HABIT_ZH})"
    rf"|(?:{_SPEECH_ZH})[^，,]{{0,8}}(?:怎么|别|老|总)?[^，,]{{0,3}}[像跟和似][^，,]{{0,5}}(?:{_UNWANTED_LIKE_ZH})"
    rf"|(?:{_SPEECH_ZH})[^，,]{{0,5}}(?:不对|别扭|怪怪的|难听|让人不|不舒服)"
    r"|\b(?:stop|quit) (?:talking|speaking|answering|replying|acting|treating|saying)\b(?! about)"
    rf"|\b(?:(?:stop|quit|cut out)(?: with)?|enough with|no more|lay off"
    r"|(?:can|could|would) you (?:please )?(?:not|stop)|you (?:don't need|don't have|needn't) to)\b"
    rf"[^,;]*\b(?:{_HABIT_EN}|(?:{_SPEECH_EN}) (?:to me|every|each|like|your))"
    rf"|\byou (?:(?:keep|always|constantly|never stop|only ever)\b[^,;]*\b(?:{_HABIT_EN})\b"
    rf"|(?:{_HABIT_EN}) [^;]*\b(?:constantly|all the time|too (?:much|often)|every time|over and over))"
    r"|\byou (?:sound|talk|speak|write|come across)(?: \w+){0,2} like (?:an? |the |some )"
    r"(?!friend|poet|angel|dream|good|nice)"
    r"|\byou(?:'re| are) over-?\w+ing\b|\bi (?:hate|dislike|don't like)(?: it)? (?:when|how|the way) you\b"
    rf"|\byou (?:talk|speak|explain|answer|reply|write)(?: \w+)? too (?!{_PRAISE_EN})"
    rf"|\byour (?:tone|voice|wording|answers?|repl(?:y|ies)|explanations?|messages?) (?:is|are|was|were|sounds?) "
    rf"(?:a bit |way |far |just )*too (?!{_PRAISE_EN})",
    re.IGNORECASE,
)
_ADDRESSES_EN = (
    r"(?:\W|\b(?:please|just|and|also|but|so|ok|okay|hey|well|now|then|remember|to|that|keep|bear|in|mind|a|note|of|this|out"
    r"|make|sure|try|can|could|would|will|you|should|must|need|have|shall|ought|i'd|i|want|like|love|for|me|ever|even"
    rf"|all|messages|again|be sure)\b|{_LASTING_EN})*+"
)
_VERB_EN = (
    "(?:start|greet|ask|tell|remind|say|speak|talk|use|answer|reply|respond|give(?! up)|don't|do not|check|begin|end"
    "|treat|let me|wait for|avoid|include|write|send|read|listen|warn|wake|finish|add|put|show|repeat|explain|address"
    "|call|quote|round|convert|translate|list|cite|mention|suggest|recommend|offer|skip|report|spell|format|wish|sign"
    "|praise|correct|summari[sz]e|keep (?:it|your|every|things|answers|the)|no)"
)
_PREFERS_EN = (
    r"i(?: really| always| only| usually| generally|'d)* (?:like|love|hate|prefer|dislike|enjoy|want|need|don't|can't"
    r"|(?:am|'m) (?:allergic|vegan|vegetarian|diabetic|left-handed|a |an ))\b(?! (?:you\b|to |it (?:here|when you)))"
)
FREE_WISH = lazy_pattern(
    r"[你您](?:要|先|都|就|必须|只|别|不要|给|跟|对|多|少|记得|提醒|用|说|把|帮)|请|(?:提醒|告诉|问|通知|[给跟对帮替陪]|听|让|回)我"
    r"|记[住得着好].{0,2}我[^，,]{0,6}(?:喜欢|爱|讨厌|怕|习惯|过敏|不[吃喝能])"
    r"|(?:报|念|列|回[答复]|解释|推荐|汇报|打招呼|问候|说话|讲话|聊天|称呼)[^，,]{0,8}(?:都|一律|要|别|不要|先|必须|务必|统一|用)"
    r"|(?:都|一律|要|请|统一)用[^，,]{1,8}(?:单位|制|格式|语|文|话|字|体|[说答回讲])"
    r"|(?:少|多|别|不要)(?:用|说|讲|提|问|发|加|带)"
    rf"|^{_ADDRESSES_EN}\b{_VERB_EN}\b"
    r"|^\W*(?:please )?always (?!\w+(?:ed|ing)\b|been |had |was |a |the )[a-z-]+ .*\b(?:me|my|you)\b"
    rf"|\b(?:remember|mind|note|that|always|on|forward)[\s,:]+(?:that )?{_PREFERS_EN}",
    re.IGNORECASE,
)
FREE_ONCE = lazy_pattern(
    r"(?:跟|和|对)我[说讲聊]|用[^，,]{1,8}(?:说|讲|回|答)|[写说讲编]成"
    r"|\b(?:talk|speak|answer|reply|respond|write)(?: (?:to|with) me| me)?(?: back)?"
    r" (?:like|as|in|with|using|\w+ly)\b",
    re.IGNORECASE,
)
SPEAKS_OF_MANNER = lazy_pattern(
    rf"{_SPEECH_ZH}|{_HABIT_ZH}|[叫喊称]我|称呼|说人话|别再|你[^，,]{{0,3}}(?:太|好|别|能不能)"
    rf"|\b(?:{_HABIT_EN}|{_SPEECH_EN}|sound\w*|call me|address me|wording|you(?:'re| are) (?:too|so|being)|your)\b",
    re.IGNORECASE,
)
FORETELLS = lazy_pattern(
    r"[你我][^，,]{0,3}(?:会(?!儿)|可能|一定|肯定)|\b(?:will|gonna|going to)\b(?! you)", re.IGNORECASE
)
COMPLAINS = lazy_pattern(
    rf"怎么[又老总还]|[你他她][又老总]|[你别]一直$|{_YOU_EN} (?:keep|always)\b|\bwhy do you\b", re.IGNORECASE
)
# Lights, songs and letters can be soft or short as well: that is no wish about the soul.
ABOUT_A_THING = lazy_pattern(
    r"(?:灯光?|光线?|音乐|歌|声音|音量|颜色|风|空调|窗帘|温度|水|衣服|裙子|头发|文章|作文|邮件|信|诗|故事|代码|电影|合同|论文"
    r"|报告|简历|标题|文案)[^，,]{0,3}$|[写作拟起](?:一?[封篇份个首段])[^，,]*$|把[^，,你]{1,8}[改写翻润换][^，,]*$"
)
