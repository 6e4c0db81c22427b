"""Whom a sentence is about: the person, or somebody of theirs; and sentences rewritten so that each clause says it."""

import re
from collections.abc import Iterator, Mapping, Sequence

from soulgraph.senses.facts.grammar import part, words
from soulgraph.soul.facts import SELF
from soulgraph.soul.language import Lang

_SHORT = (
    (re.compile(r"\b(?:i['’]?m|im)\b", re.IGNORECASE), "I am"),
    (re.compile(r"\b(?:i['’]ve|ive)\b", re.IGNORECASE), "I have"),
    (re.compile(r"\b(we|they)['’]?ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"\b(we|they)['’]re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"\bi['’]d\b", re.IGNORECASE), "I would"),
    (re.compile(r"\bi['’]ll\b", re.IGNORECASE), "I will"),
    (re.compile(r"\b(he|she|it|there|that|name)(?:['’]s|(?<=she)s|(?<=he)s)\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"\bdo(?:n['’]?t)\b", re.IGNORECASE), "do not"),
    (re.compile(r"\bdoesn['’]?t\b", re.IGNORECASE), "does not"),
    (
        re.compile(
            r"(?<=[a-z])['’]s(?= (?:an?|vegan|vegetarian|allergic|adopted|autistic|diabetic|retired|married|divorced"
            r"|deaf|blind|expecting|pregnant|called|not|been|from|in|at|got|just|[A-Z]\w+(?:ish|ese|ian)|\d+)\b)"
        ),
        " is",
    ),
    (re.compile(r"\b(are|is|was|were|did|have|has|had)n['’]?t\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"\bits(?= (?:an?|the|all|so|not|for|been|called|my|just|really)\b)", re.IGNORECASE), "it is"),
    (re.compile(r"\bhas got\b", re.IGNORECASE), "has"),
    (re.compile(r"\bhave got\b", re.IGNORECASE), "have"),
    (re.compile(r"\bi\b"), "I"),
)
_KIN_EN = re.compile(
    r"(?:^|(?<=[.,;!] )|(?<=\band )|(?<=since )|(?<=cos )|(?<=because ))"
    r"(?=(?:Mom|Mum|Dad|Mama|Papa|Nan|Nana|Gran|Granny|Grandma|Grandpa|Grandad|Granddad|Hubby|mum|mom|dad|nan|gran|grandma|grandad)"
    r"(?:(?: [A-Z][a-z]+)? [a-z]|['’]s (?:an?|in|at|got|been|not|from|\w+ing|\d)))"
)
_THE_WIFE = re.compile(r"\bthe (?=(?:wife|husband|missus|hubby|other half)\b)", re.IGNORECASE)
_KIN_ZH = re.compile(
    r"(?:^|(?<=[,，。!；;]))(?=(?:妈妈|爸爸|爷爷|奶奶|外公|外婆|姥姥|姥爷|老公|老婆|媳妇|老大|老二|老三|老伴儿?|儿子|女儿|闺女|弟弟|妹妹|哥哥|姐姐|爱人)"
    r"(?!们|说|让|叫我|的|你|好$))"
)
_BY_I = re.compile(r"\bI\b", re.IGNORECASE)
_DOES_EN = r"(?= (?!and\b|or\b|in\b|at\b|to\b|the\b)[a-z]{2,})"
_DOES_ZH = r"(?=[^的,，]{2})"
_LEAD_ZH = re.compile(
    r"^(?:嗯+|哈+|对啊?|是啊|不过|但是?|可是|然后|所以|因为|而且|其实|跟你说(?:一声)?|忘了告诉你|告诉你|话说|反正|毕竟|哎呀?|唉|欸|那|"
    r"不行|没想到吧|完了|结果|后来|谁[让叫](?=我)|说来好笑|骗你的|我跟你讲|我说(?=我)|我觉得(?=我))+"
)
_HELPS = ((r"^(?:\w+ )?been\b", "have "), (r"ing\b|^allergic", "am "), (r"^born", "was "))
_BORE_ZH = re.compile("生了")  # whoever is named next is the child
_PRONOUN_ZH = re.compile("[他她它](?!们)")
_OTHER_ZH = re.compile(r"^[你您他她它这那谁有没别人隔楼咱]|^(?:大家|人家|别人|今天|刚|明天|昨天|一会)")


def rewritten(sentence: str, lang: Lang, people: Mapping[str, str], before: str = "") -> str:
    """The sentence with "I am" for "im", "my dog Rex" for a Rex who is known, and his or her name for "she".

    Whom "she" means may have been said in the sentences `before`.
    """
    if lang == "zh":
        return _KIN_ZH.sub("我", sentence)
    sentence = _THE_WIFE.sub("my ", _KIN_EN.sub("my ", sentence))
    for pattern, long in _SHORT:
        sentence = pattern.sub(long, sentence)
    for name, subject in people.items():
        relation = subject.partition(":")[0]
        known = rf"(?<!{re.escape(relation)} )(?<![\w'’]){re.escape(name)}{_DOES_EN}"
        sentence = re.sub(known, f"my {relation} {name}", sentence, flags=re.IGNORECASE)
    sentence = words("no_subject").sub(_with_subject, sentence)
    if _BY_I.search(sentence):
        sentence = words("goes_on").sub(lambda found: f"{found['joint']} I ", sentence)
    return words("pronoun").sub(lambda found: _named(found, f"{before} ", sentence), sentence)


def _with_subject(found: re.Match[str]) -> str:
    verb = found["verb"][0].lower() + found["verb"][1:]
    helps = next((word for end, word in _HELPS if re.search(end, verb)), "")
    return f"{found['before']}I {helps}{verb}"


def _named(pronoun: re.Match[str], before: str, sentence: str) -> str:
    """The last one who was spoken of before, if the pronoun can mean them."""
    mentions = [*_mention().finditer(before + sentence[: pronoun.start()])]
    if not mentions or not _can_mean(pronoun["who"].lower(), mentions[-1]["rel"].split()[-1]):
        return pronoun[0]
    whose = "'s" if pronoun["who"].lower() in ("her", "his", "its") else ""
    return f"{pronoun['joint']}{mentions[-1][0]}{whose}"


def _can_mean(pronoun: str, relation: str) -> bool:
    if pronoun in ("it", "its"):
        return part("en", "animal").fullmatch(relation) is not None
    return words("he" if pronoun in ("she", "her") else "she").search(relation) is None


def _mention() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:my|our) (?P<rel>" + part("en", "relation").pattern + r")\b(?: (?-i:[A-Z][a-z]+))?", re.IGNORECASE
    )


def clauses(sentence: str, lang: Lang, people: Mapping[str, str], before: str = "") -> Iterator[tuple[str, bool]]:
    """The parts of a sentence that are read for themselves, and whether the subject was found in it.

    An English sentence is read whole: its frames find their subject anywhere. In Chinese somebody may have been spoken
    of in the message `before`, and is only named now.
    """
    if lang == "en":
        yield sentence, True
        return
    spoken_of = [one[0] for one in part("zh", "s").finditer(before) if one["rel"]]
    subject = ""
    for clause in re.split(r"[，,；;：:！!]", sentence):
        clause = _LEAD_ZH.sub("", clause.strip(" 。.…~～"))
        for name, known in people.items():
            relation = known.partition(":")[0]
            clause = re.sub(rf"^{re.escape(name)}{_DOES_ZH}", f"我的{relation}{name}", clause)
            clause = clause.replace(f"{relation}{name}", f"{relation}⟨{name}⟩")
        told = part("zh", "s").match(clause)
        if not subject and spoken_of and re.match("叫|名叫|名字叫", clause):
            subject = spoken_of[-1]
        if not told and _PRONOUN_ZH.match(clause) and (meant := _meant(subject, spoken_of)):
            clause = meant + clause[1:]
            told = part("zh", "s").match(clause)
        subject = told[0] if told else "" if _OTHER_ZH.match(clause) else subject
        if _BORE_ZH.search(clause):
            subject = ""
        if clause:
            yield (clause, True) if told else (subject + clause, bool(subject))


def _meant(subject: str, spoken_of: Sequence[str]) -> str:
    """Whom "she" means: the subject so far if it is not the person, or who was spoken of last."""
    told = part("zh", "s").match(subject)
    if told and told["rel"]:
        return subject
    return spoken_of[-1] if spoken_of else ""


def subject_of(relation: str, name: str) -> str:
    """The key of somebody: `self`, `sister`, or `sister:mia`."""
    if not relation:
        return SELF
    relation = re.sub(r"^(?:my|our|little|big|late|new|old|good|best|only|first) ", "", relation.lower())
    return f"{relation}:{name}" if name else relation


def names_in(subjects: Sequence[str]) -> dict[str, str]:
    """Those of these subjects who have a name, by name."""
    return {name: subject for subject in subjects if (name := subject.partition(":")[2])}
