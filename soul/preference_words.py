"""The preferences that are recognised by their words, and how each is described in both languages."""

import re
from typing import NamedTuple

from soulgraph.soul.language import Lang


class KnownPreference(NamedTuple):
    """One recognised preference; `zh` and `en` describe what the soul does for it."""

    key: str
    value: str
    zh: str
    en: str
    words: re.Pattern[str]


def _preference(key: str, value: str, zh: str, en: str, *words: str) -> KnownPreference:
    return KnownPreference(key, value, zh, en, re.compile("|".join(words), re.IGNORECASE))


_MORE = "(?:一点|一些|点|些)"
_STOP = "(?:别|不要|不许|不准|不用|少)(?:再|老|总|又|一直|每次都?|是|给我|跟我|对我|和我|拿我|这么|那么|太|你)*"
_ANSWERS = "(?:answers?|repl(?:y|ies)|responses?|messages?|sentences?|texts?)"
_DONT = r"\b(?:don't|do not|never|please don't)(?: ever| always| keep)?"

KNOWN_PREFERENCES = (
    _preference(
        "reply_length", "short", "说得短一点", "keep my answers short",
        f"(?:简短|简洁|精简|简练|简明)(?:{_MORE}|地?[说讲回]|回[答复]|的(?:回答|回复|话|答案))",
        f"(?:[说讲回写]|回答|回复|话|字数?|句子)[^，,]{{0,6}}(?:短|少|简单){_MORE}",
        f"^(?:请|再|尽量|以后|都|你|能不能|可以)*短{_MORE}",
        f"{_STOP}(?:[说讲回写]|回答|回复)?(?:得|的)?(?:这么|那么|太)*(?:长篇大论|啰嗦|罗嗦|唠叨|废话|长)",
        "(?:你|[说讲回写话段句字]|回答|回复)[^，,]{0,4}太(?:长|啰嗦|罗嗦|唠叨|多|话多)|话太多",
        r"^太(?:长|啰嗦|罗嗦)了|言简意赅|[别要不]超过.{1,3}[句个字行]|一?[一两三]句话?(?:就|以内|说完|\W*$)",
        "一句话(?:回|说|就)",
        rf"\b(?:keep|make) (?:it|them|that|this|(?:your |the )?{_ANSWERS}) (?:short|brief|concise)",
        rf"\b(?:short|shorter|brief|briefer|concise) {_ANSWERS}\b|\bbe (?:more )?(?:brief|concise|succinct)\b",
        rf"^(?:please )?shorter\b|\b{_ANSWERS} (?:is|are) (?:just |way |far |a bit |always )*too (?:long|wordy)",
        r"\bthat(?:'s| is| was) (?:way )?too long",
        r"\byou(?:'re| are) (?:way |far |just )?too (?:wordy|verbose|chatty|long-winded)",
        r"\byou(?:'re| are)? talk(?:ing)? too much|\bfewer words\b",
        r"\b(?:under|at most|no more than|within) \w+ (?:sentences?|words|lines)\b",
        rf"\b(?:stop|quit|no more) rambling|{_DONT} ramble",
        f"{_DONT} (?:write|give|send)(?: me)? (?:such |so )?(?:long|essays)",
    ),
    _preference(
        "reply_length", "long", "说得详细一点", "answer in more detail",
        f"(?:详细|具体|仔细|深入){_MORE}|详细地?(?:[说讲]|回[答复])|详细的(?:回答|回复)",
        f"多[说讲聊写](?:{_MORE}|几句)|[说讲回写]得?[长细]{_MORE}",
        "[回答复说话你][^，,]{0,4}太(?:短|简短|简略|敷衍)|^太(?:短|简略|敷衍)了",
        "别(?:这么|那么|太|再|老)*(?:简短|简略|敷衍)",
        rf"\b(?:more|in|into) details?\b|\bmore detailed\b|\b(?:longer|detailed) {_ANSWERS}|\belaborate\b",
        rf"\b{_ANSWERS} (?:is|are) (?:way |far |a bit )*too short|{_DONT} be so (?:brief|short)",
    ),
    _preference(
        "reply_style", "bullets", "分点说", "use bullet points",
        r"分[点条](?:[说讲列写]|回[答复])|用(?:要点|列表|条目)|\bbullet points?\b|\bin bullets\b",
    ),
    _preference(
        "reply_style", "plain", "用大白话说", "use plain words",
        f"大白话|说人话|通俗(?:{_MORE}|易懂)|口语化|(?:别|不要|少)用?(?:术语|列表|分点)|不要分点",
        r"\b(?:plain|simple) (?:english|words|language|terms)\b|\bno (?:bullet points|bullets|lists|jargon)\b",
        r"\bwithout (?:lists|jargon)\b",
    ),
    _preference(
        "reply_style", "conclusion_first", "先说结论", "give the conclusion first",
        r"先[说讲给]我?结论|结论(?:放|写)?(?:在)?(?:最)?前面|\b(?:answer|conclusion|bottom line) first\b",
    ),
    _preference(
        "reply_style", "step_by_step", "一步一步地说", "go step by step",
        r"一步一?步|分步骤?[说讲来]|\bstep by step\b|\bone step at a time\b",
    ),
    _preference(
        "tone", "gentle", "温柔一点", "be gentle",
        f"(?:温柔|柔和|温和|耐心){_MORE}|{_STOP}(?:凶|冲|冷漠|冷淡|毒舌|阴阳怪气)",
        "你[^，,]{0,3}太(?:凶|冷淡|冷漠)",
        r"\b(?:gentler|kinder|softer|nicer)\b|\bbe (?:more )?(?:gentle|kind|patient)\b",
        r"\bmore (?:gentle|patient|tender)\b|\bstop being (?:so )?(?:harsh|mean|rude|cold)",
        r"\bdon't be (?:so )?(?:harsh|mean|rude|cold)",
    ),
    _preference(
        "tone", "serious", "不开玩笑", "stop joking",
        rf"{_STOP}(?:开玩笑|嬉皮笑脸|贫嘴|卖萌|撒娇|油嘴滑舌)|\bstop (?:joking|making jokes)",
        rf"\bno (?:more )?jokes\b|{_DONT} (?:joke|make jokes)|\bstop being (?:so )?(?:silly|cute)",
    ),
    _preference(
        "tone", "humorous", "幽默一点", "be funnier",
        f"(?:幽默|风趣|搞笑|有趣){_MORE}|多[开讲]{_MORE}?(?:玩笑|笑话)",
        r"\bfunnier\b|\bbe (?:more )?(?:funny|humorous|witty)\b|\bmore (?:humou?r|jokes)\b",
    ),
    _preference(
        "tone", "direct", "有话直说", "be direct",
        f"(?:直接|直白|坦率|坦诚){_MORE}|有话直说|{_STOP}(?:拐弯抹角|绕弯子|兜圈子|打太极)",
        r"\bbe (?:more |brutally )?(?:direct|blunt|straightforward|frank|honest)\b|\bmore (?:direct|blunt)\b",
        rf"(?:{_DONT}|\bstop) (?:sugar-?coat|beat(?:ing)? around the bush)",
    ),
    _preference(
        "tone", "formal", "正式一点", "be more formal",
        f"(?:正式|礼貌|客气){_MORE}|用敬语|用您",
        r"\bmore (?:formal|polite)\b|\bformal (?:tone|language)\b",
    ),
    _preference(
        "tone", "casual", "随意一点", "be more casual",
        f"(?:随意|轻松|随便){_MORE}|{_STOP}(?:客气|正式|官方|见外|端着)|你[^，,]{{0,4}}太(?:官方|正式|客气)",
        r"\bmore casual\b|\bless formal\b|\b(?:stop being|don't be) (?:so )?(?:formal|polite|stiff)\b",
        r"\byou(?:'re| are) too (?:formal|stiff)",
    ),
    _preference(
        "lecturing", "no", "不说教", "stop lecturing you",
        rf"{_STOP}(?:说教|教训我|教育我|讲大?道理|[给跟]?我?上课|灌鸡汤)|\b(?:stop|quit) (?:lecturing|preaching)",
        rf"{_DONT} (?:lecture|preach)|\b(?:hate|don't like) it when you (?:lecture|preach)",
    ),
    _preference(
        "follow_up_questions", "no", "少问你问题", "ask you fewer questions",
        f"{_STOP}(?:反问|追问|问我?[^，,]{{0,4}}问题|问东问西)|你?(?:的)?问题太多|少问我?{_MORE}?问题",
        "(?:不喜欢|讨厌|受不了)你(?:一直|老|总|总是|老是)问",
        r"\bstop asking(?: me)?(?: so many| all these)* questions|\b(?:fewer|too many|no more) questions",
        f"{_DONT} ask(?: me)? so many questions",
    ),
    _preference(
        "follow_up_questions", "yes", "多问问你", "ask you more questions",
        r"多问问?我|\bask(?: me)? more(?: questions)?\b|\bmore questions\b",
    ),
    _preference(
        "emoji", "no", "不用表情", "leave out emojis",
        f"{_STOP}(?:[用发加带放]|使用)?[^，,]{{0,3}}(?:表情|emoji|颜文字)|太多(?:表情|emoji)|(?:表情|emoji)太多",
        "(?:怎么|你)(?:又|老|总|还|一直)是?[用发加带](?:表情|emoji|颜文字)",
        r"\b(?:no|stop (?:using|sending|adding)|without|don't (?:use|send|add)|do not use|never use|fewer|less|skip"
        r"|drop)"
        r"(?: the| any| so many| more| these| those| your)* (?:emojis?|emoticons?|smileys?)",
        r"\btoo many (?:emojis?|emoticons?|smileys?)",
    ),
    _preference(
        "emoji", "yes", "多用表情", "use emojis",
        f"多?(?:[用发加带来])(?:{_MORE}|个)?(?:表情|emoji|颜文字)|多(?:{_MORE})?(?:表情|emoji|颜文字)",
        r"\b(?:use|add|send|want|like|love|more)(?: more| some| me| your)* (?:emojis?|emoticons?|smileys?)",
    ),
    _preference(
        "language", "zh", "说中文", "speak Chinese",
        r"用(?:中文|汉语|普通话)(?=[跟和对]我|[说回答聊讲]|交流|对话|\W|吧|就|$)",
        "(?:[说讲]|换成|改[成用])(?:中文|汉语|普通话)",
        r"\b(?:speak|spoke|reply|answer|talk|respond|write|switch|stick)(?: to| with)?(?: me)?(?: back)?"
        r"(?: in| to)? (?:chinese|mandarin)\b",
    ),
    _preference(
        "language", "en", "说英文", "speak English",
        r"用英[文语](?=[跟和对]我|[说回答聊讲]|交流|对话|\W|吧|就|$)|(?:[说讲]|换成|改[成用])英[文语]",
        r"\b(?:speak|spoke|reply|answer|talk|respond|write|switch|stick)(?: to| with)?(?: me)?(?: back)?"
        r"(?: in| to)? english\b",
    ),
)  # fmt: skip

_NAMED_PHRASES: dict[str, tuple[str, str]] = {
    "address": ("叫你{}", "call you {}"),
    "address:": ("不再叫你{}", "stop calling you {}"),
    "topic:": ("不提{}", "avoid talking about {}"),
}
_MODES = {"rational": "理性", "idol": "偶像", "hybrid": "混合", "strict": "严格", "default": "默认"}
_PHRASES = {(known.key, known.value): (known.zh, known.en) for known in KNOWN_PREFERENCES} | {
    ("mode", mode): (f"用{zh}模式说话", f"stay in {mode} mode") for mode, zh in _MODES.items()
}


def describe_preference(key: str, value: str, lang: Lang) -> str:
    """What the soul does for a preference, phrased to follow "from now on I will"."""
    kind, named, subject = key.partition(":")
    if (phrases := _NAMED_PHRASES.get(kind + named)) is not None:
        return phrases[lang == "en"].format(subject or value)
    unknown = (f"照你说的做（{value}）", f"do as you said ({value})")
    return _PHRASES.get((key, value), unknown)[lang == "en"]
